//! `cargo xtask test`: everything that must hold before a change goes in, in one command. It never stops at the first
//! failure, and counts what it left out as loudly as what failed. Contributors and `.ci/run` call it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;

use crate::{docs, machine, step};

/// Sums of the closing lines of all test runners, plus the steps that are no tests and failed or were left out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    /// Adds a runner's closing line; any other line is none of its business.
    fn add_line(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else { return };
        let count = |what: &str| {
            counts.split([';', '.']).find_map(|part| part.trim().strip_suffix(what)?.trim().parse::<usize>().ok())
        };
        self.passed += count(" passed").unwrap_or(0);
        self.failed += count(" failed").unwrap_or(0);
        self.skipped += count(" ignored").unwrap_or(0);
    }

    /// Tests that returned early because a program is missing were counted as passed by their runner.
    fn move_skipped(&mut self, skips: &[String]) {
        let mut tests: Vec<&str> =
            skips.iter().filter_map(|line| line.strip_prefix("skipped: ")?.split(' ').next()).collect();
        tests.sort_unstable();
        tests.dedup();
        self.passed = self.passed.saturating_sub(tests.len());
        self.skipped += tests.len();
    }
}

/// Runs all steps.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let may_install = !args.iter().any(|arg| arg == "--no-install");
    let mut words = args.iter().filter(|arg| *arg != "--no-install");
    let (filter, rest) = (words.next(), words.next());
    if rest.is_some() || filter.is_some_and(|filter| filter.starts_with('-')) {
        bail!("usage: cargo xtask test [--no-install] [filter]");
    }

    let started = Instant::now();
    let mut tally = Tally::default();
    step::timed("programs that tests need", || machine::prepare(may_install));
    if filter.is_none() {
        component(&mut tally, "fmt", "format", &["fmt", "--all", "--check"]);
        let lints = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
        component(&mut tally, "clippy", "lints", &lints);
    }
    chore(&mut tally, "test helpers", || {
        step::run(&mut step::cargo(["build", "--quiet", "--package", "testkit", "--bin", "misfit"]))
    });
    step::timed("tests", || tests(&mut tally, filter));
    if filter.is_none() {
        chore(&mut tally, "docs", || docs::run(&["--check".into()]));
    }

    println!("\ntotal time: {}", step::seconds(started.elapsed()));
    println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped);
    if tally.failed > 0 {
        bail!("not all is well");
    }
    Ok(())
}

/// A step that needs a part of the toolchain which a machine may lack.
fn component(tally: &mut Tally, subcommand: &str, name: &str, args: &[&str]) {
    if step::quiet(&mut step::cargo([subcommand, "--version"])).is_none() {
        println!("\nskipped: {name} (needs cargo {subcommand})");
        tally.skipped += 1;
        return;
    }
    chore(tally, name, || step::run(&mut step::cargo(args.iter().copied())));
}

/// A step that is no test: its failure counts as one, its success is not counted.
fn chore(tally: &mut Tally, name: &str, work: impl FnOnce() -> anyhow::Result<()>) {
    if let Err(error) = step::timed(name, work) {
        println!("FAILED: {name}: {error:#}");
        tally.failed += 1;
    }
}

fn tests(tally: &mut Tally, filter: Option<&String>) {
    let skips = skips_file();
    let _ = std::fs::remove_file(&skips);
    let mut command = step::cargo(["test", "--workspace", "--no-fail-fast"]);
    command.args(filter).env("LAZYAGENTS_SKIPS", &skips);
    let before = tally.failed;
    let mut named = Vec::new();
    let ended_well = step::read_lines(&mut command, |line| {
        println!("{line}");
        tally.add_line(line);
        named.extend(failed_name(line));
    });
    let skipped = take_skips(&skips);
    for line in &skipped {
        println!("{line}");
    }
    tally.move_skipped(&skipped);
    match ended_well {
        Ok(true) => {}
        // A crash or a compile error has no closing line.
        Ok(false) if tally.failed == before => {
            println!("FAILED: cargo test ended before its tests did");
            tally.failed += 1;
        }
        Ok(false) if tally.failed - before == named.len() && named.len() <= RUN_AGAIN => again(tally, &named),
        Ok(false) => {}
        Err(error) => {
            println!("FAILED: {error:#}");
            tally.failed += 1;
        }
    }
}

/// So many failed tests are tried once more, alone: tests in real terminals depend on the machine's pace, and two busy
/// cores are no proof of a fault. It is said and counted, never hidden; the conformance suites are run the same way.
const RUN_AGAIN: usize = 3;

/// The name in `test NAME ... FAILED`.
fn failed_name(line: &str) -> Option<String> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_owned)
}

fn again(tally: &mut Tally, named: &[String]) {
    println!("\nonce more, alone: {}", named.join(" "));
    let mut second = Tally::default();
    let mut command = step::cargo(["test", "--workspace", "--no-fail-fast", "--", "--exact", "--test-threads=1"]);
    command.args(named);
    let ended_well = step::read_lines(&mut command, |line| {
        // The closing lines of the second run must not be taken for those of the first.
        if !line.starts_with("test result:") {
            println!("{line}");
        }
        second.add_line(line);
    });
    if matches!(ended_well, Ok(true)) && second.passed >= named.len() {
        println!("passed on the second run: {}", named.join(" "));
        tally.failed -= named.len();
        tally.passed += named.len();
    }
}

fn skips_file() -> PathBuf {
    std::env::temp_dir().join(format!("lazyagents-skips-{}", std::process::id()))
}

fn take_skips(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_test_is_known_by_its_name() {
        assert_eq!(failed_name("test a::b ... FAILED").as_deref(), Some("a::b"));
        assert_eq!(failed_name("test a::b ... ok"), None);
    }

    #[test]
    fn closing_lines_are_summed() {
        let mut tally = Tally::default();
        tally
            .add_line("test result: ok. 41 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 2.11s");
        tally.add_line("test a::test_result ... ok");
        tally.add_line("test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 9 filtered out");
        assert_eq!(tally, Tally { passed: 43, failed: 3, skipped: 1 });
    }

    #[test]
    fn a_test_that_lacks_two_programs_is_skipped_once() {
        let mut tally = Tally { passed: 10, failed: 0, skipped: 0 };
        tally.move_skipped(&["skipped: a::b needs jq".into(), "skipped: a::b needs tmux".into()]);
        assert_eq!(tally, Tally { passed: 9, failed: 0, skipped: 1 });
    }
}
