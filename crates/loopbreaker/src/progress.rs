//! A progress bar on standard error, for people, and only for work over a second. *No client.*

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work is over before anybody has read the bar.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Counts bytes as they lie on disk: of a compressed log the compressed ones, for only their total is known beforehand.
#[derive(Debug, Clone, Default)]
pub(crate) struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    pub(crate) fn add(&self, bytes: usize) {
        self.0.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The progress of reading logs. Standard error that is no terminal gets nothing.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    read: BytesRead,
}

impl Progress {
    /// `bytes` is the size of all the work, where it is known.
    pub(crate) fn new(bytes: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
        let template = if bytes.is_some() {
            "reading logs {bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta}"
        } else {
            "reading logs {bytes} {bytes_per_sec}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, begun: Instant::now(), read: BytesRead::default() }
    }

    /// The counter to give to whoever reads.
    pub(crate) fn counter(&self) -> BytesRead {
        self.read.clone()
    }

    /// After each piece of work.
    pub(crate) fn tick(&self) {
        if self.bar.is_hidden() && self.begun.elapsed() >= SHOWN_AFTER {
            // Draws only where standard error is a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(self.read.get());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Ctrl-C and SIGTERM, once somebody listens: whoever reads data then stops and tells what is known so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
    listens: Arc<AtomicBool>,
}

impl Stop {
    /// From now on a signal asks for an end; the second one ends the process at once, should a disk not answer.
    pub(crate) fn listen(&self) -> std::io::Result<()> {
        if self.listens.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&self.asked))?;
            signal_hook::flag::register(signal, Arc::clone(&self.asked))?;
        }
        Ok(())
    }

    /// Whether an end was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// The progress of reading databases, by several threads.
pub(crate) struct Inspecting {
    bar: ProgressBar,
    begun: Instant,
    expected: AtomicU64,
    shown: AtomicBool,
    stop: Stop,
}

impl Inspecting {
    pub(crate) fn new(stop: Stop) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = "reading databases {bar:20} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (expected, shown) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { bar, begun: Instant::now(), expected, shown, stop }
    }

    /// Takes the bar away, before the report is printed.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl chainstore::Progress for Inspecting {
    fn expect(&self, bytes: u64) {
        self.expected.fetch_add(bytes, Ordering::Relaxed);
        self.bar.inc_length(bytes);
    }

    fn done(&self, bytes: u64) {
        if self.begun.elapsed() >= SHOWN_AFTER && !self.shown.swap(true, Ordering::Relaxed) {
            // Draws only where standard error is a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
        // Journals and second reads come on top of what the tables were expected to be.
        if self.bar.position() > self.expected.load(Ordering::Relaxed) {
            self.bar.set_length(self.bar.position());
        }
    }

    fn interrupted(&self) -> bool {
        self.stop.is_asked()
    }
}

impl Drop for Inspecting {
    fn drop(&mut self) {
        self.clear();
    }
}
