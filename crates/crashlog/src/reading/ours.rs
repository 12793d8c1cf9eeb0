//! Lines of `loopbreaker guard`, which runs in the node's container before the node does. *No IO.*
//!
//! What the guard saw is the disk's word. If it counted as the log's too, one witness would speak twice (P2).

/// Whether a line is the guard's own, in either of its forms.
pub(super) fn is(text: &[u8]) -> bool {
    text.starts_with(b"loopbreaker guard: ") || text.starts_with(br#"{"loopbreaker":"guard","#)
}
