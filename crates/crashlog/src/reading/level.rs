//! The words loggers use for a level. *No IO.*

use crate::Level;

/// Level of a word in any of the loggers' spellings and in any case; `None` where it is no such word.
pub(super) fn of_word(word: &[u8]) -> Option<Level> {
    let mut lower = [0_u8; 9];
    let slot = lower.get_mut(..word.len())?;
    slot.copy_from_slice(word);
    slot.make_ascii_lowercase();
    Some(match &*slot {
        b"trace" | b"trc" | b"trce" | b"debug" | b"dbg" | b"dbug" => Level::Debug,
        b"info" | b"inf" | b"notice" => Level::Info,
        b"warn" | b"wrn" | b"warning" => Level::Warn,
        b"error" | b"err" | b"eror" => Level::Error,
        b"fatal" | b"ftl" | b"panic" | b"pnc" | b"dpanic" | b"crit" | b"critical" | b"alert" | b"emerg" => Level::Fatal,
        _ => return None,
    })
}

/// Level of the three letters of zerolog's console.
pub(super) fn of_letters(letters: &[u8]) -> Option<Level> {
    Some(match letters {
        b"TRC" | b"DBG" => Level::Debug,
        b"INF" => Level::Info,
        b"WRN" => Level::Warn,
        b"ERR" => Level::Error,
        b"FTL" | b"PNC" => Level::Fatal,
        b"???" => Level::None,
        _ => return None,
    })
}

/// Level of the one letter of Tendermint's plain format and of klog.
pub(super) fn of_letter(letter: u8) -> Option<Level> {
    Some(match letter {
        b'D' => Level::Debug,
        b'I' | b'N' => Level::Info,
        b'W' => Level::Warn,
        b'E' => Level::Error,
        b'F' => Level::Fatal,
        _ => return None,
    })
}
