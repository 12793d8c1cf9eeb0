//! An API server that answers what it was told to, on 127.0.0.1, and remembers what it was asked.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::{Folder, Said, root};

/// One request that came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// Answers by path, or by verb and path; what is not there is 404, as from a cluster without our kinds.
pub(crate) struct CannedServer {
    asked: Arc<Mutex<Vec<Asked>>>,
    folder: Folder,
}

impl CannedServer {
    pub(crate) fn answering(answers: &[(&str, u16, Value)]) -> Self {
        let answers: BTreeMap<String, (u16, Value)> =
            answers.iter().map(|(path, status, body)| ((*path).to_owned(), (*status, body.clone()))).collect();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (heard, answers) = (Arc::clone(&asked), Arc::new(answers));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (heard, answers) = (Arc::clone(&heard), Arc::clone(&answers));
                std::thread::spawn(move || answer(stream.expect("a connection"), &answers, &heard));
            }
        });
        let folder = Folder::new().with("kubeconfig", kubeconfig(&format!("http://{address}")));
        Self { asked, folder }
    }

    /// What came, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    /// Runs the program against it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        run_in(&self.kubeconfig(), arguments)
    }

    pub(crate) fn kubeconfig(&self) -> String {
        self.folder.name("kubeconfig")
    }
}

/// A kubeconfig whose only context is at home in namespace `cosmos`.
pub(crate) fn kubeconfig(server: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": server}}],
        "users": [{"name": "lab", "user": {}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab", "namespace": "cosmos"}}],
    })
    .to_string()
}

/// Runs the program with this kubeconfig and nothing else that leads to a cluster.
pub(crate) fn run_in(kubeconfig: &str, arguments: &[&str]) -> Said {
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(arguments)
        .current_dir(root())
        .env_clear()
        .env("KUBECONFIG", kubeconfig)
        .output()
        .expect("it runs");
    Said {
        status: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

fn answer(mut stream: TcpStream, answers: &BTreeMap<String, (u16, Value)>, heard: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("the body");
        let mut words = first.split(' ');
        let method = words.next().expect("a method").to_owned();
        let path = words.next().expect("a path").split('?').next().expect("a path").to_owned();
        let answer = answers.get(&format!("{method} {path}")).or_else(|| answers.get(&path));
        let (status, text) = match answer {
            // A log is text.
            Some((status, Value::String(text))) => (*status, text.clone()),
            Some((status, value)) => (*status, value.to_string()),
            None => (404, "404 page not found\n".to_owned()),
        };
        heard.lock().expect("no panic").push(Asked {
            method,
            path,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        });
        let length = text.len();
        let sent = write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{text}"
        );
        if sent.is_err() {
            return;
        }
    }
}
