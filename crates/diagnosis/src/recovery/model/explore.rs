//! Every state that can be reached, breadth first; the first broken promise with the shortest way to it.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
};

use super::super::{
    Command, Consent, ForcedRelease, Kept, OnExpiry, OnFailure, Orders, Patience, Reclaim, Record, Stage, Switch, Undo,
    next,
};
use super::{
    deeds::done,
    kube::{Kube, ORIGINAL, uid},
    people, promises, surroundings,
};
use crate::Uid;

/// How often each thing may happen in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    edits: u8,
    doubled: u8,
    deadlines: u8,
}

impl Budget {
    pub(super) const FULL: Self = Self { edits: 1, doubled: 1, deadlines: 1 };
    /// Enough to see what a guard is for.
    pub(super) const ONE_DEED: Self = Self { edits: 1, doubled: 0, deadlines: 0 };
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    kube: Kube,
    record: Record,
    orders: Orders,
    /// A command that was decided on, and by which record: it arrives later, or, after a lost response, once more.
    under_way: Option<(Command, Record)>,
    left: Budget,
    /// The time for tidying up has passed.
    gave_up: bool,
}

/// What was found.
pub(super) struct Explored {
    pub(super) states: usize,
    pub(super) steps: usize,
    /// The stages that were reached in which nothing more happens.
    pub(super) ends: BTreeSet<String>,
    pub(super) broken: Option<String>,
    pub(super) uids: u8,
}

const STATES_MAX: usize = 3_000_000;

pub(super) fn explore(claim_rule: bool, budget: Budget) -> Explored {
    let record = Record::begin(uid("claim", 1), Kept { volume: Uid::new(ORIGINAL), reclaim_before: Reclaim::Delete });
    let orders = Orders {
        switch: Switch::GoOn,
        consent: Consent::NotNeeded,
        undo: Undo::NotAsked,
        release: ForcedRelease::NotAsked,
        on_failure: OnFailure::Undo,
        on_expiry: OnExpiry::Delete,
    };
    let first = State { kube: Kube::sick(claim_rule), record, orders, under_way: None, left: budget, gave_up: false };
    let mut search = Search {
        index: HashMap::new(),
        rests: Vec::new(),
        uids: 0,
        came: Vec::new(),
        queue: VecDeque::new(),
        ends: BTreeSet::new(),
        steps: 0,
        back: Vec::new(),
    };
    search.reach(first, None);
    let mut broken = None;
    while let Some((number, state)) = search.queue.pop_front() {
        if let Some(promise) = promises::broken_by(&state.kube, &state.record, state.gave_up) {
            broken = Some(search.story(number, promise, Some(&state)));
            break;
        }
        if let Err(promise) = search.follow(number, &state) {
            broken = Some(search.story(number, promise, Some(&state)));
            break;
        }
        if search.index.len() > STATES_MAX {
            broken = Some(search.story(number, "P12: there is no end of states", Some(&state)));
            break;
        }
    }
    if broken.is_none() {
        broken = search.stuck();
    }
    Explored { uids: search.uids, states: search.index.len(), steps: search.steps, ends: search.ends, broken }
}

struct Search {
    /// States by a hash of 128 bits: two of two millions meet in one of 10²⁶ runs, and whole states fill the memory.
    index: HashMap<u128, usize>,
    /// Whether nothing more need happen in each.
    rests: Vec<bool>,
    uids: u8,
    /// By which step each state was reached first.
    came: Vec<Option<(usize, String)>>,
    queue: VecDeque<(usize, State)>,
    ends: BTreeSet<String>,
    steps: usize,
    /// From where each state can be reached, by steps that need nobody else.
    back: Vec<Vec<usize>>,
}

impl Search {
    fn reach(&mut self, state: State, from: Option<(usize, String, bool)>) {
        let key = fingerprint(&state);
        let known = self.index.get(&key).copied();
        let number = known.unwrap_or(self.came.len());
        if let Some((source, _, alone)) = &from
            && *alone
            && *source != number
        {
            if self.back.len() <= number {
                self.back.resize(number + 1, Vec::new());
            }
            self.back[number].push(*source);
        }
        if known.is_none() {
            self.came.push(from.map(|(source, step, _)| (source, step)));
            if self.back.len() <= number {
                self.back.resize(number + 1, Vec::new());
            }
            self.index.insert(key, number);
            self.uids = self.uids.max(state.kube.next_uid);
            let expires_later = state.record.stage == Stage::Quarantine && state.orders.switch == Switch::Stop;
            self.rests.push(expires_later || matches!(state.record.stage, Stage::Ended(_) | Stage::Blocked));
            self.queue.push_back((number, state));
        }
    }

