//! Any bytes as an entry of the guard's ring, and any LOG behind an entry that fits its beginning: no panic, and no bytes
//! alone accuse a healthy database.
#![no_main]

use chainstore::{Hash32, Outcome};
use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::Sandbox;

/// Bytes of a LOG that are enough to be compared.
const BEGIN: usize = 128;

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let sandbox = Sandbox::default();
    if mode % 2 == 0 {
        assert_ne!(sandbox.weigh(rest), Outcome::Damaged);
        return;
    }
    let Some((begin, _)) = rest.split_at_checked(BEGIN) else { return };
    sandbox.put("LOG", rest);
    let entry = format!(
        r#"{{"schema":"loopbreaker.dev/ring/v1","sequence":1,"started_at":"then","started_at_seconds":4000000000,
        "program":"fuzz","mark":{{"host":"h"}},"checked":"quick","databases":[{{"facts":{{"path":"state.db",
        "engine":"goleveldb","log":{{"bytes":{BEGIN},"tail_bytes":{BEGIN},"tail_sha256":"{}"}}}},
        "findings":[{{"kind":"journal_corrupt","file":"state.db/000001.log","detail":"d"}}]}}]}}"#,
        Hash32::of(begin)
    );
    let _ = sandbox.weigh(entry.as_bytes());
});
