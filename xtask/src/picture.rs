//! `cargo xtask picture`: pictures of the real screen for the docs, taken by an example of testkit. It writes below
//! docs/pictures only. Whoever changed what the pictures show calls it; no test does, since it takes half a minute.

use anyhow::{Context as _, bail};

use crate::step;

/// Where the pictures are.
const FOLDER: &str = "docs/pictures";

/// `picture`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        bail!("usage: cargo xtask picture");
    }
    let program = program()?;
    let mut shots = step::cargo(["run", "--quiet", "--package", "testkit", "--example", "picture", "--"]);
    step::run(shots.args([program.as_str(), FOLDER]))?;
    println!("the pictures are in {FOLDER}; look at them before they go in");
    Ok(())
}

/// The program that `cargo build` has just made.
fn program() -> anyhow::Result<String> {
    let mut command = step::cargo(["build", "--quiet", "--package", "lazyagents", "--bin", "lazyagents"]);
    let told = step::quiet(command.arg("--message-format=json")).context("cargo could not build lazyagents")?;
    let artifacts = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let program = artifacts.filter_map(|artifact| artifact["executable"].as_str().map(str::to_owned)).next_back();
    program.context("cargo did not say where lazyagents is")
}
