//! What is done one after the other, and what is measured meanwhile.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use futures::{TryStreamExt, stream};
use kube::Client;
use tokio::time::{Instant, sleep};

use super::{
    chain::Chain,
    figures::{Times, mebibytes},
    fleet::{Size, workload},
    kubelet::Victim,
    observer::Observer,
    operator::{ACCOUNT, Operator},
    process::{Meter, Usage, usage},
};
use crate::audit::{self, Asked};

pub(super) struct Bench {
    pub(super) client: Client,
    pub(super) chain: Chain,
    pub(super) size: Size,
    pub(super) audit: PathBuf,
    pub(super) loopbreaker: PathBuf,
    pub(super) kubeconfig: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) looping: u32,
    pub(super) spread: Duration,
    pub(super) rest: Duration,
    pub(super) crashes: u32,
}

/// A stretch of time.
#[derive(Debug, Clone, Default)]
pub(super) struct Stretch {
    pub(super) name: &'static str,
    pub(super) seconds: f64,
    pub(super) usage: Usage,
    pub(super) cpu_seconds: f64,
    pub(super) rss_max_bytes: u64,
    pub(super) asked: BTreeMap<Asked, usize>,
}

impl Stretch {
    /// Requests of these kinds.
    pub(super) fn count(&self, of: impl Fn(&Asked) -> bool) -> usize {
        self.asked.iter().filter(|(asked, _)| of(asked)).map(|(_, count)| count).sum()
    }

    /// Requests that change something, but for the Lease's renewal.
    pub(super) fn writes(&self) -> usize {
        self.count(|asked| asked.writes() && !asked.is_of_leases())
    }
}

impl std::fmt::Display for Stretch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rss, most) = (mebibytes(self.usage.rss_bytes), mebibytes(self.rss_max_bytes));
        let all = self.count(|_| true);
        write!(
            f,
            "{}: {:.0} s, RSS {rss} (at most {most}), {:.2} s of CPU, {} files, {all} requests, {} writes",
            self.name,
            self.seconds,
            self.cpu_seconds,
            self.usage.files,
            self.writes()
        )
    }
}

/// All that was measured.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) ready: Duration,
    pub(super) leads: Duration,
    pub(super) stretches: Vec<Stretch>,
    pub(super) to_record: Times,
    pub(super) to_verdict: Times,
    pub(super) record_to_verdict: Times,
    pub(super) incidents: usize,
    pub(super) early: usize,
    pub(super) hurried_crashes: usize,
    pub(super) hurried_seconds: f64,
    pub(super) logs_missed: f64,
    pub(super) errors: f64,
    pub(super) handover: Duration,
    pub(super) takeover: Duration,
}

impl Bench {
    pub(super) async fn run(&self, said: impl Fn(&str)) -> Result<Told> {
        let mut told = Told::default();
        let observer = Observer::start(&self.client);
        said("the operator starts");
        let mut first = self.operator("operator-a", 18_080)?;
        (told.ready, told.leads) = {
            let begins = self.stretch_begins(&first)?;
            let times = first.until_ready().await?;
            sleep(Duration::from_secs(20)).await;
            told.stretches.push(self.stretch_ends("start", &first, begins)?);
            times
        };
        said("at rest, all nodes healthy");
        told.stretches.push(self.rest("at rest, all healthy", &first).await?);

        said("replicas begin to crash");
        let victims = self.victims();
        let begins = self.stretch_begins(&first)?;
        let first_crash = Instant::now() + Duration::from_secs(1);
        for (at, victim) in (0..self.looping).zip(&victims) {
            let begins = first_crash + self.spread.mul_f64(f64::from(at) / f64::from(self.looping.max(1)));
            tokio::spawn(victim.clone().crash_for_ever(self.client.clone(), self.chain.clone(), begins));
        }
        self.until_all_are_judged(&observer, &said).await?;
        told.stretches.push(self.stretch_ends("incidents open and are judged", &first, begins)?);
        latencies(&victims, &observer, &mut told);

        said("at rest, the same replicas go on crashing");
        sleep(Duration::from_secs(5)).await;
        told.stretches.push(self.rest("at rest, the same crash on", &first).await?);
        said("an hour of crashes in a hurry");
        self.hurry(&victims, &first, &mut told).await?;
        told.stretches.push(self.rest("at rest after it", &first).await?);
        told.logs_missed = first.metric("loopbreaker_logs_missed_total").await.unwrap_or_default();
        told.errors = first.metric("loopbreaker_errors_total").await.unwrap_or_default();

        said("leadership goes over");
        let mut second = self.operator("operator-b", 18_081)?;
        sleep(Duration::from_secs(30)).await;
        let asked = Instant::now();
        let (ended, leads) = tokio::join!(first.process.end(), second.until_it_leads());
        ended?;
        told.handover = leads? - asked;
        let third = self.operator("operator-c", 18_082)?;
        sleep(Duration::from_secs(30)).await;
        let killed = Instant::now();
        second.process.kill().await?;
        told.takeover = third.until_it_leads().await? - killed;
        Ok(told)
    }

