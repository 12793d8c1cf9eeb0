//! SHA-256, as CometBFT, IAVL and wasm name things by it; and the Merkle tree of RFC 6962. *No files.*

use std::fmt;

use sha2::{Digest, Sha256};

/// A SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash32(pub [u8; 32]);

impl Hash32 {
    /// The hash of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_parts(&[bytes])
    }

    /// The hash of several pieces of bytes, one after the other.
    #[must_use]
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// From exactly 32 bytes.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// From exactly 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != hash.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            *byte = (digit(*high)? << 4) | digit(*low)?;
        }
        Some(Self(hash))
    }
}

impl fmt::Display for Hash32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for Hash32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(self.0, f)
    }
}

/// A file's hash as it is read, piece by piece.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Adds a piece.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all pieces.
    pub(crate) fn finish(self) -> Hash32 {
        Hash32(self.0.finalize().into())
    }
}

/// The root over leaves that are already in order (CometBFT `crypto/merkle`): leaves are hashed after a zero, inner nodes
/// after a one, and the left part is the largest power of two below the count.
///
/// Joining equal neighbours as they come, and at the end from right to left, gives the same tree without recursion.
pub(crate) fn merkle_root<'a>(leaves: impl IntoIterator<Item = &'a [u8]>) -> Hash32 {
    let join = |left: Hash32, right: Hash32| Hash32::of_parts(&[&[1], &left.0, &right.0]);
    let mut pending: Vec<(u32, Hash32)> = Vec::new();
    for leaf in leaves {
        let mut node = (0_u32, Hash32::of_parts(&[&[0], leaf]));
        while let Some((level, left)) = pending.pop_if(|(level, _)| *level == node.0) {
            node = (level.saturating_add(1), join(left, node.1));
        }
        pending.push(node);
    }
    let Some((_, mut root)) = pending.pop() else { return Hash32::of(&[]) };
    while let Some((_, left)) = pending.pop() {
        root = join(left, root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_those_of_rfc_6962() {
        // The tree heads that the Certificate Transparency reference tests give for these leaves.
        let leaves: Vec<Vec<u8>> =
            ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
                .iter()
                .map(|hex| {
                    hex.as_bytes()
                        .chunks(2)
                        .map(|p| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap())
                        .collect()
                })
                .collect();
        let heads = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        for (count, head) in heads.iter().enumerate() {
            let root = merkle_root(leaves.iter().take(count).map(Vec::as_slice));
            assert_eq!(root.to_string(), *head, "{count} leaves");
        }
    }

    #[test]
    fn hexadecimal_digits_there_and_back() {
        let hash = Hash32::of(b"x");
        assert_eq!(Hash32::from_hex(&hash.to_string()), Some(hash));
        assert_eq!(Hash32::from_hex("00"), None);
        assert_eq!(Hash32::from_hex(&"g".repeat(64)), None);
    }
}
