//! Logs of other programs: the examiner abstains, though they report failures in words that a node's log has too. Beside a
//! node's own failure they change nothing.

use crashlog::{Emitter, Examiner, Finding, LogReader, Record, model::Model};
use diagnosis::{LogAbstention, LogReading};

const NGINX: &str = r#"2023/05/17 03:14:05 [notice] 1#1: using the "epoll" event method
2023/05/17 03:14:05 [emerg] 1#1: bind() to 0.0.0.0:80 failed (98: Address already in use)
10.0.0.7 - - [17/May/2023:03:14:07 +0000] "GET /status HTTP/1.1" 502 157 "-" "curl/7.88.1"
2023/05/17 03:14:07 [error] 31#31: *12 connect() failed (111: Connection refused) while connecting to upstream, client: 10.0.0.7
2023/05/17 03:14:09 [crit] 31#31: *15 pwrite() "/var/cache/nginx/x" failed (28: No space left on device)
"#;

const APACHE: &str = r#"10.0.0.7 - frank [10/Oct/2023:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326
10.0.0.8 - - [10/Oct/2023:13:55:37 -0700] "GET /?q=panic:+leveldb/table:+corruption+on+data-block+checksum+mismatch HTTP/1.1" 404 153 "-" "Mozilla/5.0"
[Tue Oct 10 13:55:38.123456 2023] [core:error] [pid 35708:tid 4328636416] (28)No space left on device: AH00099: could not create pid file
[Tue Oct 10 13:55:38.123999 2023] [mpm_event:notice] [pid 35708] AH00491: caught SIGTERM, shutting down
"#;

const POSTGRES: &str = "2023-05-17 03:14:05.120 UTC [1] LOG:  starting PostgreSQL 15.2 on x86_64-pc-linux-musl
2023-05-17 03:14:05.140 UTC [1] LOG:  could not bind IPv4 address \"0.0.0.0\": Address in use
2023-05-17 03:14:05.250 UTC [28] LOG:  invalid primary checkpoint record
2023-05-17 03:14:05.251 UTC [28] PANIC:  could not locate a valid checkpoint record
2023-05-17 03:14:05.300 UTC [71] app@orders ERROR:  could not extend file \"base/16384/16389\": No space left on device
2023-05-17 03:14:05.300 UTC [71] app@orders HINT:  Check free disk space.
2023-05-17 03:14:05.310 UTC [1] LOG:  startup process (PID 28) was terminated by signal 6: Aborted
2023-05-17 03:14:05.320 UTC [72] WARNING:  page verification failed, calculated checksum 12345 but expected 54321
";

const MYSQL: &str = "2023-05-17T03:14:05.123456Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.0.33) starting as process 1
2023-05-17T03:14:05.223456Z 1 [ERROR] [MY-011906] [InnoDB] Database page corruption on disk or a failed file read of page [page id: space=0, page number=5].
2023-05-17T03:14:05.323456Z 1 [ERROR] [MY-012592] [InnoDB] Operating system error number 13 in a file operation.
2023-05-17T03:14:05.423456Z 0 [ERROR] [MY-010020] [Server] Data Dictionary initialization failed.
2023-05-17T03:14:05.523456Z 0 [ERROR] [MY-010119] [Server] Aborting
";

const REDIS: &str = "1:C 17 May 2023 03:14:05.120 # oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo
1:C 17 May 2023 03:14:05.120 # Redis version=7.0.11, bits=64, commit=00000000, modified=0, pid=1, just started
1:M 17 May 2023 03:14:05.121 * Running mode=standalone, port=6379.
1:M 17 May 2023 03:14:05.122 # Warning: Could not create server TCP listening socket *:6379: bind: Address already in use
1:M 17 May 2023 03:14:05.123 # Bad file format reading the append only file: make a backup of your AOF file, then use ./redis-check-aof --fix
1:M 17 May 2023 03:14:05.124 # MISCONF Redis is configured to save RDB snapshots: No space left on device
";

const SPRING: &str = "2023-05-17 03:14:05.123  INFO 1 --- [           main] o.s.b.w.embedded.tomcat.TomcatWebServer  : Tomcat initialized with port(s): 8080 (http)
2023-05-17 03:14:06.001 ERROR 1 --- [           main] o.s.boot.SpringApplication               : Application run failed

org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'dataSource'
\tat org.springframework.beans.factory.support.AbstractBeanFactory.doGetBean(AbstractBeanFactory.java:324)
\tat java.base/java.lang.Thread.run(Thread.java:833)
Caused by: java.net.BindException: Address already in use
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
\t... 12 more
";

const KAFKA: &str = "[2023-05-17 03:14:05,123] INFO [KafkaServer id=0] starting (kafka.server.KafkaServer)
[2023-05-17 03:14:05,223] ERROR Error while writing to checkpoint file /data/recovery-point-offset-checkpoint (kafka.server.LogDirFailureChannel)
java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(FileOutputStream.java:367)
[2023-05-17 03:14:05,323] FATAL Shutdown broker because all log dirs in /data have failed (kafka.log.LogManager)
";

