//! What a log is like as a whole. *No IO.*

/// Thousandths of the lines that must be text, below which the input is no log at all.
const TEXT_SHARE_MIN: u16 = 700;

/// The input as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingSummary {
    /// Bytes of the input.
    pub bytes: u64,
    /// Lines of the input.
    pub lines: u64,
    /// Records given to the sink.
    pub records: u64,
    /// Share of the lines that are text, in thousandths; 1000 where there is no line.
    pub text_share: u16,
    /// Lines in a format of a node, of Go's runtime, or of the machine below them.
    pub node_lines: u64,
    /// A goroutine's stack was seen whose panic header was not: the log was cut.
    pub frames_without_head: bool,
    /// Lines of which bytes were dropped, because they were longer than the limit.
    pub cut_lines: u64,
    /// Too few lines are text: the input is no log.
    pub binary: bool,
}

/// Counts while reading.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    pub(super) records: u64,
    pub(super) text_lines: u64,
    pub(super) node_lines: u64,
    pub(super) cut_lines: u64,
    pub(super) frames_without_head: bool,
}

impl Tally {
    /// Counts lines of a node that are text.
    pub(super) fn of_node(&mut self, lines: u32) {
        self.text_lines += u64::from(lines);
        self.node_lines += u64::from(lines);
    }

    pub(super) fn summary(&self) -> ReadingSummary {
        let share = (self.text_lines.min(self.lines) * 1000).checked_div(self.lines).unwrap_or(1000);
        let text_share = u16::try_from(share).unwrap_or(1000);
        ReadingSummary {
            bytes: self.bytes,
            lines: self.lines,
            records: self.records,
            text_share,
            node_lines: self.node_lines,
            frames_without_head: self.frames_without_head,
            cut_lines: self.cut_lines,
            binary: text_share < TEXT_SHARE_MIN,
        }
    }
}
