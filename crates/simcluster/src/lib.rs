//! A Kubernetes cluster in memory and in virtual time. *No network, no wall clock.* (P1, P8, P11: what they are tried on)
//!
//! The same operator code that runs in production runs here against an API server that keeps its rules (versions, UIDs,
//! preconditions, finalizers, conflicts, watches that break) and against models of everything that moves around a chain
//! node: StatefulSet controller, cosmos-operator, scheduler, kubelet, volume binder and provisioner, snapshot controller,
//! Job controller, protection and garbage collection. Volumes have content, so a wrong decision shows as lost data.
//!
//! ```no_run
//! # use std::time::Duration;
//! # use simcluster::{Damage, World, simulate};
//! simulate(async {
//!     let world = World::new(7);
//!     world.chain("osmosis-1", 1_000, Duration::from_secs(5));
//!     world.stateful_set("cosmos", "osmo").chain("osmosis-1").create();
//!     world.run_for(Duration::from_secs(60)).await;
//!     world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", "panic: leveldb/table: corruption on data-block"));
//!     world.run_for(Duration::from_secs(3600)).await;
//!     assert_eq!(world.replica("cosmos", "osmo-1").waits.as_deref(), Some("CrashLoopBackOff"));
//! })
//! # .unwrap();
//! ```
//!
//! # Replaying a seed
//!
//! [`World::new`] takes the seed. It decides every delay, jitter, made-up name and tie in here; nothing depends on a hash
//! order, a thread or the real time. So the same story with the same seed gives the same [`World::trace`], on every machine:
//! put the seed of a failing run into its test and read the trace. That holds for whoever acts in a fixed order. kube's
//! `Controller` and `tokio::select!` do not: they draw from the operating system's entropy (hash maps, fair polling). A
//! *test* makes them repeatable by defining libc's `getrandom` from the seed and running each case in a fresh thread, see
//! `tests/determinism.rs`; the product never does.
//!
//! # Left out
//!
//! Authentication, namespaces that terminate, CEL rules of definitions (the `api` crate's tests run them), subresources
//! other than `status` and `log`, quotas by resource use, taints and eviction, endpoints and services, expansion of volumes.
//! Events of the two Event groups are kept apart, where a real API server shows each in both.
//!
//! Modules from the outside in:

mod world;

mod service;

mod watching;

mod faults;

mod trace;

mod cluster;

mod agenda;

mod desk;

mod server;

mod models;

mod outside;

mod program;

mod object;

mod clock;

pub use cluster::{Observer, Seen, View};
pub use faults::{Fault, Requests, WatchFault};
pub use object::Fields;
pub use outside::{Chain, Course, Damage, End, Heights, Run, Signing, Stop, Upgrade, Volume, VolumeContent};
pub use program::{Ailment, Inspection, Program, Report, Start};
pub use server::{Call, Change, Event, Key, PatchKind, Refusal, ResourceName, Verb};
pub use trace::Entry;
pub use world::{
    Ended, FullNodeBuilder, HUMAN, OPERATOR, Refused, Replica, SnapshotBuilder, StatefulSetBuilder, Which, World,
    simulate,
};
