//! Checks a table's blocks against their checksums, one after the other, and gathers what is found. *Files, read-only.*

use std::fmt::Display;

use crate::data_file::DataFile;
use crate::lsm::bad_block;
use crate::lsm::block::{Handle, Window};
use crate::lsm::trailer::{Checksum, Trailer};
use crate::lsm::unpack::{BLOCK_BYTES_MAX, Unpack};
use crate::store::Place;
use crate::{Attribution, Check, Checks, Finding, FindingKind, Reason};

/// Bad blocks of one table that are listed one by one; the rest is counted.
const FINDINGS_MAX: usize = 32;

/// What a data block is called in findings; all other blocks are reached from the footer.
pub(crate) const DATA_BLOCK: &str = "data block";

/// A table's blocks.
pub(crate) struct BlockChecker<'a> {
    pub(crate) place: &'a Place,
    pub(crate) file: &'a DataFile,
    pub(crate) window: Window<'a>,
    pub(crate) checks: Checks,
    unpack: Unpack,
    /// The one bit of the footer whose flip sends the reader to a wrong place, if there is one.
    footer_flip: &'a dyn Fn() -> Attribution,
    /// What a data block that does not fit means for the engine, if that is worth saying.
    consequence: &'static str,
    /// Bad blocks beyond those that are listed.
    more: u64,
}

impl<'a> BlockChecker<'a> {
    pub(crate) fn new(
        place: &'a Place,
        file: &'a DataFile,
        window: &'a mut [u8],
        checksum: Checksum,
        unpack: Unpack,
        footer_flip: &'a dyn Fn() -> Attribution,
    ) -> Self {
        let window = Window::new(file, window, checksum);
        let checks = Checks::default();
        Self { place, file, window, checks, unpack, footer_flip, consequence: "", more: 0 }
    }

    /// Says in each finding what a bad data block means for the engine.
    pub(crate) fn with_consequence(mut self, words: &'static str) -> Self {
        self.consequence = words;
        self
    }

    /// Everything that was found.
    pub(crate) fn finish(mut self) -> Checks {
        if self.more > 0 {
            let detail = format!("{} more blocks do not fit their checksums", self.more);
            self.checks.add(Finding::new(FindingKind::BlockChecksum, &self.place.database, self.file.path(), detail));
        }
        self.checks
    }

    /// A block that is needed whole: checked, unpacked.
    pub(crate) fn held_block(&mut self, handle: Handle, what: &str) -> Option<Vec<u8>> {
        if handle.size > BLOCK_BYTES_MAX {
            let size = handle.size;
            self.checks.add(Reason::AboveLimit(format!("{}: {what} of {size} bytes", self.file.path().display())));
            return None;
        }
        let compression = self.checked(handle, what)?;
        let mut block = Vec::new();
        self.unpack(handle, compression, what, &mut block).then_some(block)
    }

    /// Compares a block with its checksum; its compression type if they fit.
    pub(crate) fn checked(&mut self, handle: Handle, what: &str) -> Option<u8> {
        match self.window.trailer(handle) {
            Ok(trailer) if trailer.fits() => Some(trailer.compression),
            Ok(_) if self.checks.findings.len() >= FINDINGS_MAX => {
                self.more = self.more.saturating_add(1);
                None
            }
            Ok(trailer) => {
                self.checks.add(self.bad(handle, what, trailer));
                None
            }
            Err(error) => {
                self.checks.add(bad_block::unreadable(self.place, self.file, &error, what, handle.offset));
                None
            }
        }
    }

    /// A block that does not fit. Where the footer's own handle may be at fault, that is said instead.
    fn bad(&self, handle: Handle, what: &str, trailer: Trailer) -> Check {
        let check = bad_block::judge(self.place, self.file, handle, what, trailer);
        let Check::Bad(mut finding) = check else { return check };
        if finding.attribution == Attribution::Unknown
            && what != DATA_BLOCK
            && let flip @ Attribution::SingleBitFlip { .. } = (self.footer_flip)()
        {
            finding.attribution = flip;
            finding.detail.push_str("; the footer points to the wrong place");
        }
        if finding.kind == FindingKind::BlockChecksum && what == DATA_BLOCK {
            finding.detail.push_str(self.consequence);
        }
        Check::Bad(finding)
    }

    /// Unpacks a block whose checksum fits.
    pub(crate) fn unpack(&mut self, handle: Handle, compression: u8, what: &str, into: &mut Vec<u8>) -> bool {
        let problem = match self.window.payload(handle) {
            Ok(payload) => match (self.unpack)(&payload, compression, into) {
                Ok(()) => return true,
                Err(error) => self.structure(handle, what, error),
            },
            Err(error) => bad_block::unreadable(self.place, self.file, &error, what, handle.offset),
        };
        self.checks.add(problem);
        false
    }

    /// A block that fits its checksum and is wrong all the same.
    pub(crate) fn structure(&self, handle: Handle, what: &str, problem: impl Display) -> Check {
        self.finding(FindingKind::BlockStructure, handle, format!("{what} fits its checksum, but: {problem}")).into()
    }

    /// A finding at a block.
    pub(crate) fn finding(&self, kind: FindingKind, handle: Handle, detail: impl Into<String>) -> Finding {
        Finding::new(kind, &self.place.database, self.file.path(), detail).at(handle.offset)
    }

    /// Whether nothing but notes was found so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.checks.severity().is_none_or(|severity| severity == crate::Severity::Note)
    }
}
