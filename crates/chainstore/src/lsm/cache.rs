//! A small cache with a bound on its bytes: opened tables and unpacked blocks of a view. *No files.*

use std::sync::{Arc, Mutex, PoisonError};

/// Entries at most; a search goes through all of them.
const ENTRIES_MAX: usize = 128;

/// The least recently used entry goes first.
pub(crate) struct Cache<K, V> {
    entries: Mutex<Vec<(K, Arc<V>, usize)>>,
    bytes_max: usize,
}

impl<K: PartialEq, V> Cache<K, V> {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { entries: Mutex::new(Vec::new()), bytes_max }
    }

    /// The value under a key; made and kept if it is not there. `make` also says how many bytes it takes.
    pub(crate) fn get_or<E>(&self, key: K, make: impl FnOnce() -> Result<(V, usize), E>) -> Result<Arc<V>, E> {
        {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = entries.iter().position(|(known, ..)| *known == key) {
                let entry = entries.remove(at);
                let value = Arc::clone(&entry.1);
                entries.push(entry);
                return Ok(value);
            }
        }
        let (value, bytes) = make()?;
        let value = Arc::new(value);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push((key, Arc::clone(&value), bytes));
        let mut total: usize = entries.iter().map(|(.., bytes)| *bytes).sum();
        let mut gone = 0;
        for (.., bytes) in entries.iter().take(entries.len().saturating_sub(1)) {
            if total <= self.bytes_max && entries.len().saturating_sub(gone) <= ENTRIES_MAX {
                break;
            }
            total = total.saturating_sub(*bytes);
            gone = gone.saturating_add(1);
        }
        entries.drain(..gone);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_the_bytes_are_too_many() {
        let cache = Cache::new(10);
        let made = std::cell::Cell::new(0);
        let get = |key: u32| {
            cache.get_or::<()>(key, || {
                made.set(made.get() + 1);
                Ok((key, 4))
            })
        };
        for key in [1, 2, 1, 3, 1] {
            assert_eq!(get(key).as_deref(), Ok(&key));
        }
        assert_eq!(made.get(), 3);
        get(2).unwrap();
        assert_eq!(made.get(), 4);
    }
}
