//! What the pod objects tell that no row, veto or cause says. *No client.*

use super::Advice;
use crate::{CrashLoopReading, Evidence, LogReading};

const POD_EVENTS: &str = "kubectl get events -n NAMESPACE --field-selector involvedObject.name=POD";

/// How it ended, where no log tells more, and which siblings crash-loop otherwise.
pub(super) fn told(evidence: &Evidence) -> Vec<Advice> {
    let others = &evidence.circumstances.other_crash_loops;
    let beside = (!others.is_empty()).then(|| {
        Advice::to_know(format!(
            "Judge by itself what also crash-loops, but not with the same failure: {}.",
            others.join(", ")
        ))
    });
    exit_code(evidence).into_iter().chain(beside).collect()
}

/// One sentence on the exit code. P13: it names what can be behind the code, never which of them it was.
fn exit_code(evidence: &Evidence) -> Option<Advice> {
    let CrashLoopReading::Looping(crash_loop) = &evidence.crash_loop else { return None };
    let run = crash_loop.last_run.as_ref()?;
    let told_better = matches!(evidence.log, LogReading::Read(_)) || evidence.circumstances.start_failure.is_some();
    if told_better || run.is_oom_killed() {
        return None;
    }
    let sentence = match run.exit.code {
        0 => "It ended by itself with exit code 0, which a node must not do: look at its command, or at who stops it.",
        126 => "Exit code 126: the image holds the command, but it cannot be executed (no permission, or no program).",
        127 => "Exit code 127: the image does not hold the command that the pod asks for.",
        132 => "Exit code 132, an illegal instruction: the image is built for another CPU than this machine's.",
        137 => {
            "Exit code 137 without OOMKilled: it was killed from outside, for the machine's memory, by a liveness probe \
             or by somebody."
        }
        139 => "Exit code 139, a segmentation fault: native code of the binary or a library, or the machine's memory.",
        143 => "Exit code 143: it was asked to stop, by a liveness or startup probe or by a rollout.",
        _ => return None,
    };
    Some(Advice::to_run(format!("{sentence} The pod's events tell more."), POD_EVENTS))
}
