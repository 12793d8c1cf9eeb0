//! Whatever is written down, whatever is so, and whatever people want, possible or not: no command that can lose something
//! unless every guard holds, written here a second time. (The states that *can* be reached are explored in `model`.)

use proptest::{prelude::*, sample::select};

use super::*;
use crate::Uid;

fn uid(name: &str) -> Uid {
    Uid::new(name)
}

fn uids() -> impl Strategy<Value = Uid> {
    select(vec!["a", "b", "c", "d"]).prop_map(uid)
}

fn stages() -> impl Strategy<Value = Stage> {
    let why = Why::ToldToStop;
    select(vec![
        Stage::Restoring,
        Stage::Proving,
        Stage::AwaitingApproval,
        Stage::Confirming,
        Stage::Detaching,
        Stage::Swapping,
        Stage::Returning(why),
        Stage::Starting,
        Stage::Soaking,
        Stage::Quarantine,
        Stage::Blocked,
        Stage::TidyingUp(End::Recovered),
        Stage::TidyingUp(End::Held(why)),
        Stage::TidyingUp(End::Abandoned(why)),
        Stage::TidyingUp(End::RolledBack),
        Stage::TidyingUp(End::NeedsHuman(why)),
        Stage::Ended(End::Recovered),
    ])
}

fn kept() -> impl Strategy<Value = Kept> {
    (uids(), select(vec![Reclaim::Delete, Reclaim::Retain]))
        .prop_map(|(volume, reclaim_before)| Kept { volume, reclaim_before })
}

fn records() -> impl Strategy<Value = Record> {
    let carried = prop_oneof![Just(Carried::NotYet), uids().prop_map(Carried::Under)];
    let flags = (
        stages(),
        select(vec![Patience::Left, Patience::Over]),
        select(vec![Direction::Forth, Direction::Back]),
        select(vec![Proof::Open, Proof::Stands]),
        carried,
    );
    let names = (uids(), kept(), prop::option::of(uids()), prop::option::of(kept()));
    (flags, names).prop_map(|((stage, patience, direction, proof, carried), (claim, original, source, replacement))| {
        Record { stage, patience, direction, claim, original, source, bad: Vec::new(), replacement, proof, carried }
    })
}

fn claims() -> impl Strategy<Value = ClaimNow> {
    let binding = prop_oneof![Just(Binding::Pending), Just(Binding::Broken), uids().prop_map(Binding::To)];
    let there = (uids(), binding, select(vec![Life::Stays, Life::Terminating]))
        .prop_map(|(uid, binding, life)| ClaimNow::There { uid, binding, life });
    prop_oneof![1 => Just(ClaimNow::Absent), 4 => there]
}

fn volumes() -> impl Strategy<Value = VolumeNow> {
    let reserved = prop_oneof![
        Just(Reserved::ForAnybody),
        Just(Reserved::ForTheName),
        Just(Reserved::ForTheTemporary),
        Just(Reserved::ForNobody),
        uids().prop_map(Reserved::For),
    ];
    let phases = select(vec![VolumePhase::Available, VolumePhase::Bound, VolumePhase::Released]);
    let there = (reserved, select(vec![Reclaim::Delete, Reclaim::Retain]), phases)
        .prop_map(|(reserved, reclaim, phase)| VolumeNow::There { reserved, reclaim, phase });
    prop_oneof![1 => Just(VolumeNow::Absent), 6 => there]
}

fn worlds() -> impl Strategy<Value = World> {
    let there = (uids(), select(vec![Kin::Ours, Kin::Foreign]), select(vec![Life::Stays, Life::Terminating]))
        .prop_map(|(uid, kin, life)| PodNow::There { uid, kin, life });
    let pods = prop_oneof![2 => Just(PodNow::Ended), 1 => Just(PodNow::Vanished), 2 => there];
    let holds =
        prop_oneof![Just(HoldNow::Impossible), Just(HoldNow::Off), Just(HoldNow::Coming), uids().prop_map(HoldNow::On)];
    let jobs = || select(vec![JobNow::Absent, JobNow::Running, JobNow::Yes, JobNow::No, JobNow::Stale]);
    let objects = (claims(), claims(), pods, volumes(), volumes(), holds, jobs(), jobs());
    let rest = (
        select(vec![Reservations::OnlyOurs, Reservations::Others]),
        prop::collection::vec(uids(), 0..3),
        select(vec![Fit::Fits, Fit::DoesNotFit]),
        select(vec![Way::Free, Way::Barred]),
        select(vec![Confirmation::Stale, Confirmation::Allows, Confirmation::Forbids]),
        select(vec![NodeNow::Sick, NodeNow::Advances, NodeNow::Gone]),
    );
    (objects, rest).prop_map(|(objects, (reservations, sources, fit, way, confirmation, node))| {
        let (claim, temporary, pod, original, replacement, hold, prover, carrier) = objects;
        World {
            claim,
            temporary,
            pod,
            original,
            replacement,
            reservations,
            hold,
            prover,
            carrier,
            sources,
            fit,
            way,
            confirmation,
            node,
        }
    })
}

