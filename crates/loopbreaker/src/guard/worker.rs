//! The child that looks: copies first, then the checks, then what the ring is to keep. *No client.*
//!
//! 1. The facts and the small files that tell, into a new entry of the ring: they are what the start erases.
//! 2. The quick checks of everything; the entry is written anew with what they found.
//! 3. Every checksum, newest files first, as far as the deadline allows; the entry once more.
//! 4. The oldest entries go.
//!
//! Whatever fails is a line on standard error, and the next step follows. The parent ends this process at the deadline;
//! by then it mostly has ended by itself.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use chainstore::{
    DataDir, Depth, Finding, FoundPlace, Inspection, Meter, Silent,
    ring::{self, Checked, KeptFile, Looked, Ring, RingEntry},
};

use super::{
    Arguments, checks, conclusion, copies,
    copies::Wanted,
    fence, kept, log_names, mark,
    message::{self, Message},
    parent::{ends_with, tell},
    room, spots,
    until::Until,
    writer::{NO_ROOM, Writer, has_no_room},
};
use crate::{diagnose::Format, inspect::CannotLook, words::duration};

/// One entry has this part of the ring's size at most: two of a crash loop and two others fit.
const PART_OF_RING: u64 = 4;

/// Looks, for the guard of that process id.
pub(super) fn run(arguments: &Arguments, guard: u32) {
    if !ends_with(guard) {
        return;
    }
    // What is left of the time is for ending in good order.
    let until = Until::after(arguments.deadline.saturating_sub(arguments.deadline / 8));
    let mut look = Look::new(arguments, until);
    look.look();
    tell(&Message::Done);
}

/// One look at a node's home.
struct Look<'a> {
    arguments: &'a Arguments,
    until: Until,
    begun: Instant,
    /// Lines of findings that have been said.
    said: BTreeSet<String>,
    /// What the checks found, all of them together.
    found: Vec<Finding>,
    /// What could not be done with the ring has been said.
    ring_failed: bool,
}

impl<'a> Look<'a> {
    fn new(arguments: &'a Arguments, until: Until) -> Self {
        Self { arguments, until, begun: Instant::now(), said: BTreeSet::new(), found: Vec::new(), ring_failed: false }
    }

    fn note(&self, text: &str) {
        tell(&Message::Line(message::note(self.format(), text)));
    }

    fn format(&self) -> Format {
        self.arguments.output
    }

    fn look(&mut self) {
        let home = self.arguments.home();
        let meter = Arc::new(Meter::new(None, Arc::new(Silent)));
        let root = match DataDir::open(home, meter) {
            Ok(root) => root,
            Err(error) => return self.note(&format!("nothing was checked: {}", CannotLook(error).in_words())),
        };
        let path = self.arguments.ring();
        let ring = Ring::open(&path).unwrap_or_else(|error| {
            self.note(&format!("the ring cannot be read: {error}"));
            Ring::default()
        });
        let named = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
        let (places, _) = chainstore::find(&root, &named, Depth::Quick);
        let facts = ring::collect_facts(&root, &named, Path::new(""));
        let mark = mark::mark(self.arguments);
        let mut entry = kept::begin(ring.next_sequence(), mark, facts, &root);
        let before = ring.slots.iter().rev().filter_map(|slot| slot.entry());
        let of_this_node = before.clone().find(|before| before.mark.is_same_node(&entry.mark)).cloned();
        kept::remember(&mut entry, of_this_node.as_ref());
        kept::carry_on(&mut entry, &ring, &root, &[], Looked::NotAtAll);
        let writer = self.copy(&root, &path, &ring, &places, &mut entry);
        let inspection = self.check(&root, &ring, &mut entry, writer.as_ref());
        if let Some(inspection) = &inspection {
            if let Some(why) = fence::damage_that_stops(inspection) {
                tell(&Message::Damage(why));
            }
            let had = of_this_node.map(|before| before.had).unwrap_or_default();
            if let Some(why) = fence::lost_database(inspection, &had, &entry) {
                tell(&Message::Lost(why));
            }
        }
        if let Some(writer) = &writer {
            self.make_room(&ring, &entry, writer.bytes());
        }
        self.conclude(inspection.as_ref(), &entry, writer.is_some());
    }

    /// The small files that tell, into a new entry.
    fn copy(
        &mut self,
        root: &DataDir,
        path: &Path,
        ring: &Ring,
        places: &[FoundPlace],
        entry: &mut RingEntry,
    ) -> Option<Writer> {
        if let Some(why) = room::is_in_data(path, self.arguments.home()) {
            self.note(&format!("nothing is kept: {why}"));
            return None;
        }
        let mut writer = match Writer::begin(path, entry.sequence, &ring.unfinished) {
            Ok(writer) => writer,
            Err(error) => {
                self.ring_fails(path, &error);
                return None;
            }
        };
        entry.place = writer.place();
        let mut wanted = copies::wanted(places);
        wanted.extend(copies::companions(root));
        let budget = self.arguments.max_bytes / PART_OF_RING;
        // Before anything is written, for a full disk; and before the entry is in its place, for a guard that is ended then.
        self.make_room(ring, entry, wanted.iter().map(|part| part.bytes).sum::<u64>().min(budget));
        let written = self.put_all(root, &writer, &wanted, budget, entry).and_then(|()| writer.describe(entry));
        self.make_room(ring, entry, writer.bytes());
        if let Err(error) = written.and_then(|()| writer.publish(entry)) {
            writer.abandon();
            self.ring_fails(path, &error);
            return None;
        }
        Some(writer)
    }

