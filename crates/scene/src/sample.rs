//! One look at one replica's `/status`, as `peers.json` and the operator keep it. *No client.*

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// One look at one replica's `/status`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// The pod's name, alone or behind its namespace and a slash.
    pub pod: String,
    /// The node container's image digest.
    pub image_id: Option<String>,
    /// When.
    pub time: Option<Timestamp>,
    /// `latest_block_height`.
    #[serde(deserialize_with = "number_or_text")]
    pub height: Option<u64>,
    /// `earliest_block_height`.
    #[serde(deserialize_with = "number_or_text")]
    pub earliest_height: Option<u64>,
    /// `catching_up`.
    pub catching_up: Option<bool>,
    /// The binary's version.
    pub version: Option<String>,
    /// `latest_app_hash`.
    pub app_hash: Option<String>,
}

/// CometBFT writes heights as JSON strings.
fn number_or_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let height = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    height.map(Some).ok_or_else(|| serde::de::Error::custom("a height is a whole number, plain or in quotes"))
}
