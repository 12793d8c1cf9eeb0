//! Asks a node's RPC where it stands.

use std::{net::IpAddr, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The port of CometBFT's RPC.
pub(crate) const PORT: u16 = 26657;

/// The height that a node says it has.
pub(crate) async fn height(address: IpAddr, port: u16) -> Result<u64> {
    tokio::time::timeout(Duration::from_secs(3), ask(address, port)).await.context("no answer within 3 s")?
}

async fn ask(address: IpAddr, port: u16) -> Result<u64> {
    let mut stream = TcpStream::connect((address, port)).await?;
    stream.write_all(b"GET /status HTTP/1.0\r\n\r\n").await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let answer = String::from_utf8(answer)?;
    let Some((_, body)) = answer.split_once("\r\n\r\n") else { bail!("no HTTP answer") };
    let answer: Value = serde_json::from_str(body)?;
    let height = answer.pointer("/result/sync_info/latest_block_height").and_then(Value::as_str);
    Ok(height.context("an answer without a height")?.parse()?)
}
