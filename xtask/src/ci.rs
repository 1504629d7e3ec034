//! `cargo xtask ci`: the optimised programs, judged by the conformance suites beside the project. It never lets a
//! failure through that `.ci/exceptions` does not name, and hides no second run. `.ci/run` calls it after the tests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::exceptions::{self, Exception};
use crate::suites::{self, Case, Place, SUITES, Suite, Verdict};
use crate::{chores, step};

/// More failures than this are no matter of a busy machine: running them all again would only take long.
const MANY: usize = 15;

#[derive(Debug, Default)]
struct Sum {
    passed: usize,
    second_run: usize,
    excepted: usize,
    skipped: usize,
    /// One line each, for the end.
    failures: Vec<String>,
}

/// `ci`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        bail!("usage: cargo xtask ci");
    }
    let started = Instant::now();
    let listed = std::fs::read_to_string(step::root().join(".ci/exceptions")).unwrap_or_default();
    let exceptions = exceptions::parse(&listed)?;
    let mut sum = Sum::default();
    for exception in &exceptions {
        if !SUITES.iter().any(|suite| suite.name == exception.suite) {
            sum.failures.push(format!(".ci/exceptions: there is no suite named {}", exception.suite));
        }
    }

    let programs = chores::programs();
    let binaries = if programs.is_empty() {
        println!("there is no program to build yet");
        BTreeMap::new()
    } else {
        step::timed("optimised programs", || build(&programs))?
    };
    match suites::folder() {
        None => println!("\nskipped: the conformance suites (../shared/conformance is not there)"),
        Some(folder) => {
            for suite in SUITES {
                judge(suite, &folder, &binaries, &exceptions, &mut sum);
            }
        }
    }

    println!("\ntotal time: {}", step::seconds(started.elapsed()));
    for failure in &sum.failures {
        println!("FAILED: {failure}");
    }
    println!(
        "conformance: {} passed ({} of them on the second run), {} excepted, {} skipped, {} failed",
        sum.passed,
        sum.second_run,
        sum.excepted,
        sum.skipped,
        sum.failures.len()
    );
    if !sum.failures.is_empty() {
        bail!("not all is well");
    }
    Ok(())
}

/// Builds the programs and asks cargo where it put them.
fn build(programs: &[&str]) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let mut command = step::cargo(["build", "--quiet", "--locked", "--profile", "ci", "--bins"]);
    command.arg("--message-format=json-render-diagnostics");
    for program in programs {
        command.args(["--package", program]);
    }
    let mut binaries = BTreeMap::new();
    let built = step::read_lines(&mut command, |line| {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let name = message.pointer("/target/name").and_then(Value::as_str);
        if let (Some(name), Some(path)) = (name, message.get("executable").and_then(Value::as_str)) {
            binaries.insert(name.to_owned(), PathBuf::from(path));
        }
    })?;
    if !built {
        bail!("the programs do not build");
    }
    for program in programs {
        let path = binaries.get(*program).with_context(|| format!("cargo built no {program}"))?;
        let bytes = std::fs::metadata(path).with_context(|| format!("{} is not there", path.display()))?.len();
        println!("{program}: {:.1} MiB", bytes as f64 / f64::from(1 << 20));
    }
    Ok(binaries)
}

fn judge(
    suite: &Suite,
    folder: &std::path::Path,
    binaries: &BTreeMap<String, PathBuf>,
    exceptions: &[Exception],
    sum: &mut Sum,
) {
    let Some(binary) = binaries.get(suite.program) else {
        println!("\nskipped: suite {} ({} does not exist yet)", suite.name, suite.program);
        return;
    };
    let place = Place { binary: binary.clone(), suites: folder.to_owned() };
    if let Some(why) = suite.obstacle(&place) {
        println!("\nskipped: suite {} ({why})", suite.name);
        return;
    }
    let name = format!("suite {}", suite.name);
    let cases = match step::timed(&name, || all(suite, &place)) {
        Ok(cases) => cases,
        Err(error) => return sum.failures.push(format!("{name}: {error:#}")),
    };
    let listed: Vec<&Exception> = exceptions.iter().filter(|exception| exception.suite == suite.name).collect();
    weigh(suite, &cases, &listed, sum, |id| again(suite, &place, id));
}

