//! Lines of other programs, told by shapes that no node's software prints: they prove nothing about the node. *No IO.*
//!
//! In the order of the functions: web servers' access and error logs, `PostgreSQL`, `MySQL`, Redis, Java's loggers and stack
//! traces, etcd.

use memchr::memmem;

use super::json::{self, Value};
use super::prefix::Bare;
use super::{level, text};

/// Whether a line, its prefixes removed, is another program's.
pub(super) fn is(line: &[u8], bare: &Bare<'_>) -> bool {
    let access_log = || text::word(line).1.starts_with(b"- ") && is_access(line);
    match line.first() {
        Some(b'{') => is_etcd(line),
        Some(b'[') if bare.go_log => is_nginx(line),
        Some(b'[') => is_apache(line) || is_kafka(line) || is_postgres(line, bare),
        Some(b'0'..=b'9') => is_redis(line) || bare.timed && is_mysql(line) || is_logback(line) || access_log(),
        Some(b'A'..=b'Z') if bare.timed => is_postgres(line, bare) || is_spring(line),
        Some(b'C') => line.starts_with(b"Caused by: ") && is_java_class(line.get(11..).unwrap_or_default()),
        Some(b'E') => line.starts_with(b"Exception in thread \""),
        Some(b'a'..=b'z') => is_java_frame(line) || is_java_class(line) || access_log(),
        Some(b'.') => line.starts_with(b"... ") && line.ends_with(b" more"),
        _ => false,
    }
}

/// `10.0.0.7 - - [02/Jan/2023:15:04:05 +0000] "GET / HTTP/1.1" 200 …`, Apache's and nginx' common format.
fn is_access(line: &[u8]) -> bool {
    text::cut(line, b'[').is_some_and(|(_, inside)| {
        text::shaped(inside, b"99/")
            && inside.get(6..).is_some_and(|rest| text::shaped(rest, b"/9999:99:99:99 "))
            && memmem::find(inside, b"] \"").is_some()
    })
}

/// `[error] 1234#1234: *1 connect() failed`, after Go-like date.
fn is_nginx(line: &[u8]) -> bool {
    let Some((name, rest)) = line.strip_prefix(b"[").and_then(|inside| text::cut(inside, b']')) else { return false };
    let rest = rest.trim_ascii_start();
    let process = text::digits(rest);
    level::of_word(name).is_some() && process > 0 && rest.get(process) == Some(&b'#')
}

/// `[Mon Jan 02 15:04:05.123456 2023] [core:error] [pid 12] …`, Apache's error log.
fn is_apache(line: &[u8]) -> bool {
    let days = [&b"Mon "[..], b"Tue ", b"Wed ", b"Thu ", b"Fri ", b"Sat ", b"Sun "];
    line.strip_prefix(b"[").is_some_and(|inside| {
        days.iter().any(|day| inside.starts_with(day))
            && inside.get(11..).is_some_and(|clock| text::shaped(clock, b"99:99:99"))
    })
}

/// `[2023-01-02 15:04:05,123] ERROR … (kafka.server.KafkaServer)`, log4j as Kafka and `ZooKeeper` configure it.
fn is_kafka(line: &[u8]) -> bool {
    let Some(inside) = line.strip_prefix(b"[").filter(|inside| text::shaped(inside, b"9999-99-99 99:99:99,999] "))
    else {
        return false;
    };
    level::of_word(text::word(inside.get(25..).unwrap_or_default()).0).is_some()
}

/// After a date: `UTC [71] LOG:  database system is shut down`, also with user and database before the level.
fn is_postgres(line: &[u8], bare: &Bare<'_>) -> bool {
    let zone = line.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let Some(inside) = line.get(zone..).map(<[u8]>::trim_ascii_start).and_then(|rest| rest.strip_prefix(b"[")) else {
        return false;
    };
    let levels = [
        &b"LOG"[..],
        b"FATAL",
        b"ERROR",
        b"PANIC",
        b"WARNING",
        b"NOTICE",
        b"INFO",
        b"HINT",
        b"DETAIL",
        b"STATEMENT",
        b"CONTEXT",
    ];
    let process = text::digits(inside);
    let rest = inside.get(process..).and_then(|rest| rest.strip_prefix(b"]")).unwrap_or_default();
    let before = memmem::find(rest, b":  ").and_then(|at| rest.get(..at)).unwrap_or_default();
    bare.timed && process > 0 && levels.contains(&before.split(|byte| *byte == b' ').next_back().unwrap_or_default())
}

