//! What the owner of the chain's money has it do, asked of the validator by the chain's own program.

use std::{net::IpAddr, sync::OnceLock};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{
    Program, Seed, rpc,
    seed::{CHAIN, OWNER},
};

static PREPARED: OnceLock<Chain> = OnceLock::new();

/// Program and homes, the same for every scenario of a run.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) program: Program,
    pub(crate) seed: Seed,
}

/// Remembers what was prepared for this run.
pub(crate) fn prepared(program: Program, seed: Seed) {
    // A second time it is the same.
    let _ = PREPARED.set(Chain { program, seed });
}

impl Chain {
    pub(crate) fn get() -> Result<&'static Self> {
        PREPARED.get().context("the chain was not prepared")
    }

    /// Sends a transaction to this node and says its hash.
    pub(crate) fn send(&self, node: IpAddr, words: &[&str]) -> Result<String> {
        let node = format!("tcp://{node}:{}", rpc::PORT);
        let how = ["--from", "owner", "--keyring-backend", "test", "--chain-id", CHAIN, "--node", &node];
        let rest = ["--gas", "900000", "--yes", "--output", "json"];
        let answer =
            self.program.say(&self.seed.folder.join(OWNER), &[&["tx"], words, &how[..], &rest[..]].concat())?;
        let answer: Value = serde_json::from_str(&answer)?;
        let (code, hash) = (answer.get("code").and_then(Value::as_u64), answer.get("txhash").and_then(Value::as_str));
        match (code, hash) {
            (Some(0), Some(hash)) => Ok(hash.to_owned()),
            _ => bail!("the chain refused {}: {answer}", words.join(" ")),
        }
    }

    /// Moves a coin from the owner to itself.
    pub(crate) fn move_a_coin(&self, node: IpAddr) -> Result<String> {
        let keys = ["keys", "show", "owner", "--address", "--keyring-backend", "test"];
        let owner = self.program.say(&self.seed.folder.join(OWNER), &keys)?;
        self.send(node, &["bank", "send", owner.trim(), owner.trim(), "1stake"])
    }

    /// Proposes that the chain is to go on with another program from this height.
    pub(crate) fn propose_upgrade(&self, node: IpAddr, height: u64) -> Result<String> {
        let asked = ["query", "auth", "module-account", "gov", "--output", "json", "--node"];
        let at = format!("tcp://{node}:{}", rpc::PORT);
        let home = self.seed.folder.join(OWNER);
        let account: Value = serde_json::from_str(&self.program.say(&home, &[&asked[..], &[&at]].concat())?)?;
        let authority = ["/account/value/address", "/account/base_account/address"]
            .iter()
            .find_map(|path| account.pointer(path)?.as_str())
            .with_context(|| format!("no address of gov in {account}"))?;
        let plan = json!({ "name": "v99", "height": height.to_string(), "info": "" });
        let proposal = json!({
            "messages": [{ "@type": "/cosmos.upgrade.v1beta1.MsgSoftwareUpgrade", "authority": authority, "plan": plan }],
            "deposit": "10000000stake", "title": "v99", "summary": "a program that does not exist",
        });
        let file = home.join(format!("proposal-{height}-{}.json", std::process::id()));
        std::fs::write(&file, proposal.to_string())?;
        let sent = self.send(node, &["gov", "submit-proposal", &file.to_string_lossy()]);
        std::fs::remove_file(&file)?;
        sent
    }

    /// Whether the transaction is in a block.
    pub(crate) fn is_in_a_block(&self, node: IpAddr, hash: &str) -> bool {
        let at = format!("tcp://{node}:{}", rpc::PORT);
        let asked = ["query", "tx", hash, "--output", "json", "--node", &at];
        self.program.say(&self.seed.folder.join(OWNER), &asked).is_ok()
    }
}