    fn put_all(
        &self,
        root: &DataDir,
        writer: &Writer,
        wanted: &[Wanted],
        budget: u64,
        entry: &mut RingEntry,
    ) -> std::io::Result<()> {
        let used = entry.files.iter().flat_map(|file| &file.kept).map(|range| range.bytes).sum();
        let mut left = budget.saturating_sub(used);
        for part in wanted {
            let name = part.file.to_string_lossy().into_owned();
            if part.bytes > left {
                entry.left_out.push(format!("{name}: the entry is full"));
                continue;
            }
            match copies::read(root, part, self.until) {
                Ok(bytes) => {
                    let range = match writer.put(&part.file, part.offset, &bytes) {
                        Err(error) if has_no_room(&error) => {
                            entry.left_out.push(format!("{name}: {NO_ROOM}"));
                            continue;
                        }
                        put => put?,
                    };
                    left = left.saturating_sub(part.bytes);
                    match entry.files.iter_mut().find(|file| file.file == name) {
                        Some(file) => file.kept.push(range),
                        None => entry.files.push(KeptFile { file: name, bytes: part.length, kept: vec![range] }),
                    }
                }
                Err(why) => entry.left_out.push(format!("{name}: {why}")),
            }
        }
        Ok(())
    }

    /// The quick checks, then as many checksums as there is time for; what was found is said and kept after each.
    fn check(
        &mut self,
        root: &DataDir,
        ring: &Ring,
        entry: &mut RingEntry,
        writer: Option<&Writer>,
    ) -> Option<Inspection> {
        let mut unread = Vec::new();
        let mut last = None;
        for depth in [Depth::Quick, Depth::Default] {
            if self.until.is_over() {
                break;
            }
            let first =
                if depth == Depth::Quick { None } else { log_names::named_file(&self.arguments.log, &mut unread) };
            for why in unread.drain(..) {
                self.note(&why);
            }
            match checks::inspect(self.arguments.home(), depth, first, self.until) {
                Ok(inspection) => {
                    self.keep(root, ring, entry, &inspection, depth, writer);
                    last = Some(inspection);
                }
                Err(error) => {
                    self.note(&format!("nothing was checked: {}", CannotLook(error).in_words()));
                    break;
                }
            }
        }
        last
    }

    fn keep(
        &mut self,
        root: &DataDir,
        ring: &Ring,
        entry: &mut RingEntry,
        inspection: &Inspection,
        depth: Depth,
        writer: Option<&Writer>,
    ) {
        let checked = match (depth, inspection.is_interrupted()) {
            (Depth::Quick, true) => Checked::Nothing,
            (Depth::Quick, false) => Checked::Quick,
            (_, true) => Checked::Partly,
            (_, false) => Checked::Everything,
        };
        kept::fill(entry, inspection, checked.max(entry.checked));
        let findings: Vec<Finding> = inspection.findings().filter(|finding| kept::is_wrong(finding)).cloned().collect();
        for finding in &findings {
            self.say(checks::line(self.format(), finding));
        }
        let looked = match checked {
            Checked::Nothing => Looked::NotAtAll,
            Checked::Quick | Checked::Partly => Looked::Quickly,
            Checked::Everything => Looked::AtAll,
        };
        self.found.extend(inspection.findings().cloned());
        kept::carry_on(entry, ring, root, &self.found, looked);
        let format = self.format();
        let mark = &entry.mark;
        for erased in entry.earlier.iter().filter_map(|kept| checks::line_of_erased(format, kept, mark)) {
            self.say(erased);
        }
        let Some(writer) = writer else { return };
        let spots = spots::wanted(root, &findings, entry);
        let budget = self.arguments.max_bytes / PART_OF_RING;
        let written = self.put_all(root, writer, &spots, budget, entry);
        if let Err(error) = written.and_then(|()| writer.describe(entry)) {
            self.ring_fails(&self.arguments.ring(), &error);
        }
    }

    fn make_room(&self, ring: &Ring, entry: &RingEntry, bytes: u64) {
        room::make(&self.arguments.ring(), ring, entry, bytes, self.arguments.keep, self.arguments.max_bytes);
    }

    /// Each line once, however often it is found.
    fn say(&mut self, line: String) {
        if self.said.insert(line.clone()) {
            tell(&Message::Line(line));
        }
    }

    fn ring_fails(&mut self, path: &Path, error: &std::io::Error) {
        if !std::mem::replace(&mut self.ring_failed, true) {
            self.note(&format!("{}: nothing is kept of this start: {error}", path.display()));
        }
    }

    fn conclude(&self, inspection: Option<&Inspection>, entry: &RingEntry, is_kept: bool) {
        let Some(inspection) = inspection else { return };
        let seconds = self.begun.elapsed().max(Duration::from_secs(1)).as_secs();
        let found = conclusion::words(inspection, entry.checked);
        let kept = if is_kept { format!("; entry {} kept", entry.sequence) } else { String::new() };
        let text = format!("{found} in {}{kept}", duration(seconds));
        let scope = conclusion::scope(inspection, entry.checked);
        let line = message::checked(self.format(), inspection.outcome.name(), scope, &text);
        tell(&Message::Line(line));
    }
}
