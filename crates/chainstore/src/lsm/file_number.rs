//! Numbers in file names, the same for every engine here. *No files.*

/// A file number: digits alone, as the engines write it.
pub(crate) fn digits(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// `NNNNNN.log`: a journal, or WAL.
pub(crate) fn log(number: u64) -> String {
    format!("{number:06}.log")
}

/// `MANIFEST-NNNNNN`.
pub(crate) fn manifest(number: u64) -> String {
    format!("MANIFEST-{number:06}")
}
