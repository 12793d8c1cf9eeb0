//! Both ways: what goes, and what people need to find their way.

use super::*;

#[test]
fn secrets_go() {
    for (line, clean) in [
        ("password=hunter2 next", "password=[redacted] next"),
        (
            r#"{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"AbC="},"height":"5"}"#,
            r#"{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"[redacted]"},"height":"5"}"#,
        ),
        ("Authorization: Bearer abcdef123456", "Authorization: [redacted]"),
        ("got Bearer abcdef123456 from peer", "got Bearer [redacted] from peer"),
        ("dial https://user:pass@rpc.example/x", "dial https://[redacted]@rpc.example/x"),
        ("mnemonic: abandon ability able about above", "mnemonic: [redacted]"),
        (r#""auth_token":"s3cr3t","height":5"#, r#""auth_token":"[redacted]","height":5"#),
        ("start --keyring-password hunter2 --home /x", "start --keyring-password [redacted] --home /x"),
        ("dial https://ghp_16C7e42F292c6912E7@api.example", "dial https://[redacted]@api.example"),
        (r#"headers {\"authorization\":\"Basic dXNlcjpwYXNz\"}"#, r#"headers {\"authorization\":\"[redacted]"}"#),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[redacted]"),
        ("key AKIAIOSFODNN7EXAMPLE used", "key [redacted] used"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "jwt [redacted]"),
    ] {
        assert_eq!(redact(line), clean, "{line}");
    }
}

#[test]
fn words_of_a_wallet_go() {
    let words = "abandon ability able about above absent absorb abstract absurd abuse access accident";
    for (line, clean) in [
        (format!("write this mnemonic phrase down {words}"), "write this mnemonic phrase down [redacted]"),
        (format!("using mnemonic {words}, index 0"), "using mnemonic [redacted], index 0"),
        (format!("{words}\n"), "[redacted]\n"),
        (format!("{words} {words}\n"), "[redacted]\n"),
    ] {
        let redacted = redact(&line);
        assert!(!redacted.contains("abandon") && !redacted.contains("abuse"), "{redacted}");
        assert_eq!(redacted.matches(GONE).count(), 1, "{redacted} ({clean})");
    }
}

#[test]
fn a_private_key_goes_whole() {
    let pem = "before\n-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\nafter\n";
    assert_eq!(redact(pem), "before\n[redacted]\nafter\n");
    assert_eq!(
        redact("-----BEGIN EC PRIVATE KEY-----\nMC4CAQ\nINF the key was cut, and the node went on\n"),
        "[redacted]\nINF the key was cut, and the node went on\n"
    );
    let json = r#""priv_key": {"type": "tendermint/PrivKeyEd25519", "value": "c2VjcmV0"}"#;
    assert!(!redact(json).contains("c2VjcmV0"), "{}", redact(json));
}

#[test]
fn what_people_need_stays() {
    for line in [
        "panic: wrong Block.Header.AppHash. Expected 8C2F9A, got 51AA0E, height=1187",
        "dial tcp://f3a1b2@10.0.0.7:26656 failed",
        "store osmo1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu has 12 tokens",
        "leveldb/table: corruption on data-block (pos=1187): checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]",
        "invalid token 'x' in app.toml",
        "dial tcp://6a4e7a2bbd7f5d2b6a1c0f3f9e8d7c6b5a493827@10.0.0.7:26656 failed",
        "peer https://6a4e7a2bbd7f5d2b6a1c0f3f9e8d7c6b5a493827@10.0.0.7 gone",
        "hash=E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855 height=21187003 module=consensus",
        "the node stands still because nobody sends blocks for some time now",
        "UPGRADE \"v2\" NEEDED at height: 1187: token factory",
        "image ghcr.io/x/y@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ] {
        assert_eq!(redact(line), line);
    }
}
