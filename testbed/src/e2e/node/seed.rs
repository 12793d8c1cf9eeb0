//! Homes of nodes with some hundred heights behind them, made once on this machine and copied into every pod.
//!
//! The nodes run here for some seconds and are restarted, so that their databases have tables and not journals only.

use std::{
    fmt::Write as _,
    fs,
    net::{IpAddr, Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::{Program, rpc};

/// The heights that a seed has at least.
const HEIGHTS: u64 = 240;
/// The nodes are stopped and started at each of so many parts of them.
const RESTARTS: u64 = 4;
/// A validator that is slower than this does not run.
const LIMIT: Duration = Duration::from_mins(4);
/// The chain's name.
pub(super) const CHAIN: &str = "testbed-1";
/// The folder with the key of whoever owns the chain's money; it goes into no image.
pub(super) const OWNER: &str = "owner";
/// Another way of making homes has another number, so that those in the cache are not taken for it.
const VERSION: u32 = 3;

/// The engine of a node's databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Goleveldb,
    Pebble,
}

impl Engine {
    /// As configuration files spell it; also the name of the seed's folder.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Goleveldb => "goleveldb",
            Self::Pebble => "pebbledb",
        }
    }
}

/// A folder with a home for the validator and one for a full node of each engine.
#[derive(Debug, Clone)]
pub(crate) struct Seed {
    pub(crate) folder: PathBuf,
}

impl Seed {
    /// Takes it from the cache, or makes it.
    pub(crate) fn get(program: &Program) -> Result<Self> {
        let seed = Self { folder: program.folder.join(format!("seed-{VERSION}")) };
        if seed.folder.exists() {
            return Ok(seed);
        }
        eprintln!("making homes of {HEIGHTS} heights (about a minute, once)");
        let fresh = program.folder.join("seed.new");
        if fresh.exists() {
            fs::remove_dir_all(&fresh)?;
        }
        make(program, &fresh)?;
        fs::rename(&fresh, &seed.folder)?;
        Ok(seed)
    }

    /// The validator's identity among its peers.
    pub(crate) fn validator_id(&self) -> Result<String> {
        Ok(fs::read_to_string(self.folder.join("validator-id"))?)
    }
}

fn make(program: &Program, folder: &Path) -> Result<()> {
    let validator = folder.join("validator");
    fs::create_dir_all(&validator)?;
    program.say(&validator, &["init", "validator", "--chain-id", CHAIN])?;
    hasten_votes(&validator)?;
    program.say(&validator, &["keys", "add", "owner", "--keyring-backend", "test"])?;
    let owner = program.say(&validator, &["keys", "show", "owner", "-a", "--keyring-backend", "test"])?;
    program.say(&validator, &["genesis", "add-genesis-account", owner.trim(), "1000000000000stake"])?;
    let stake = ["genesis", "gentx", "owner", "500000000000stake", "--chain-id", CHAIN, "--keyring-backend", "test"];
    program.say(&validator, &stake)?;
    program.say(&validator, &["genesis", "collect-gentxs"])?;
    let id = program.say(&validator, &["comet", "show-node-id"])?;
    fs::write(folder.join("validator-id"), id.trim())?;
    configure(&validator, Engine::Goleveldb)?;
    let mut homes = vec![validator.clone()];
    for engine in [Engine::Goleveldb, Engine::Pebble] {
        let home = folder.join(engine.as_str());
        fs::create_dir_all(&home)?;
        program.say(&home, &["init", engine.as_str(), "--chain-id", CHAIN])?;
        fs::copy(validator.join("config/genesis.json"), home.join("config/genesis.json"))?;
        configure(&home, engine)?;
        homes.push(home);
    }
    for part in 1..=RESTARTS {
        advance(program, &homes, id.trim(), HEIGHTS * part / RESTARTS)?;
    }
    for home in &homes {
        fs::remove_file(home.join("config/addrbook.json")).ok();
        edit(&home.join("config/config.toml"), &[("timeout_commit", "\"1s\"")])?;
    }
    // Each replica makes keys of its own, so no two of them are the same node.
    for home in homes.iter().skip(1) {
        fs::remove_file(home.join("config/node_key.json"))?;
        fs::remove_file(home.join("config/priv_validator_key.json"))?;
    }
    fs::create_dir_all(folder.join(OWNER))?;
    Ok(fs::rename(validator.join("keyring-test"), folder.join(OWNER).join("keyring-test"))?)
}

