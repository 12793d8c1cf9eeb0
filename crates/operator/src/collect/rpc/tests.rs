//! A node's answer, and everything else that may stand on its port.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

fn address(port: u16) -> RpcAddress {
    let instance = InstanceName { namespace: "cosmos".to_owned(), name: "osmo-0".to_owned() };
    RpcAddress { instance, ip: "127.0.0.1".to_owned(), port }
}

/// Asks a port on which this is the whole answer to whatever comes.
fn answered(answer: &[u8]) -> Result<Sample, RpcFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let serve = async {
            let (mut stream, _) = listener.accept().await.expect("somebody asks");
            let mut request = [0; 1024];
            let read = stream.read(&mut request).await.expect("a request");
            assert!(request[..read].starts_with(b"GET /status HTTP/1.1\r\n"));
            // Whoever has heard enough hangs up.
            let _ = stream.write_all(answer).await;
            let _ = stream.shutdown().await;
        };
        let (rpc, address) = (HttpRpc::default(), address(port));
        tokio::join!(biased; rpc.status(&address), serve).0
    })
}

fn http(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn a_node_says_how_far_it_is() {
    let body = json!({"jsonrpc": "2.0", "id": -1, "result": {
        "node_info": {"version": "0.38.17"}, "application_info": {"version": "v29.0.1"},
        "sync_info": {"latest_block_height": "21187003", "earliest_block_height": "1", "catching_up": false,
            "latest_app_hash": "8C2F"},
    }});
    let sample = answered(&http("200 OK", &body.to_string())).expect("a sample");
    let expected = Sample {
        pod: "cosmos/osmo-0".to_owned(),
        height: Some(21_187_003),
        earliest_height: Some(1),
        catching_up: Some(false),
        version: Some("v29.0.1".to_owned()),
        app_hash: Some("8C2F".to_owned()),
        ..Sample::default()
    };
    assert_eq!(sample, expected);
}

#[test]
fn what_is_no_rpc_is_said_and_never_counted() {
    let why = |answer: &[u8]| match answered(answer) {
        Err(RpcFailure::NotAnRpc { what, .. }) => what,
        other => format!("{other:?}"),
    };
    assert_eq!(why(&http("502 Bad Gateway", "no")), "status 502");
    assert_eq!(why(&http("200 OK", "<html>")), "the answer is no JSON");
    assert!(why(&http("200 OK", "{}")).starts_with("no status in its answer"));
    let no_number = r#"{"result":{"sync_info":{"latest_block_height":"many"}}}"#;
    assert_eq!(why(&http("200 OK", no_number)), "its height is no number");
    assert_eq!(why(&http("200 OK", &"x".repeat(ANSWER_MAX + 1))), "length limit exceeded");
    assert!(!why(b"SSH-2.0-OpenSSH_9.2\r\n").is_empty());
}

#[test]
fn a_closed_port_may_also_be_one_that_listens_on_the_loopback_only() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (port, failure) = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        drop(listener);
        (port, HttpRpc::default().status(&address(port)).await.expect_err("closed"))
    });
    assert_eq!(failure, RpcFailure::Refused { port });
    assert_eq!(
        failure.to_string(),
        format!(
            "nothing listens on port {port} of the pod's address: the node is down, or its RPC listens on 127.0.0.1 only"
        )
    );
}

#[test]
fn a_node_that_does_not_answer_is_not_waited_for() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let failure = runtime.expect("a runtime").block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let hold = async {
            let held = listener.accept().await;
            std::future::pending::<()>().await;
            drop(held);
        };
        tokio::select! {
            biased;
            failure = async { HttpRpc::default().status(&address(port)).await } => failure.expect_err("no answer"),
            () = hold => RpcFailure::Refused { port: 0 },
        }
    });
    assert!(matches!(failure, RpcFailure::Timeout { seconds: 5, .. }), "{failure:?}");
}