fn orders() -> impl Strategy<Value = Orders> {
    let consents = select(vec![Consent::NotNeeded, Consent::Awaited, Consent::Given, Consent::Refused]);
    let parts = (
        select(vec![Switch::GoOn, Switch::Stop, Switch::Leave]),
        consents,
        select(vec![Undo::NotAsked, Undo::Asked]),
        select(vec![ForcedRelease::NotAsked, ForcedRelease::Asked]),
        select(vec![OnFailure::Undo, OnFailure::Stop]),
        select(vec![OnExpiry::Delete, OnExpiry::Keep]),
    );
    parts.prop_map(|(switch, consent, undo, release, on_failure, on_expiry)| Orders {
        switch,
        consent,
        undo,
        release,
        on_failure,
        on_expiry,
    })
}

/// The volumes that leave and come, by the record.
fn ways(record: &Record) -> (Option<&Uid>, Option<&Uid>) {
    let restored = record.replacement.as_ref().map(|kept| &kept.volume);
    match record.direction {
        Direction::Forth => (Some(&record.original.volume), restored),
        Direction::Back => (restored, Some(&record.original.volume)),
    }
}

fn is_retained(volume: &VolumeNow) -> bool {
    matches!(volume, VolumeNow::There { reclaim: Reclaim::Retain, .. })
}

/// Of two volumes with one name in the record the world shows the replacement.
fn shown<'w>(record: &Record, world: &'w World, volume: &Uid) -> Option<&'w VolumeNow> {
    if record.replacement.as_ref().is_some_and(|kept| kept.volume == *volume) {
        return Some(&world.replacement);
    }
    (record.original.volume == *volume).then_some(&world.original)
}

fn may_delete_claim(record: &Record, world: &World, orders: Orders, of: &Uid) -> bool {
    let ClaimNow::There { uid, binding, life: Life::Stays } = &world.claim else { return false };
    let held = matches!(world.hold, HoldNow::On(_));
    if uid != of || !held || world.pod != PodNow::Ended {
        return false;
    }
    let (leaves, comes) = ways(record);
    let waits = |volume: Option<&Uid>| {
        volume.and_then(|volume| shown(record, world, volume)).is_some_and(|volume| {
            matches!(volume, VolumeNow::There { reserved: Reserved::ForTheName, phase: VolumePhase::Available, .. })
        })
    };
    if record.stage != Stage::Swapping {
        // A claim on a third volume, made in our absence: only to bring the old one back, and only by a human's word.
        let third = !matches!(binding, Binding::To(volume) if Some(volume) == leaves || Some(volume) == comes);
        let third = third && *binding != Binding::Pending;
        return third && orders.undo == Undo::Asked && waits(leaves) && world.reservations == Reservations::OnlyOurs;
    }
    let carried = matches!((&record.carried, &world.hold), (Carried::Under(then), HoldNow::On(now)) if then == now);
    let forth = record.direction == Direction::Forth;
    let this_one = *uid == record.claim && matches!(binding, Binding::To(volume) if Some(volume) == leaves);
    let third = !matches!(binding, Binding::To(volume) if Some(volume) == leaves || Some(volume) == comes);
    if third {
        return orders.undo == Undo::Asked
            && *binding != Binding::Pending
            && waits(comes)
            && world.reservations == Reservations::OnlyOurs;
    }
    this_one
        && carried
        && waits(comes)
        && (!forth || (record.proof == Proof::Stands && orders.switch == Switch::GoOn))
        && is_retained(&world.original)
        && is_retained(&world.replacement)
        && world.fit == Fit::Fits
        && world.way == Way::Free
        && world.reservations == Reservations::OnlyOurs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_command_loses_anything_unless_all_of_it_holds(record in records(), world in worlds(), orders in orders()) {
        match next(&record, &world, orders) {
            Command::DeleteClaim { uid } => prop_assert!(may_delete_claim(&record, &world, orders, &uid)),
            Command::DeletePod { uid: of } => {
                let right = matches!(&world.pod, PodNow::There { uid, kin: Kin::Ours, life: Life::Stays } if *uid == of);
                prop_assert!(right && matches!(world.hold, HoldNow::On(_)));
            }
            Command::Drop { volume } => {
                let used = matches!(&world.claim, ClaimNow::There { binding: Binding::To(bound), life: Life::Stays, .. }
                    if *bound == volume);
                prop_assert!(!used);
                let original = record.original.volume == volume
                    && record.replacement.as_ref().is_none_or(|kept| kept.volume != volume);
                let expired = record.stage == Stage::TidyingUp(End::Recovered) && orders.on_expiry == OnExpiry::Delete;
                let unproven = record.stage == Stage::Restoring && record.source.is_none();
                prop_assert!(!original || expired || unproven);
            }
            Command::Release { claim: of, volume: onto } => {
                let bound = matches!(&world.claim, ClaimNow::There { uid, binding: Binding::To(bound), life: Life::Stays }
                    if *uid == of && *bound == onto);
                let back = shown(&record, &world, &onto).is_some_and(|volume| {
                    matches!(volume, VolumeNow::There { reserved: Reserved::For(uid), .. } if *uid == of)
                });
                let known = record.original.volume == onto || record.proof == Proof::Stands;
                prop_assert!(bound && back && known);
            }
            Command::ReleaseByForce => prop_assert_eq!(orders.release, ForcedRelease::Asked),
            Command::SendCarrier => prop_assert_eq!(&world.pod, &PodNow::Ended),
            _ => {}
        }
    }

    #[test]
    fn an_end_is_an_end(record in records(), world in worlds(), orders in orders()) {
        let ended = Record { stage: Stage::Ended(End::RolledBack), ..record };
        prop_assert_eq!(next(&ended, &world, orders), Command::Rest);
    }
}