/// After a date: `0 [ERROR] [MY-012345] [InnoDB] …`, `MySQL`; `0 [Note] …`, `MariaDB`.
fn is_mysql(line: &[u8]) -> bool {
    let (thread, rest) = text::word(line);
    let name = rest.strip_prefix(b"[").and_then(|inside| text::cut(inside, b']'));
    let named = |name: &[u8]| matches!(name, b"System" | b"Note" | b"Warning" | b"ERROR");
    text::digits(thread) == thread.len() && name.is_some_and(|(name, _)| named(name))
}

/// `1:M 02 Jan 2023 15:04:05.123 # Warning: …`, Redis.
fn is_redis(line: &[u8]) -> bool {
    let process = text::digits(line);
    let Some(role) = line.get(process..).and_then(|rest| rest.strip_prefix(b":")) else { return false };
    matches!(role.first(), Some(b'M' | b'C' | b'S' | b'X'))
        && role.get(1..).is_some_and(|rest| text::shaped(rest, b" 99 "))
        && role.get(8..).is_some_and(|rest| text::shaped(rest, b" 9999 99:99:99."))
}

/// `15:04:05.123 [main] ERROR com.example.App - …`, Logback's default.
fn is_logback(line: &[u8]) -> bool {
    let inside = line.strip_prefix(line.get(..13).filter(|_| text::shaped(line, b"99:99:99.999 [")).unwrap_or(b"-"));
    let after = inside.and_then(|rest| text::cut(rest, b']')).map(|(_, after)| after.trim_ascii_start());
    after.is_some_and(|after| level::of_word(text::word(after).0).is_some())
}

/// After a date: `ERROR 1 --- [           main] o.s.boot.SpringApplication : …`, Spring Boot.
fn is_spring(line: &[u8]) -> bool {
    let (name, rest) = text::word(line);
    let process = text::digits(rest);
    level::of_word(name).is_some() && process > 0 && rest.get(process..).is_some_and(|rest| rest.starts_with(b" --- ["))
}

/// `java.net.BindException: Address already in use`, `org.springframework.….BeanCreationException: …`.
fn is_java_class(line: &[u8]) -> bool {
    let (word, _) = text::word(line);
    let name = word.strip_suffix(b":").unwrap_or(word);
    let mut parts = name.rsplit(|byte| *byte == b'.');
    let named = (name.ends_with(b"Exception") || name.ends_with(b"Error"))
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._$".contains(byte));
    named && parts.next().and_then(<[u8]>::first).is_some_and(u8::is_ascii_uppercase) && parts.nth(1).is_some()
}

/// `at com.example.App.main(App.java:12)`.
fn is_java_frame(line: &[u8]) -> bool {
    line.starts_with(b"at ")
        && line.ends_with(b")")
        && [&b".java:"[..], b"(Native Method)", b"(Unknown Source)"].iter().any(|end| memmem::find(line, end).is_some())
}

/// `{"level":"warn","ts":"…","caller":"etcdserver/util.go:170","msg":"…"}`.
fn is_etcd(line: &[u8]) -> bool {
    let packages = [
        &b"etcdserver/"[..],
        b"etcdmain/",
        b"embed/",
        b"rafthttp/",
        b"membership/",
        b"mvcc/",
        b"v3rpc/",
        b"raft/raft.go",
        b"lease/lessor",
        b"wal/wal.go",
        b"snap/",
        b"schema/",
        b"backend/",
        b"traceutil/",
        b"fileutil/",
        b"flags/flag.go",
        b"auth/store.go",
    ];
    // The caller stands among the first members; nodes' lines, which are many, are not read further.
    json::members(line).take(4).any(|(key, value)| match value {
        Value::Text(caller) => key == b"caller" && packages.iter().any(|package| caller.starts_with(package)),
        Value::Raw(_) => false,
    })
}
