//! The kubelet's back-off, out of its own words. *No client.*
//!
//! The kubelet writes `back-off 5m0s restarting failed container=node pod=…`, the delay in Go's duration notation; there is
//! no field for it.

use super::BackOff;

/// The delay in a waiting message, where it names one.
pub(super) fn parse(message: &str) -> Option<BackOff> {
    let (_, rest) = message.split_once("back-off ")?;
    go_duration_seconds(rest.split_whitespace().next()?).map(|seconds| BackOff { seconds })
}

/// Whole seconds of a Go duration (`5m0s`, `1m20s`, `2.5s`, `300ms`); fractions are dropped.
fn go_duration_seconds(text: &str) -> Option<u64> {
    let mut milliseconds: u64 = 0;
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits_end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (digits, after) = rest.split_at_checked(digits_end)?;
        let after =
            after.strip_prefix('.').map_or(after, |fraction| fraction.trim_start_matches(|c: char| c.is_ascii_digit()));
        let unit_end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, next) = after.split_at_checked(unit_end)?;
        let count: u64 = digits.parse().ok()?;
        let worth = match unit {
            "h" => count.checked_mul(3_600_000)?,
            "m" => count.checked_mul(60_000)?,
            "s" => count.checked_mul(1000)?,
            "ms" => count,
            "us" | "µs" | "ns" => 0,
            _ => return None,
        };
        milliseconds = milliseconds.checked_add(worth)?;
        rest = next;
    }
    Some(milliseconds / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kubelets_sentence() {
        let message =
            "back-off 5m0s restarting failed container=node pod=agoric-mainnet-fullnode-0_strangelove(c802446c)";
        assert_eq!(parse(message), Some(BackOff { seconds: 300 }));
    }

    #[test]
    fn reads_go_durations() {
        for (text, seconds) in [
            ("10s", Some(10)),
            ("1m20s", Some(80)),
            ("2m40s", Some(160)),
            ("1h0m0s", Some(3600)),
            ("2.5s", Some(2)),
            ("300ms", Some(0)),
            ("1500ms", Some(1)),
            ("", None),
            ("s", None),
            ("5", None),
            ("5 m", None),
            ("5q", None),
            ("99999999999999999999s", None),
            ("18446744073709551615h", None),
            ("５m", None),
        ] {
            assert_eq!(go_duration_seconds(text), seconds, "{text:?}");
        }
    }

    #[test]
    fn an_image_pull_back_off_names_no_delay() {
        assert_eq!(parse("Back-off pulling image \"ghcr.io/x/y:1\""), None);
        assert_eq!(parse(""), None);
        assert_eq!(parse("back-off "), None);
    }
}
