//! One run of `cargo xtask test`: does step after step, times each, counts tests, and says how to repeat a failed one.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// A command of this machine, as a person could type it.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    variables: Vec<(String, String)>,
    words: Vec<String>,
}

impl Line {
    /// From words separated by spaces; none of them may hold a space itself.
    pub(crate) fn new(words: &str) -> Self {
        Self { variables: Vec::new(), words: words.split_whitespace().map(str::to_owned).collect() }
    }

    /// With one environment variable.
    pub(crate) fn with(mut self, variable: &str, value: &str) -> Self {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// What to type to do the same by hand.
    pub(crate) fn typed(&self) -> String {
        let quoted = |value: &str| if value.contains(' ') { format!("'{value}'") } else { value.to_owned() };
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={} ", quoted(value)));
        variables.collect::<String>() + &self.words.join(" ")
    }

    /// The command, at the root of the repository and without standard input.
    pub(crate) fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or("true", String::as_str));
        command.args(words).envs(self.variables.iter().cloned());
        command.current_dir(crate::tidy::root()).stdin(Stdio::null());
        command
    }
}

/// How many tests the test runners reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tests {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tests {
    /// Adds what one line of output reports, if it is the summary of a test binary.
    fn read(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ").and_then(|(_, rest)| rest.split_once(". ")) else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

/// What was done so far.
#[derive(Debug, Default)]
pub(crate) struct Session {
    done: Vec<(String, Duration, &'static str)>,
    tests: Tests,
}

impl Session {
    /// Does one step and times it.
    pub(crate) fn step(&mut self, name: &str, repeat: &str, work: impl FnOnce(&mut Tests) -> Result<()>) -> Result<()> {
        println!("── {name}: {repeat}");
        let begun = Instant::now();
        let outcome = work(&mut self.tests);
        let took = begun.elapsed();
        let result = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("── {name}: {result}, {:.1} s", took.as_secs_f64());
        self.done.push((name.to_owned(), took, result));
        outcome.with_context(|| format!("{name} failed; repeat it with: {repeat}"))
    }

    /// Runs one command as a step.
    pub(crate) fn command(&mut self, name: &str, line: &Line) -> Result<()> {
        self.step(name, &line.typed(), |_| succeed(line))
    }

    /// Runs one command as a step, showing its output and counting the tests that it reports.
    pub(crate) fn counted(&mut self, name: &str, line: &Line) -> Result<()> {
        self.step(name, &line.typed(), |tests| {
            let mut child = line.command().stdout(Stdio::piped()).spawn().with_context(|| line.typed())?;
            let output = child.stdout.take().context("no output to read")?;
            for bytes in BufReader::new(output).split(b'\n') {
                let text = String::from_utf8_lossy(&bytes?).into_owned();
                println!("{text}");
                tests.read(&text);
            }
            let status = child.wait()?;
            if !status.success() {
                bail!("{status}");
            }
            Ok(())
        })
    }

    /// The times, and as the last line the test counts. A failed step without failed tests counts as one failure.
    pub(crate) fn summary(&self) -> String {
        let row = |name: &str, took: Duration| format!("  {name:<26} {:>7.1} s", took.as_secs_f64());
        let mut rows: Vec<String> =
            self.done.iter().map(|(name, took, result)| format!("{}  {result}", row(name, *took))).collect();
        rows.push(row("in all", self.done.iter().map(|(_, took, _)| *took).sum()));
        let a_step_failed = self.done.iter().any(|(_, _, result)| *result != "ok");
        let failed = self.tests.failed.max(u64::from(a_step_failed));
        rows.push(format!("{} passed, {failed} failed", self.tests.passed));
        rows.join("\n")
    }
}

/// Runs a command to its end.
pub(crate) fn succeed(line: &Line) -> Result<()> {
    let status = line.command().status().with_context(|| format!("`{}` could not be started", line.typed()))?;
    if !status.success() {
        bail!("{status}");
    }
    Ok(())
}

/// Runs a command quietly for at most `limit`; says why it did not succeed.
pub(crate) fn succeed_within(limit: Duration, line: &Line) -> Result<()> {
    // A process group of its own, so that what the command started ends with it.
    let mut command = line.command();
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().with_context(|| line.typed())?;
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("{status}"),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    succeed(&Line::new(&format!("kill -s KILL -- -{}", child.id())))?;
    child.wait()?;
    bail!("no answer within {} s", limit.as_secs())
}

/// What a command prints on standard output, if it succeeds.
pub(crate) fn output_of(line: &Line) -> Option<String> {
    let output = line.command().stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Line, Session, Tests, succeed_within};

    #[test]
    fn the_summaries_of_test_binaries_are_added_up() {
        let mut tests = Tests::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ] {
            tests.read(line);
        }
        assert_eq!(tests, Tests { passed: 15, failed: 2 });
    }

    #[test]
    fn a_step_that_fails_names_the_command_and_counts_as_a_failure() {
        let mut session = Session::default();
        session.command("good", &Line::new("true")).unwrap();
        let error = session.command("bad", &Line::new("false").with("FLAGS", "-D warnings")).unwrap_err();
        assert_eq!(error.to_string(), "bad failed; repeat it with: FLAGS='-D warnings' false");
        assert!(session.summary().ends_with("\n0 passed, 1 failed"));
    }

    #[test]
    fn a_command_over_its_limit_is_ended() {
        let error = succeed_within(Duration::ZERO, &Line::new("nice sleep 60")).unwrap_err();
        assert_eq!(error.to_string(), "no answer within 0 s");
    }
}
