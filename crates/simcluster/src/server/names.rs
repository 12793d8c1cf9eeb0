//! Names and UIDs that the API server makes up, from the seed. *No client.*

use fastrand::Rng;

/// Where made-up names come from.
#[derive(Debug)]
pub(crate) struct Names {
    random: Rng,
}

/// The letters of generated names: no vowels, so that no words come out (apimachinery's `util/rand`).
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

impl Names {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Rng::with_seed(seed ^ 0x6e61_6d65) }
    }

    /// A version 4 UUID.
    pub(crate) fn uid(&mut self) -> String {
        let bits = self.random.u128(..) & !(0xf_u128 << 76) & !(0x3_u128 << 62) | (0x4_u128 << 76) | (0x2_u128 << 62);
        let hex = format!("{bits:032x}");
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
        [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
    }

    /// Five letters behind a prefix.
    pub(crate) fn suffix(&mut self) -> String {
        (0..5).filter_map(|_| self.random.choice(LETTERS)).map(|letter| char::from(*letter)).collect()
    }

    /// Sixty-four hexadecimal digits, as containers are named.
    pub(crate) fn container(&mut self) -> String {
        format!("containerd://{:032x}{:032x}", self.random.u128(..), self.random.u128(..))
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn the_same_seed_makes_the_same_names() {
        let (mut one, mut two, mut other) = (Names::new(7), Names::new(7), Names::new(8));
        let uid = one.uid();
        assert_eq!(uid, two.uid());
        assert_ne!(uid, other.uid());
        assert_eq!((uid.len(), uid.as_bytes()[14]), (36, b'4'));
        assert_eq!(one.suffix(), two.suffix());
    }
}
