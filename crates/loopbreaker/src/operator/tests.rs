use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Typed {
    #[command(flatten)]
    arguments: Arguments,
}

/// Every name is given, so that nothing comes from the environment of the tests.
fn typed(more: &[&str]) -> Arguments {
    let all = ["operator", "--namespace=lb", "--identity=lb-0", "--inspector-image=lb:1"];
    Typed::parse_from(all.iter().chain(more)).arguments
}

#[test]
fn flags_are_settings() {
    let flags = ["--watch-namespace=cosmos", "--inspector-service-account=inspector", "--pull-secret=a"];
    let more = ["--pull-secret=b", "--max-inspections=7", "--lease-duration=1m"];
    let settings = settings(&typed(&[flags, more].concat()), None).expect("settings");
    assert_eq!(
        settings,
        Settings {
            identity: "lb-0".to_owned(),
            namespace: "lb".to_owned(),
            watched: Some("cosmos".to_owned()),
            inspector: Inspector {
                image: "lb:1".to_owned(),
                service_account: Some("inspector".to_owned()),
                pull_secrets: vec!["a".to_owned(), "b".to_owned()],
                memory_request: "256Mi".to_owned(),
                at_once_max: 7,
            },
            lease: LeaseTimes { duration: Duration::from_mins(1), renew_every: Duration::from_secs(20) },
        }
    );
}

#[test]
fn what_is_not_said_is_the_default() {
    let arguments = typed(&[]);
    assert_eq!((arguments.listen.to_string().as_str(), arguments.log_format), ("0.0.0.0:8080", LogFormat::Text));
    let settings = settings(&arguments, None).expect("settings");
    assert_eq!((settings.watched, settings.inspector.at_once_max), (None, 4));
    assert_eq!((settings.lease.duration.as_secs(), settings.lease.renew_every.as_secs()), (15, 5));
}

#[test]
fn a_process_without_a_name_of_its_own_does_not_compete() {
    let mut arguments = typed(&[]);
    arguments.identity = None;
    assert_eq!(settings(&arguments, Some("host-1".to_owned())).expect("settings").identity, "host-1");
    for hostname in [None, Some(String::new())] {
        let words = settings(&arguments, hostname).expect_err("no name").to_string();
        assert!(words.contains("--identity"), "{words}");
    }
}

#[test]
fn a_lease_is_neither_a_blink_nor_an_hour() {
    for (span, fine) in [("2s", false), ("3s", true), ("10m", true), ("601s", false)] {
        let flag = format!("--lease-duration={span}");
        assert_eq!(settings(&typed(&[&flag]), None).is_ok(), fine, "{span}");
    }
}

#[test]
fn numbers_and_addresses_are_checked_as_they_are_typed() {
    let all = ["operator", "--namespace=lb", "--identity=lb-0", "--inspector-image=lb:1"];
    for wrong in ["--max-inspections=0", "--max-inspections=65", "--listen=nowhere", "--lease-duration=soon"] {
        assert!(Typed::try_parse_from(all.iter().chain(&[wrong])).is_err(), "{wrong}");
    }
}