    fn follow(&mut self, number: usize, state: &State) -> Result<(), &'static str> {
        for (name, kube) in surroundings::moves(&state.kube) {
            self.step(number, name.to_owned(), State { kube, ..state.clone() }, true);
        }
        if state.left.edits > 0 {
            let left = Budget { edits: state.left.edits - 1, ..state.left };
            for (name, kube, orders) in people::deeds(&state.kube, state.orders, state.record.stage) {
                self.step(number, name.to_owned(), State { kube, orders, left, ..state.clone() }, false);
            }
        }
        if let Some((command, by)) = &state.under_way {
            self.arrive(number, state, command, by);
            return Ok(());
        }
        let world = state.kube.world(&state.record);
        let command = next(&state.record, &world, state.orders);
        if let Some(promise) = promises::broken_by_deciding(&state.kube, &state.record, state.orders, &command) {
            return Err(promise);
        }
        match command {
            Command::Wait | Command::Rest => {
                if command == Command::Rest || state.record.stage == Stage::Blocked {
                    self.ends.insert(format!("{:?}", state.record.stage));
                }
                // Time passes where something is waited for: always possible, and told apart from what needs people.
                if state.record.patience == Patience::Left && command == Command::Wait {
                    let record = Record { patience: Patience::Over, ..state.record.clone() };
                    let gave_up = matches!(record.stage, Stage::TidyingUp(_));
                    self.step(number, "time passes".to_owned(), State { record, gave_up, ..state.clone() }, true);
                }
            }
            command => {
                let name = format!("decides {command:?}");
                let under_way = Some((command, state.record.clone()));
                self.step(number, name, State { under_way, ..state.clone() }, true);
                if state.left.deadlines > 0 && state.record.patience == Patience::Left {
                    let record = Record { patience: Patience::Over, ..state.record.clone() };
                    let left = Budget { deadlines: state.left.deadlines - 1, ..state.left };
                    let gave_up = matches!(record.stage, Stage::TidyingUp(_));
                    self.step(
                        number,
                        "time has passed".to_owned(),
                        State { record, left, gave_up, ..state.clone() },
                        false,
                    );
                }
            }
        }
        Ok(())
    }

    /// A command arrives; its answer may be lost, so that it arrives once more; or the operator dies before it is sent.
    fn arrive(&mut self, number: usize, state: &State, command: &Command, by: &Record) {
        let after = match command {
            Command::Write(note) => {
                (*by == state.record).then(|| State { record: state.record.with(note), ..state.clone() })
            }
            _ => done(&state.kube, by, command).map(|kube| State { kube, ..state.clone() }),
        };
        let after = after.unwrap_or_else(|| state.clone());
        self.step(number, format!("arrives {command:?}"), State { under_way: None, ..after.clone() }, true);
        if state.left.doubled > 0 {
            let left = Budget { doubled: state.left.doubled - 1, ..state.left };
            self.step(number, format!("arrives, and will again: {command:?}"), State { left, ..after }, false);
            self.step(number, "is lost".to_owned(), State { under_way: None, left, ..state.clone() }, false);
        }
    }

    fn step(&mut self, from: usize, name: String, state: State, alone: bool) {
        self.steps += 1;
        self.reach(state, Some((from, name, alone)));
    }

    /// P12: from every state an end, or the wait for a human in `Blocked`, can be reached without anybody's help. While the
    /// kill switch is on, no quarantine runs out.
    fn stuck(&self) -> Option<String> {
        let mut reaches = vec![false; self.came.len()];
        let mut queue: Vec<usize> = (0..self.rests.len()).filter(|number| self.rests[*number]).collect();
        for number in &queue {
            reaches[*number] = true;
        }
        while let Some(number) = queue.pop() {
            for source in &self.back[number] {
                if !reaches[*source] {
                    reaches[*source] = true;
                    queue.push(*source);
                }
            }
        }
        let number = (0..reaches.len()).find(|number| !reaches[*number])?;
        Some(self.story(number, "P12: no end can be reached from here", None))
    }

    fn story(&self, number: usize, promise: &str, state: Option<&State>) -> String {
        let mut steps = Vec::new();
        let mut at = number;
        while let Some((from, step)) = &self.came[at] {
            steps.push(format!("  {step}"));
            at = *from;
        }
        steps.reverse();
        let state = state.map(|state| {
            let decides = next(&state.record, &state.kube.world(&state.record), state.orders);
            format!("  decides {decides:?}\n{state:?}")
        });
        format!("{promise}\n{}\n{}", steps.join("\n"), state.unwrap_or_default())
    }
}

fn fingerprint(state: &State) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, state).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    (half(1) << 64) | half(2)
}