/// Votes are over within seconds, so that an upgrade can be agreed on.
fn hasten_votes(home: &Path) -> Result<()> {
    let file = home.join("config/genesis.json");
    let text = fs::read_to_string(&file)?;
    let hasty = text
        .replace(r#""voting_period": "172800s""#, r#""voting_period": "8s""#)
        .replace(r#""expedited_voting_period": "86400s""#, r#""expedited_voting_period": "4s""#);
    Ok(fs::write(file, hasty)?)
}

/// Lets all of them run until they have this height.
fn advance(program: &Program, homes: &[PathBuf], validator_id: &str, height: u64) -> Result<()> {
    let mut nodes = Vec::new();
    let mut peer = String::new();
    for home in homes {
        let (p2p, rpc) = (free_port()?, free_port()?);
        let log = fs::File::options().create(true).append(true).open(home.join("seed.log"))?;
        let mut command = program.command(home);
        command.args(["start", "--log_no_color", "--p2p.laddr", &format!("tcp://127.0.0.1:{p2p}")]);
        command.args(["--rpc.laddr", &format!("tcp://127.0.0.1:{rpc}"), "--p2p.persistent_peers", &peer]);
        let child = command.stdout(log.try_clone()?).stderr(log).stdin(Stdio::null()).spawn().context("start wasmd")?;
        nodes.push(Node { child, rpc });
        if peer.is_empty() {
            peer = format!("{validator_id}@127.0.0.1:{p2p}");
        }
    }
    let end = Instant::now() + LIMIT;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for (node, home) in nodes.iter_mut().zip(homes) {
        while !runtime.block_on(has(node.rpc, height)) {
            if let Some(status) = node.child.try_wait()? {
                bail!("{} ended with {status}; {}/seed.log says why", home.display(), home.display());
            }
            if Instant::now() > end {
                bail!("{} has not reached height {height} within {} s", home.display(), LIMIT.as_secs());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    Ok(())
}

async fn has(port: u16, wanted: u64) -> bool {
    rpc::height(IpAddr::V4(Ipv4Addr::LOCALHOST), port).await.is_ok_and(|height| height >= wanted)
}

/// A process that is ended when it is let go.
struct Node {
    child: Child,
    rpc: u16,
}

impl Drop for Node {
    fn drop(&mut self) {
        // Killed, not asked: a node that is asked to end sometimes panics, and the journal is as good.
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Fast blocks, peers on any address, and nothing that listens but the RPC.
fn configure(home: &Path, engine: Engine) -> Result<()> {
    let backend = format!("\"{}\"", engine.as_str());
    edit(
        &home.join("config/config.toml"),
        &[
            ("db_backend", &backend),
            ("timeout_commit", "\"60ms\""),
            ("addr_book_strict", "false"),
            ("allow_duplicate_ip", "true"),
            ("pprof_laddr", "\"\""),
            ("prometheus", "false"),
        ],
    )?;
    edit(
        &home.join("config/app.toml"),
        &[
            ("minimum-gas-prices", "\"0stake\""),
            ("app-db-backend", &backend),
            ("pruning", "\"nothing\""),
            // gRPC and the API: `enable` is a key of their tables only.
            ("enable", "false"),
        ],
    )
}

/// Gives each of these keys this value, in whatever table it stands.
fn edit(file: &Path, values: &[(&str, &str)]) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let mut edited = String::new();
    for line in text.lines() {
        let key = line.split_once('=').map(|(key, _)| key.trim());
        match values.iter().find(|(wanted, _)| Some(*wanted) == key) {
            Some((key, value)) => write!(edited, "{key} = {value}")?,
            None => edited.push_str(line),
        }
        edited.push('\n');
    }
    Ok(fs::write(file, edited)?)
}