const ETCD: &str = r#"{"level":"info","ts":"2023-05-17T03:14:05.123Z","caller":"etcdmain/etcd.go:73","msg":"Running: ","args":["etcd"]}
{"level":"warn","ts":"2023-05-17T03:14:05.223Z","caller":"etcdserver/util.go:170","msg":"apply request took too long","took":"212ms"}
{"level":"error","ts":"2023-05-17T03:14:05.323Z","caller":"embed/etcd.go:292","msg":"listening failed","error":"listen tcp 0.0.0.0:2380: bind: address already in use"}
{"level":"fatal","ts":"2023-05-17T03:14:05.423Z","caller":"etcdmain/etcd.go:204","msg":"discovery failed","error":"wal: crc mismatch"}
"#;

const LOGBACK: &str = "03:14:05.123 [main] INFO com.example.App - starting
03:14:05.223 [main] ERROR com.example.App - cannot write: No space left on device
Exception in thread \"main\" java.lang.IllegalStateException: database is locked
\tat com.example.App.main(App.java:12)
";

const ALL: [(&str, &str); 9] = [
    ("nginx", NGINX),
    ("apache", APACHE),
    ("postgres", POSTGRES),
    ("mysql", MYSQL),
    ("redis", REDIS),
    ("spring", SPRING),
    ("kafka", KAFKA),
    ("etcd", ETCD),
    ("logback", LOGBACK),
];

fn examine(log: &str) -> Finding {
    let mut examiner = Examiner::new();
    examiner.feed(log.as_bytes());
    examiner.finish(Model::built_in())
}

#[test]
fn another_programs_log_abstains() {
    for (name, log) in ALL {
        let finding = examine(log);
        assert_eq!(finding.reading, LogReading::Abstained(LogAbstention::ForeignProgram), "{name} {finding:#?}");
    }
}

/// Logs of several containers in one file, as compose prints them.
#[test]
fn beside_a_nodes_own_failure_other_programs_change_nothing() {
    let own = "8:59PM INF starting node module=server\nError: failed to listen on 0.0.0.0:26657: listen tcp 0.0.0.0:26657: bind: address already in use\n";
    let alone = examine(own);
    for (name, log) in ALL {
        for mixed in [format!("{log}{own}"), format!("{own}{log}")] {
            let mixed = examine(&mixed.lines().map(|line| ["x-1  | ", line, "\n"].concat()).collect::<String>());
            assert_eq!((&mixed.reading, &mixed.causes), (&alone.reading, &alone.causes), "{name}");
        }
    }
}

#[test]
fn no_line_of_a_nodes_is_taken_for_another_programs() {
    let lines = [
        "8:59PM ERR - - [x] \"y\" module=state",
        "10.0.0.7:26656 - dialing failed",
        "2023/05/17 03:14:05 [error] could not start",
        "2023-05-17 03:14:05.123 ERROR state: x",
        "2023-05-17T03:14:05.123Z\tERROR\tnode\tnodebuilder/node.go:12\tx\t{\"error\": \"y\"}",
        r#"{"level":"error","ts":"2023-05-17T03:14:05.123Z","caller":"consensus/wal.go:12","msg":"x"}"#,
        "at height 12 (x)",
        "[2023-05-17T03:14:05Z ERROR x] y",
    ];
    for line in lines {
        let mut reader = LogReader::new();
        let mut sink = |record: &Record| assert_ne!(record.emitter, Emitter::Peer, "{line}");
        reader.feed(line.as_bytes(), &mut sink);
        let _ = reader.finish(&mut sink);
    }
}

/// P2: what the guard says in the node's log is the disk's word. It is passed over, in both of its forms and in a kubelet's
/// frame, and a node's own words after it still count.
#[test]
fn the_guards_own_lines_are_no_word_of_the_node() {
    let text = "loopbreaker guard: finding severity=damage kind=block_checksum file=data/application.db/000011.ldb offset=1000: \
        leveldb/table: corruption on data-block (pos=1000): checksum mismatch, want=0x1 got=0x2 [file=000011.ldb]\n";
    let json = "{\"loopbreaker\":\"guard\",\"schema\":\"loopbreaker.dev/guard/v1\",\"event\":\"finding\",\"level\":\"error\",\
        \"msg\":\"panic: leveldb/table: corruption on data-block: checksum mismatch\"}\n";
    let framed = format!("2026-11-30T10:00:00.000000000Z stderr F {text}");
    for lines in [text, json, &framed] {
        let mut records = 0;
        let mut reader = LogReader::new();
        reader.feed(lines.repeat(3).as_bytes(), &mut |_: &Record| records += 1);
        let _ = reader.finish(&mut |_: &Record| records += 1);
        assert_eq!(records, 0, "{lines}");
        let node = "panic: failed to write batch, leveldb/table: corruption on data-block (pos=1): checksum mismatch, want=0x1 got=0x2 [file=000072.ldb]\n";
        let with: Finding = examine(&format!("{lines}{node}"));
        let without: Finding = examine(node);
        assert_eq!(with.reading, without.reading);
    }
}
