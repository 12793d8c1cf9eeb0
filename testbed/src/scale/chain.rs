//! The chain that all replicas follow: one server on this machine answers for every pod's address, as CometBFT's RPC does.

use std::{
    collections::BTreeSet,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A block comes so often.
const BLOCK_SECONDS: f64 = 6.0;
const HEIGHT: u64 = 21_000_000;

/// Who is up.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    began: Instant,
    down: Arc<Mutex<BTreeSet<IpAddr>>>,
}

impl Chain {
    /// Answers until the bench ends.
    pub(super) async fn start(port: u16) -> Result<Self> {
        let chain = Self { began: Instant::now(), down: Arc::default() };
        let listener = TcpListener::bind(("0.0.0.0", port)).await.with_context(|| format!("listen on port {port}"))?;
        let answering = chain.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let chain = answering.clone();
                tokio::spawn(async move { chain.answer(stream).await });
            }
        });
        Ok(chain)
    }

    /// The node behind an address is down.
    pub(super) fn goes_down(&self, address: IpAddr) {
        self.down.lock().unwrap_or_else(PoisonError::into_inner).insert(address);
    }

    async fn answer(&self, mut stream: TcpStream) {
        let Ok(at) = stream.local_addr() else { return };
        let is_down = self.down.lock().unwrap_or_else(PoisonError::into_inner).contains(&at.ip());
        if is_down || !at.ip().is_loopback() {
            return;
        }
        let mut asked = [0_u8; 1_024];
        let Ok(read) = stream.read(&mut asked).await else { return };
        if read == 0 {
            return;
        }
        let body = self.status(at.ip());
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes()).await;
        let _ = stream.write_all(body.as_bytes()).await;
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bench lasts no million years")]
    fn status(&self, at: IpAddr) -> String {
        let height = HEIGHT + (self.began.elapsed().as_secs_f64() / BLOCK_SECONDS) as u64;
        let other = serde_json::json!({"tx_index": "on", "rpc_address": "tcp://0.0.0.0:26657"});
        let answer = serde_json::json!({"jsonrpc": "2.0", "id": -1, "result": {
            "node_info": {
                "protocol_version": {"p2p": "8", "block": "11", "app": "0"},
                "id": "0d2b8d7b6a9e4b5c8f1a2e3d4c5b6a7988776655", "listen_addr": format!("tcp://{at}:26656"),
                "network": "cosmoshub-4", "version": "0.38.17", "channels": "40202122233038606100",
                "moniker": "node", "other": other,
            },
            "sync_info": {
                "latest_block_hash": "4A1F6D6B1E7F5A0C9B8E3D2C1F0A9B8C7D6E5F4A3B2C1D0E9F8A7B6C5D4E3F2A",
                "latest_app_hash": format!("{height:064X}"), "latest_block_height": height.to_string(),
                "latest_block_time": "2026-12-01T12:00:00Z", "earliest_block_hash": "",
                "earliest_app_hash": "", "earliest_block_height": "20000000", "catching_up": false,
            },
            "validator_info": {"address": "AABBCCDDEEFF00112233445566778899AABBCCDD", "voting_power": "0",
                "pub_key": {"type": "tendermint/PubKeyEd25519", "value": "q83v6Pzx2x4n0gk2y2S4b9p2m1V8u0rGx2Q3f5Y7h9k="}},
        }});
        answer.to_string()
    }
}
