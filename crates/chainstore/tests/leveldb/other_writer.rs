//! A database of another LevelDB: an independent writer, other block boundaries, no filter.

use crate::kit;
use std::collections::BTreeMap;

use chainstore::{Depth, Outcome};
use rusty_leveldb::{DB, Options};

#[test]
fn its_keys_come_back_and_its_tables_are_whole() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut model = BTreeMap::new();
    {
        let options = Options { write_buffer_size: 8 << 10, max_file_size: 16 << 10, ..Options::default() };
        let mut db = DB::open(&path, options).unwrap();
        for number in 0_u32..4000 {
            let key = format!("key{:04}", number * 7919 % 1500).into_bytes();
            if number % 5 == 0 {
                db.delete(&key).unwrap();
                model.remove(&key);
            } else {
                let value = format!("value {number}").repeat(3).into_bytes();
                db.put(&key, &value).unwrap();
                model.insert(key, value);
            }
        }
        db.flush().unwrap();
    }
    let report = kit::report(&path, Depth::Deep);
    assert_eq!(report.outcome, Outcome::Intact, "{:#?}", report.checks);
    assert!(report.tables > 3, "{} tables", report.tables);
    let store = kit::store(&path);
    let view = store.view().unwrap();
    let all: BTreeMap<Vec<u8>, Vec<u8>> =
        view.range(&[], None).map(|entry| entry.map(|(key, value)| (key.into(), value.into())).unwrap()).collect();
    assert_eq!(all, model);
    for (key, value) in &model {
        assert_eq!(view.get(key).unwrap().as_deref(), Some(value.as_slice()));
    }
    let last = view.last_in(b"", Some(b"key0700")).unwrap().map(|(key, _)| Vec::from(key));
    assert_eq!(last.as_ref(), model.range(..b"key0700".to_vec()).next_back().map(|(key, _)| key));
}
