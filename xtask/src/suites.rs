//! The black-box suites that judge the built programs: where they are, how they are called, what their lines mean. It
//! never judges a result itself. Only `ci` calls it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{machine, step};

/// How one case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Skip,
}

/// One line of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    /// What was seen, or why it was skipped.
    pub(crate) why: String,
}

/// A suite and how to call it.
pub(crate) struct Suite {
    /// Its name in `.ci/exceptions` and in what is printed.
    pub(crate) name: &'static str,
    /// Below the folder of suites.
    script: &'static str,
    /// The program that it judges.
    pub(crate) program: &'static str,
    /// A python module it needs beyond the standard library.
    module: &'static str,
    args: fn(&Place) -> Vec<String>,
    /// What is added to run one case alone; `None` when the suite has no timing that a busy machine upsets.
    alone: fn(&str) -> Option<Vec<String>>,
    /// Why the program cannot be judged yet.
    not_yet: fn(&Place) -> Option<String>,
}

/// What a suite runs on.
pub(crate) struct Place {
    /// The built program.
    pub(crate) binary: PathBuf,
    /// The folder of suites.
    pub(crate) suites: PathBuf,
}

pub(crate) const SUITES: &[Suite] = &[
    Suite {
        name: "lazyagents",
        script: "lazyagents/run.py",
        program: "lazyagents",
        module: "pyte",
        args: |place| {
            let mut args = vec!["--bin".into(), text(&place.binary), "--json".into()];
            add_from_env(&mut args, "--hello", "LAZYAGENTS_HELLO");
            args
        },
        alone: |id| Some(vec!["--filter".into(), id.into()]),
        not_yet: |_| None,
    },
    Suite {
        name: "ez",
        script: "ez/run.py",
        program: "ez",
        module: "json",
        args: |place| {
            let mut args = vec!["--ez".into(), text(&place.binary), "--json".into()];
            add_from_env(&mut args, "--upstream-plugins", "EZ_UPSTREAM_PLUGINS");
            args
        },
        alone: |id| Some(vec!["--filter".into(), id.into()]),
        not_yet: |_| None,
    },
    Suite {
        name: "agents",
        script: "agents/check.py",
        program: "lazyagents",
        module: "json",
        args: |place| {
            let fixtures = place.suites.join("../fixtures/agents");
            vec!["--bin".into(), text(&place.binary), "--fixtures".into(), text(&fixtures), "--verbose".into()]
        },
        alone: |_| None,
        not_yet: |place| {
            (!knows(&place.binary, &["sessions", "--json"]))
                .then(|| "lazyagents does not know `sessions --json` yet".to_owned())
        },
    },
];

impl Suite {
    /// Why it does not run here; `None` when it can.
    pub(crate) fn obstacle(&self, place: &Place) -> Option<String> {
        if !place.suites.join(self.script).is_file() {
            return Some(format!("{} is not there", self.script));
        }
        if machine::python_with(self.module).is_none() {
            return Some(format!("no python has the module {}", self.module));
        }
        (self.not_yet)(place)
    }

    /// The command for all cases.
    pub(crate) fn all(&self, place: &Place) -> Command {
        let mut command = self.command(place);
        // agents/check.py runs its few cases one after the other and has no such option.
        if (self.alone)("").is_some() {
            command.args(["--jobs", "2"]);
        }
        command
    }

    /// The command for this case alone, with the machine to itself.
    pub(crate) fn one(&self, place: &Place, id: &str) -> Option<Command> {
        let mut command = self.command(place);
        command.args((self.alone)(id)?);
        if self.name == "ez" {
            // Its default is a job a core.
            command.args(["--jobs", "1"]);
        }
        Some(command)
    }

    fn command(&self, place: &Place) -> Command {
        let python = machine::python_with(self.module).unwrap_or_else(|| "python3".into());
        let mut command = Command::new(python);
        command.arg(place.suites.join(self.script)).args((self.args)(place)).current_dir(step::root());
        command
    }

    /// True when a name in `.ci/exceptions` means this case. The lines of `agents` hold what was seen after the name,
    /// with nothing between them.
    pub(crate) fn means(&self, listed: &str, case: &str) -> bool {
        case == listed || (self.name == "agents" && case.starts_with(listed))
    }
}

/// The case that a line of a suite's output tells of.
pub(crate) fn case(line: &str) -> Option<Case> {
    for (start, verdict) in [("ok    ", Verdict::Pass), ("FAIL  ", Verdict::Fail)] {
        if let Some(rest) = line.strip_prefix(start) {
            return Some(Case { id: rest.trim().to_owned(), verdict, why: String::new() });
        }
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let field = |names: [&str; 2]| names.into_iter().find_map(|name| value.get(name)?.as_str().map(str::to_owned));
    let verdict = match field(["result", "status"])?.as_str() {
        "pass" => Verdict::Pass,
        "skip" => Verdict::Skip,
        _ => Verdict::Fail,
    };
    Some(Case { id: field(["id", "name"])?, verdict, why: field(["why", "detail"]).unwrap_or_default() })
}

/// The two numbers of a closing line, `N passed, N failed`.
pub(crate) fn closing(line: &str) -> Option<(usize, usize)> {
    let (passed, failed) = line.split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.strip_suffix(" failed")?.parse().ok()?))
}

/// The folder of suites: beside the project, or where `LAZYAGENTS_CONFORMANCE` says.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("LAZYAGENTS_CONFORMANCE").map(PathBuf::from);
    named.or_else(|| Some(step::root().join("../shared/conformance"))).filter(|folder| folder.is_dir())
}

/// True unless the program calls these arguments wrong usage (exit code 2). It gets an empty home of its own.
fn knows(binary: &Path, args: &[&str]) -> bool {
    let home = std::env::temp_dir().join(format!("lazyagents-xtask-{}", std::process::id()));
    let _ = std::fs::create_dir_all(&home);
    let output = Command::new(binary)
        .args(args)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&home)
        .output();
    let _ = std::fs::remove_dir_all(&home);
    output.is_ok_and(|output| output.status.code() != Some(2))
}

fn add_from_env(args: &mut Vec<String>, flag: &str, variable: &str) {
    if let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        args.push(flag.into());
        args.push(value.to_string_lossy().into_owned());
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_three_suites_are_read() {
        let of = |id: &str, verdict, why: &str| Some(Case { id: id.into(), verdict, why: why.into() });
        let line = r#"{"id": "disc-dir", "side": "share", "result": "fail", "why": "no\ntab", "seconds": 1.0}"#;
        assert_eq!(case(line), of("disc-dir", Verdict::Fail, "no\ntab"));
        let line = r#"{"status": "skip", "detail": "jq is not installed", "name": "view.sort", "secs": 0.1}"#;
        assert_eq!(case(line), of("view.sort", Verdict::Skip, "jq is not installed"));
        assert_eq!(case("ok    claude: one row a session"), of("claude: one row a session", Verdict::Pass, ""));
        assert_eq!(case("FAIL  pi 12: input 5 != 6"), of("pi 12: input 5 != 6", Verdict::Fail, ""));
        assert_eq!(case("82 passed, 2 failed"), None);
        assert_eq!(closing("82 passed, 2 failed"), Some((82, 2)));
        assert_eq!(closing("3 skipped"), None);
    }
}
