//! `ez schema [name]`: the JSON Schemas of every `--json`, of both sides of a hook and of the manifest, made from the
//! types that print and read them.

use std::collections::BTreeMap;

use schemars::schema_for;
use serde_json::Value;
use sys::Failure;

use super::Out;
use super::answers::{
    Checked, ConfigShown, LabelRow, NoteInfo, Place, PluginInfo, PluginRow, PruneRow, RepoRow, SessionRow, TreeRow,
};
use crate::model::name::quoted;
use crate::ops::{doctor, trash};

/// Its name, what it describes, how it is made.
pub(super) type Entry = (&'static str, &'static str, fn() -> Value);

/// Every schema.
pub(super) const SCHEMAS: [Entry; 20] = [
    ("list", "ez list --json, ez session list --all --json", || schema_for!(Vec<TreeRow>).to_value()),
    ("repo-list", "ez repo list --json", || schema_for!(Vec<RepoRow>).to_value()),
    ("repo-info", "ez repo info --json", || schema_for!(RepoRow).to_value()),
    ("session-list", "ez session list --json", || schema_for!(Vec<SessionRow>).to_value()),
    ("session-info", "ez session info --json", || schema_for!(SessionRow).to_value()),
    ("session-path", "ez session path --json, ez go --print --json", || schema_for!(Place).to_value()),
    ("label-list", "ez repo label list --json, ez session label list --json", || schema_for!(Vec<LabelRow>).to_value()),
    ("env-list", "ez session env list --json", || schema_for!(BTreeMap<String, String>).to_value()),
    ("note", "ez session note path --json", || schema_for!(NoteInfo).to_value()),
    ("prune", "ez session prune --dry-run --json", || schema_for!(Vec<PruneRow>).to_value()),
    ("plugin-list", "ez plugin list --json", || schema_for!(Vec<PluginRow>).to_value()),
    ("plugin-info", "ez plugin info --json", || schema_for!(PluginInfo).to_value()),
    ("plugin-check", "ez plugin check --json", || schema_for!(Checked).to_value()),
    ("config-show", "ez config show --json", || schema_for!(ConfigShown).to_value()),
    ("config-get", "ez config get --json", || schema_for!(Value).to_value()),
    ("trash-list", "ez trash list --json", || schema_for!(Vec<trash::Entry>).to_value()),
    ("doctor", "ez doctor --json", || schema_for!(doctor::Report).to_value()),
    ("request", "what a hook plugin reads on stdin", || schema_for!(wire::hook::Request).to_value()),
    ("response", "what a hook plugin prints on stdout", || schema_for!(wire::hook::Printed).to_value()),
    ("manifest", "manifest.toml of a plugin, as JSON", || schema_for!(wire::hook::Manifest).to_value()),
];

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The schema to print; without it the names are listed
    name: Option<String>,
}

pub(super) fn run(args: &Args, out: &mut Out) -> Result<u8, Failure> {
    let Some(name) = &args.name else {
        for (name, what, _) in SCHEMAS {
            out.line(&format!("{name:13} {what}"));
        }
        return Ok(0);
    };
    let Some((.., make)) = SCHEMAS.iter().find(|(known, ..)| known == name) else {
        let names: Vec<_> = SCHEMAS.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::usage(format!("there is no schema {}", quoted(name)))
            .hint(format!("there are: {}", names.join(", "))));
    };
    out.json(&make())?;
    Ok(0)
}
