//! The node itself and its init containers, and what an inspector prints by default. *No client.*

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{CHAIN_LABEL, Inspection, Report, Start};
use crate::{
    object::Fields,
    outside::{Chain, Course, End, Heights, Run, Stop, VolumeContent},
};

/// How many blocks a second a node behind its chain catches up.
const CATCH_UP: u64 = 100;

pub(super) fn init_container(start: &Start<'_>, content: Option<&mut VolumeContent>) -> Run {
    let quick = SignedDuration::from_millis(300);
    let Some(content) = content else { return Run::done_after(quick) };
    match start.container {
        "chain-init" => begin_from_genesis(start, content),
        "version-check" => {
            // Takes the next height and panics if the image is not the one for it (cosmos-operator, cmd/versioncheck.go).
            let next = content.height().saturating_add(1);
            let chain = content.chain.as_ref().and_then(|id| start.chains.get(id));
            if let Some(upgrade) = chain.and_then(|chain| chain.stops_at(start.image))
                && upgrade.height <= next
            {
                let line =
                    format!("panic: image mismatch for height {next}: want {}, have {}", upgrade.image, start.image);
                return Run::ending(quick, 2, &[line]);
            }
        }
        _ => {}
    }
    Run::done_after(quick)
}

/// A node that finds no database makes one: nothing stops it from starting at the first block.
fn begin_from_genesis(start: &Start<'_>, content: &mut VolumeContent) {
    if content.is_empty() {
        let chain = chain_of(start);
        *content = VolumeContent {
            identity: Some(start.pod.name().to_owned()),
            chain,
            heights: Some(Heights::default()),
            base: 1,
            marks: std::mem::take(&mut content.marks),
            ..VolumeContent::default()
        };
    }
}

/// The chain that a pod is for: by our label, by `--chain-id` on a command line, or the only one.
pub(super) fn chain_of(start: &Start<'_>) -> Option<String> {
    let label = start.pod.label(CHAIN_LABEL);
    let lists = ["/spec/initContainers", "/spec/containers"];
    let arguments = lists
        .iter()
        .flat_map(|list| start.pod.items(list))
        .flat_map(|container| container.items("/args"))
        .filter_map(Value::as_str);
    let mut named = std::iter::once(label).chain(arguments).filter(|name| start.chains.contains_key(*name));
    named.next().map(str::to_owned).or_else(|| start.chains.keys().next().cloned())
}

pub(super) fn node(start: &Start<'_>, content: &mut VolumeContent) -> Run {
    begin_from_genesis(start, content);
    let height = content.height();
    let Some(chain) = content.chain.as_ref().and_then(|id| start.chains.get(id)) else { return Run::forever() };
    let quick = SignedDuration::from_secs(1);
    if let Some(upgrade) = chain.too_new(height, start.image) {
        let line = format!(
            "panic: BINARY UPDATED BEFORE TRIGGER! UPGRADE \"{}\" - in binary but not executed on chain. Downgrade your binary",
            upgrade.name
        );
        return Run::ending(quick, 2, &[line]);
    }
    let mut run = Run {
        lines: vec![
            (
                SignedDuration::ZERO,
                format!(
                    "INF starting node with ABCI CometBFT in-process module=server version={}",
                    version_of(start.image)
                ),
            ),
            (
                quick,
                format!(
                    "INF Completed ABCI Handshake - CometBFT and App are synced appHash={height:08X} appHeight={height} module=consensus"
                ),
            ),
        ],
        ready_after: Some(SignedDuration::from_secs(3)),
        rpc_after: Some(SignedDuration::from_secs(2)),
        course: Course::Following { catch_up: CATCH_UP },
        version: version_of(start.image),
        chain: Some(chain.id.clone()),
        stop: Stop {
            after: SignedDuration::from_secs(1),
            code: 0,
            lines: vec!["INF caught signal module=server signal=terminated".to_owned()],
        },
        ..Run::forever()
    };
    if let Some(end) = upgrade_end(chain, height, start.image, start.now) {
        run.lines.push((end.0.after, end.1));
        run.ends = Some(end.0);
    }
    run
}

/// How and when a node with this image stops for the next upgrade.
pub(crate) fn upgrade_end(chain: &Chain, from: u64, image: &str, now: Timestamp) -> Option<(End, String)> {
    let upgrade = chain.stops_at(image)?;
    let behind = i64::try_from(upgrade.height.saturating_sub(from) / CATCH_UP).unwrap_or(i64::MAX);
    let reached = chain.time_of(upgrade.height)?.duration_since(now).max(SignedDuration::from_secs(behind.max(1)));
    let line = format!("ERR UPGRADE \"{}\" NEEDED at height: {}:  module=x/upgrade", upgrade.name, upgrade.height);
    Some((End { after: reached, code: 2, reason: "Error".to_owned() }, line))
}

pub(super) fn version_of(image: &str) -> String {
    image.rsplit_once(':').map_or_else(|| "0".to_owned(), |(_, tag)| tag.to_owned())
}

/// What an inspector prints if a story does not say: the facts in one line of JSON.
pub(super) fn plain_report(inspection: &Inspection<'_>) -> Report {
    let facts = inspection.content.map_or(Value::Null, |content| {
        json!({
            "identity": content.identity, "chain": content.chain, "height": content.heights.map(|heights| heights.application),
            "damage": content.damage.as_ref().map(|damage| damage.part.clone()),
        })
    });
    Report { lines: vec![facts.to_string()], exit_code: 0, takes: SignedDuration::from_secs(5) }
}
