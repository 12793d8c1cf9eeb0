//! Are the records there that must be there? All checksums can fit on a database that lost most of its keys (formats
//! 7.1), so numbered records are sampled. *No files of its own.*

use crate::{KeyValues, ViewError};

/// What sampling a numbered run of records gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Density {
    /// How many numbers were looked up.
    pub asked: u64,
    /// Those without a record, ascending.
    pub missing: Vec<u64>,
}

/// Looks up at most `samples` of the numbers `first..=last`: both ends, and evenly between them.
pub fn density(
    view: &dyn KeyValues,
    first: u64,
    last: u64,
    samples: u64,
    key: impl Fn(u64) -> Vec<u8>,
) -> Result<Density, ViewError> {
    let mut found = Density::default();
    let Some(span) = last.checked_sub(first) else { return Ok(found) };
    let steps = samples.saturating_sub(1).clamp(1, span.max(1));
    for step in 0..=steps.min(span) {
        // In 128 bits, since span × step may pass 64.
        let offset = u128::from(span) * u128::from(step) / u128::from(steps);
        let number = first.saturating_add(u64::try_from(offset).unwrap_or(span));
        found.asked = found.asked.saturating_add(1);
        if view.get(&key(number))?.is_none() {
            found.missing.push(number);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsm::memory::MemTable;
    use crate::lsm::merge::{Merged, leveldb_meaning};

    #[test]
    fn both_ends_are_asked_and_gaps_are_named() {
        let mut memory = MemTable::default();
        for height in (5_u64..=50).chain(71..=104) {
            memory.put(format!("H:{height}").as_bytes(), (height << 8) | 1, b"x").unwrap();
        }
        let view = Merged { runs: vec![Box::new(memory)], meaning: leveldb_meaning };
        let key = |height: u64| format!("H:{height}").into_bytes();
        let found = density(&view, 5, 104, 12, key).unwrap();
        assert_eq!((found.asked, found.missing), (12, vec![59, 68]));
        assert_eq!(density(&view, 5, 5, 12, key).unwrap(), Density { asked: 1, missing: vec![] });
        assert_eq!(density(&view, 105, 104, 12, key).unwrap().asked, 0);
        assert_eq!(density(&view, 100, 105, 1000, key).unwrap().missing, [105]);
    }
}