/// Runs all cases, showing a line for each as it ends.
fn all(suite: &Suite, place: &Place) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut closing = None;
    step::read_lines(&mut suite.all(place), |line| match suites::case(line) {
        Some(case) => {
            let word = match case.verdict {
                Verdict::Pass => "pass",
                Verdict::Fail => "FAIL",
                Verdict::Skip => "skip",
            };
            println!("{word} {}", case.id);
            case.why.lines().for_each(|line| println!("       {line}"));
            cases.push(case);
        }
        None => {
            println!("{line}");
            closing = suites::closing(line).or(closing);
        }
    })?;
    let Some((passed, failed)) = closing else { bail!("it ended before its closing line") };
    let count = |verdict| cases.iter().filter(|case| case.verdict == verdict).count();
    if (passed, failed) != (count(Verdict::Pass), count(Verdict::Fail)) {
        bail!("its closing line says {passed} passed, {failed} failed, but its cases say otherwise");
    }
    Ok(cases)
}

/// One more run of a failed case, alone; `None` when the suite has no such thing.
fn again(suite: &Suite, place: &Place, id: &str) -> Option<Case> {
    let mut command = suite.one(place, id)?;
    let mut found = None;
    // The filter is a part of a name, so others may run too; only this one counts.
    let ran = step::read_lines(&mut command, |line| {
        if let Some(case) = suites::case(line).filter(|case| case.id == id) {
            found = Some(case);
        }
    });
    ran.ok().and(found)
}

/// Counts the cases of one suite, with the exceptions for it, and a way to run a case again.
fn weigh(
    suite: &Suite,
    cases: &[Case],
    listed: &[&Exception],
    sum: &mut Sum,
    mut again: impl FnMut(&str) -> Option<Case>,
) {
    let exception_for = |case: &Case| listed.iter().find(|exception| suite.means(&exception.case, &case.id));
    let failed = cases.iter().filter(|case| case.verdict == Verdict::Fail && exception_for(case).is_none()).count();
    for case in cases {
        let exception = exception_for(case);
        match (case.verdict, exception) {
            (Verdict::Skip, _) => sum.skipped += 1,
            (Verdict::Pass, _) => sum.passed += 1,
            (Verdict::Fail, Some(exception)) => {
                println!("excepted: {} {} ({})", suite.name, case.id, exception.reason);
                sum.excepted += 1;
            }
            (Verdict::Fail, None) if failed > MANY => sum.failures.push(format!("{} {}", suite.name, case.id)),
            (Verdict::Fail, None) => match again(&case.id) {
                Some(second) if second.verdict == Verdict::Pass => {
                    println!("passed on the second run: {} {}", suite.name, case.id);
                    sum.passed += 1;
                    sum.second_run += 1;
                }
                Some(second) => {
                    println!("failed again: {} {}\n{}", suite.name, case.id, second.why);
                    sum.failures.push(format!("{} {}", suite.name, case.id));
                }
                None => sum.failures.push(format!("{} {}", suite.name, case.id)),
            },
        }
    }
    for exception in listed {
        let named = || cases.iter().filter(|case| suite.means(&exception.case, &case.id));
        let place = format!(".ci/exceptions: {} {}", suite.name, exception.case);
        if named().next().is_none() {
            sum.failures.push(format!("{place} names no case"));
        } else if named().all(|case| case.verdict == Verdict::Pass) {
            sum.failures.push(format!("{place} is no longer needed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str, verdict: Verdict) -> Case {
        Case { id: id.into(), verdict, why: String::new() }
    }

    fn listed(case: &str) -> Exception {
        Exception { suite: "lazyagents".into(), case: case.into(), reason: "a reason".into() }
    }

    #[test]
    fn only_named_failures_are_let_through_and_names_must_be_needed() {
        let cases = [
            case("good", Verdict::Pass),
            case("busy", Verdict::Fail),
            case("broken", Verdict::Fail),
            case("known", Verdict::Fail),
            case("mended", Verdict::Pass),
            case("absent", Verdict::Skip),
        ];
        let (known, mended, gone) = (listed("known"), listed("mended"), listed("gone"));
        let mut sum = Sum::default();
        let mut runs = Vec::new();
        weigh(&SUITES[0], &cases, &[&known, &mended, &gone], &mut sum, |id| {
            runs.push(id.to_owned());
            Some(case(id, if id == "busy" { Verdict::Pass } else { Verdict::Fail }))
        });
        assert_eq!((sum.passed, sum.second_run, sum.excepted, sum.skipped), (3, 1, 1, 1));
        assert_eq!(
            sum.failures,
            [
                "lazyagents broken",
                ".ci/exceptions: lazyagents mended is no longer needed",
                ".ci/exceptions: lazyagents gone names no case",
            ]
        );
        assert_eq!(runs, ["busy", "broken"]);
    }
}