    fn operator(&self, identity: &str, port: u16) -> Result<Operator> {
        Operator::start(&self.loopbreaker, &self.kubeconfig, &self.folder, identity, port)
    }

    /// Every third workload has one, so that no policy has as many as make a storm.
    fn victims(&self) -> Vec<Victim> {
        let step = (self.size.workloads / self.looping.max(1)).max(1);
        let numbers = self.size.all().filter(|number| number % step == 0);
        let chosen = numbers.map(|number| {
            let ordinal = number % self.size.replicas(number);
            Victim::new(self.size.namespace(number), format!("{}-{ordinal}", workload(number)))
        });
        chosen.take(usize::try_from(self.looping).unwrap_or(usize::MAX)).collect()
    }

    async fn rest(&self, name: &'static str, operator: &Operator) -> Result<Stretch> {
        let begins = self.stretch_begins(operator)?;
        sleep(self.rest).await;
        self.stretch_ends(name, operator, begins)
    }

    fn stretch_begins(&self, operator: &Operator) -> Result<(Instant, Usage, u64, Meter)> {
        let id = operator.process.id()?;
        Ok((Instant::now(), usage(id)?, audit::end(&self.audit), Meter::start(id)))
    }

    fn stretch_ends(
        &self,
        name: &'static str,
        operator: &Operator,
        (begun, before, from, meter): (Instant, Usage, u64, Meter),
    ) -> Result<Stretch> {
        let now = usage(operator.process.id()?)?;
        let requests = audit::read(&self.audit, from, |account| account == ACCOUNT)?;
        let stretch = Stretch {
            name,
            seconds: begun.elapsed().as_secs_f64(),
            usage: now,
            cpu_seconds: now.cpu_seconds - before.cpu_seconds,
            rss_max_bytes: meter.max(),
            asked: audit::counts(&requests),
        };
        println!("         {stretch}");
        Ok(stretch)
    }

    async fn until_all_are_judged(&self, observer: &Observer, said: &impl Fn(&str)) -> Result<()> {
        let wanted = usize::try_from(self.looping)?;
        let limit = Instant::now() + self.spread + Duration::from_mins(15);
        let mut before = 0;
        while observer.at_rest() < wanted {
            if Instant::now() > limit {
                said(&format!(
                    "only {} of {wanted} incidents have come to rest; it goes on all the same",
                    observer.at_rest()
                ));
                break;
            }
            if observer.at_rest() >= before + 20 {
                before = observer.at_rest();
                said(&format!("{} records, {before} of {wanted} at rest", observer.len()));
            }
            sleep(Duration::from_millis(500)).await;
        }
        Ok(())
    }

    async fn hurry(&self, victims: &[Victim], operator: &Operator, told: &mut Told) -> Result<()> {
        let begins = self.stretch_begins(operator)?;
        let begun = Instant::now();
        stream::iter(victims.iter().map(Ok::<_, anyhow::Error>))
            .try_for_each_concurrent(16, |victim| victim.crash_fast(&self.client, &self.chain, self.crashes))
            .await
            .context("crash in a hurry")?;
        told.hurried_seconds = begun.elapsed().as_secs_f64();
        told.hurried_crashes = victims.len() * usize::try_from(self.crashes)?;
        sleep(Duration::from_secs(30)).await;
        told.stretches.push(self.stretch_ends("an hour of crashes in a hurry", operator, begins)?);
        Ok(())
    }
}

fn latencies(victims: &[Victim], observer: &Observer, told: &mut Told) {
    let seen: Vec<_> = victims.iter().map(|victim| (victim, observer.of(&victim.namespace, &victim.pod))).collect();
    told.incidents = observer.len();
    told.early = seen.iter().filter(|(victim, seen)| victim.decided() > seen.opened).count();
    let after = |from: Option<Instant>, to: Option<Instant>| Some(to?.saturating_duration_since(from?));
    told.to_record = seen.iter().filter_map(|(victim, seen)| after(victim.decided(), seen.opened)).collect();
    told.to_verdict = seen.iter().filter_map(|(_, seen)| after(seen.inspected, seen.judged)).collect();
    told.record_to_verdict = seen.iter().filter_map(|(_, seen)| after(seen.opened, seen.judged)).collect();
}
