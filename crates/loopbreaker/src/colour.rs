//! When text is coloured. *No client.*

use anstream::{ColorChoice, stream::RawStream};
use clap::ValueEnum;

/// When text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Colour {
    /// What that means for this stream.
    pub(crate) fn choice(self, stream: &impl RawStream) -> ColorChoice {
        match self {
            Self::Auto => anstream::AutoStream::choice(stream),
            Self::Always => ColorChoice::AlwaysAnsi,
            Self::Never => ColorChoice::Never,
        }
    }
}
