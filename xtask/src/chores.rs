//! The small chores: installing, the demo, the benchmarks. They never do more than run cargo and say where things
//! went. Only `main` calls them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::step;

/// The programs of this workspace that exist already.
pub(crate) fn programs() -> Vec<&'static str> {
    ["lazyagents", "ez"].into_iter().filter(|name| crate_of(name).is_some()).collect()
}

/// The folder of a program's crate; `None` while there is nothing in it but a placeholder.
pub(crate) fn crate_of(program: &str) -> Option<PathBuf> {
    let folder = step::root().join("crates").join(program);
    let main = std::fs::read_to_string(folder.join("src/main.rs")).ok()?;
    (!main.starts_with("//! placeholder")).then_some(folder)
}

/// `install [--root DIR]`.
pub(crate) fn install(args: &[String]) -> anyhow::Result<()> {
    let chosen = match args {
        [] => None,
        // Relative to where the person is, while cargo runs in the root of the workspace.
        [flag, dir] if flag == "--root" => Some(std::path::absolute(dir)?),
        _ => bail!("usage: cargo xtask install [--root DIR]"),
    };
    let programs = programs();
    if programs.is_empty() {
        bail!("there is no program to install yet");
    }
    for program in &programs {
        let mut command = step::cargo(["install", "--locked", "--path", &format!("crates/{program}")]);
        if let Some(dir) = &chosen {
            command.arg("--root").arg(dir);
        }
        step::run(&mut command)?;
    }
    let bin = chosen.or_else(cargo_root).map(|root| root.join("bin"));
    for program in programs {
        match &bin {
            Some(bin) => println!("installed {}", bin.join(program).display()),
            None => println!("installed {program} where cargo said above"),
        }
    }
    Ok(())
}

/// Where `cargo install` puts things by itself; a configured `install.root` is rare, and cargo prints it anyway.
fn cargo_root() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("CARGO_INSTALL_ROOT")
        .or_else(|| variable("CARGO_HOME"))
        .or_else(|| variable("HOME").map(|home| home.join(".cargo")))
}

/// `demo [args]`.
pub(crate) fn demo(args: &[String]) -> anyhow::Result<()> {
    let mut command = step::cargo(["run", "--release", "--package", "lazyagents", "--", "--demo"]);
    step::run(command.args(args))
}

/// `bench`.
pub(crate) fn bench(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        bail!("usage: cargo xtask bench");
    }
    step::timed("cargo bench", || step::run(&mut step::cargo(["bench", "--workspace"])))?;
    for script in scripts(&step::root().join("benches"))? {
        let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shell = if name.ends_with(".py") { "python3" } else { "bash" };
        step::timed(&name, || step::run(Command::new(shell).arg(&script).current_dir(step::root())))?;
    }
    Ok(())
}

fn scripts(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut scripts: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sh" || extension == "py"))
        .collect();
    scripts.sort();
    Ok(scripts)
}
