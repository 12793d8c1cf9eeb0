//! The logs of a bundle, without secrets. *Client, reads only.* (P8, P13)

use diagnosis::{ContainerFacts, ContainerState};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::LogParams};

use super::{BundleLog, Collecting};
use crate::collect::{
    in_words, is_the_kubelets_own,
    logs::stream::{Bounds, Keep, StreamEnd, read_within, rest},
    redact,
};

/// What `diagnose` may need of a log that ran for weeks.
const BOUNDS: Bounds = Bounds { head: 4 << 20, tail: 4 << 20, read: 64 << 20 };
/// Lines asked for of the end: fewer, where they are too long to be read.
const TAIL_LINES: [i64; 3] = [20_000, 2_000, 200];
/// Stands between the two parts of a log that was not read whole.
const GAP: &str = "\n[the part of the log between here and the next line was not collected]\n";

impl Collecting<'_> {
    /// The run that ended, and the one that goes on.
    pub(super) async fn logs(&mut self, pod: &str, container: &ContainerFacts, logs: &mut Vec<BundleLog>) {
        let name = container.name.to_string();
        let ran_before = container.restarts > 0 || container.last_run.is_some();
        let mut has_previous = false;
        if ran_before && let Some(text) = self.log(pod, &name, true).await {
            has_previous = true;
            logs.push(BundleLog { pod: pod.to_owned(), container: name.clone(), previous: true, text });
        }
        // Of a container that waits the kubelet gives the log of the run that ended, a second time.
        let runs = match container.state {
            ContainerState::Running { .. } | ContainerState::Terminated => true,
            _ => ran_before && !has_previous,
        };
        if runs && let Some(text) = self.log(pod, &name, false).await {
            logs.push(BundleLog { pod: pod.to_owned(), container: name, previous: false, text });
        }
    }

    async fn log(&mut self, pod: &str, container: &str, previous: bool) -> Option<String> {
        let run = if previous { "the run before" } else { "the present run" };
        let what = format!("the log of {pod}, container {container}, {run}");
        match self.both_ends(pod, container, previous).await {
            Ok(Ends { head, .. }) if is_the_kubelets_own(&head) => {
                self.notes.push(format!("{what}: {}", String::from_utf8_lossy(&head).trim()));
                None
            }
            Ok(Ends { head, tail, gap }) => {
                self.notes.extend(gap.map(|gap| format!("{what}: {gap}")));
                Some(joined(&head, tail.as_deref()))
            }
            Err(error) => {
                self.notes.push(in_words("get", &what, &error));
                None
            }
        }
    }

    async fn both_ends(&self, pod: &str, container: &str, previous: bool) -> Result<Ends, kube::Error> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &self.of.namespace);
        let params = LogParams {
            container: Some(container.to_owned()),
            previous,
            limit_bytes: i64::try_from(BOUNDS.head).ok(),
            ..LogParams::default()
        };
        let head = read_within(pods.log_stream(pod, &params).await?, Keep::Beginning, BOUNDS).await;
        let mut ends = Ends { head: head.bytes, tail: None, gap: None };
        match head.end {
            StreamEnd::BrokeOff(why) => ends.gap = Some(format!("only its beginning was read: {why}")),
            StreamEnd::Reached if ends.head.len() < BOUNDS.head => {}
            StreamEnd::Reached | StreamEnd::Cut => {
                for lines in TAIL_LINES {
                    let params = LogParams { limit_bytes: None, tail_lines: Some(lines), ..params.clone() };
                    let tail = read_within(pods.log_stream(pod, &params).await?, Keep::End, BOUNDS).await;
                    if tail.end == StreamEnd::Reached {
                        ends.add_tail(&tail.bytes);
                        return Ok(ends);
                    }
                }
                ends.gap = Some("only its beginning was read: its lines are too long to find the end".to_owned());
            }
        }
        Ok(ends)
    }
}

/// What was read of a log.
struct Ends {
    head: Vec<u8>,
    /// After a part that was not read.
    tail: Option<Vec<u8>>,
    gap: Option<String>,
}

impl Ends {
    fn add_tail(&mut self, tail: &[u8]) {
        if let Some(more) = rest(&self.head, tail) {
            self.head.extend_from_slice(more);
        } else {
            self.tail = Some(tail.to_vec());
            self.gap = Some("only its first and its last part were read, 4 MiB of each at most".to_owned());
        }
    }
}

/// The text without secrets; what is no text is replaced.
fn joined(head: &[u8], tail: Option<&[u8]>) -> String {
    let mut text = redact(&String::from_utf8_lossy(head));
    if let Some(tail) = tail {
        let tail = String::from_utf8_lossy(tail);
        text.push_str(GAP);
        text.push_str(&redact(after_a_cut_key(&tail)));
    }
    text
}

/// A key whose begin was not read cannot be told from its lines, only from its end.
fn after_a_cut_key(tail: &str) -> &str {
    let end = tail.find("PRIVATE KEY-----").filter(|at| {
        tail.get(..*at).is_some_and(|before| before.contains("-----END ") && !before.contains("-----BEGIN "))
    });
    end.and_then(|at| tail.get(at + "PRIVATE KEY-----".len()..)).unwrap_or(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ends_of_a_log_lose_their_secrets() {
        let tail = b"c2VjcmV0IQ==\n-----END EC PRIVATE KEY-----\nINF up password=hunter2 height=7\n";
        assert_eq!(
            joined(b"INF token=abcdef\xff start\n", Some(tail)),
            "INF token=[redacted] start\n\
             \n[the part of the log between here and the next line was not collected]\n\
             \nINF up password=[redacted] height=7\n"
        );
    }

    #[test]
    fn a_whole_key_in_the_end_is_left_to_the_rule_of_keys() {
        let tail = "INF a\n-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n-----END EC PRIVATE KEY-----\nINF b\n";
        assert_eq!(after_a_cut_key(tail), tail);
        assert_eq!(after_a_cut_key("INF a\n"), "INF a\n");
    }

    #[test]
    fn a_log_that_meets_its_end_has_no_gap() {
        let log = (0..100).map(|line| format!("{line:04} INF committed a block\n")).collect::<Vec<String>>().concat();
        let (head, tail) = (&log.as_bytes()[..2_000], &log.as_bytes()[1_000..]);
        let mut ends = Ends { head: head.to_vec(), tail: None, gap: None };
        ends.add_tail(tail);
        assert_eq!((String::from_utf8(ends.head).expect("text"), ends.tail, ends.gap), (log.clone(), None, None));
        let mut apart = Ends { head: log.as_bytes()[..500].to_vec(), tail: None, gap: None };
        apart.add_tail(&log.as_bytes()[1_500..]);
        assert!(apart.gap.expect("a gap").contains("first and its last part"));
    }
}
