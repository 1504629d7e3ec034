//! What the machine must have for all tests to run, and getting it on Debian. It never installs anything when told
//! not to, and never asks for a password. `test` and `ci` call it.

use std::path::PathBuf;
use std::process::Command;

use crate::step;

/// A program (or python module) that some tests need.
struct Need {
    name: &'static str,
    package: &'static str,
    here: fn() -> bool,
}

const NEEDS: &[Need] = &[
    Need { name: "tmux", package: "tmux", here: || on_path("tmux") },
    Need { name: "jq", package: "jq", here: || on_path("jq") },
    Need { name: "fzf", package: "fzf", here: || on_path("fzf") },
    Need { name: "pyte", package: "python3-pyte", here: || python_with("pyte").is_some() },
];

/// Installs what is missing where that is possible, and prints a line for what stays missing.
pub(crate) fn prepare(may_install: bool) {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.here)()).collect();
    if !missing.is_empty() && may_install {
        install(&missing);
    }
    let missing: Vec<&Need> = missing.into_iter().filter(|need| !(need.here)()).collect();
    for need in &missing {
        println!("skipped: tests that need {} (Debian package {})", need.name, need.package);
    }
    if missing.is_empty() {
        println!("everything the tests need is here");
    }
}

/// A python that has this module: the person's own, else the system's, which apt-get installs into.
pub(crate) fn python_with(module: &str) -> Option<PathBuf> {
    let import = format!("import {module}");
    ["python3", "/usr/bin/python3"]
        .into_iter()
        .find(|python| step::quiet(Command::new(python).args(["-c", &import])).is_some())
        .map(PathBuf::from)
}

fn install(missing: &[&Need]) {
    let Some(apt) = apt_get() else { return };
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    println!("installing {}", packages.join(" "));
    let install = || {
        let mut command = apt();
        command.args(["install", "-y", "-q", "--no-install-recommends"]).args(&packages);
        step::quiet(&mut command).is_some()
    };
    if !install() {
        // A fresh machine has no lists yet.
        let _ = step::quiet(apt().args(["update", "-q"]));
        if !install() {
            println!("apt-get could not install them");
        }
    }
}

/// apt-get as root, if that needs no password.
fn apt_get() -> Option<fn() -> Command> {
    const OPTIONS: [&str; 4] = ["-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"];
    fn plain() -> Command {
        let mut command = Command::new("apt-get");
        command.args(OPTIONS).env("DEBIAN_FRONTEND", "noninteractive");
        command
    }
    fn with_sudo() -> Command {
        let mut command = Command::new("sudo");
        command.args(["-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(OPTIONS);
        command
    }
    if !std::path::Path::new("/etc/debian_version").exists() || !on_path("apt-get") {
        return None;
    }
    if step::quiet(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0") {
        return Some(plain);
    }
    step::quiet(Command::new("sudo").args(["-n", "true"])).map(|_| with_sudo as fn() -> Command)
}

/// True when some folder of PATH has a file of this name.
pub(crate) fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
