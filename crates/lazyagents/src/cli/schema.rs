//! `lazyagents schema [name]`: the JSON Schemas, made from the types that print the answers.

use agents::limits::LimitRow;
use agents::sessions::rows::{Found, SessionRow, UsageTable};
use schemars::schema_for;
use serde_json::Value;
use sys::Failure;

use super::{Out, doctor, history, hooks, plugins, provider, sessions};

/// Arguments of `schema`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The schema to print; without it the names are listed
    name: Option<String>,
}

/// Every schema: its name, what it describes, how it is made.
pub(super) type Entry = (&'static str, &'static str, fn() -> Value);

pub(super) const SCHEMAS: [Entry; 23] = [
    ("agents", "lazyagents agents --json", || schema_for!(Vec<agents::json::AgentRow>).to_value()),
    ("sessions", "lazyagents sessions --json", || schema_for!(Vec<SessionRow>).to_value()),
    ("sessions-show", "lazyagents sessions show <id> --json", || schema_for!(sessions::Shown).to_value()),
    ("sessions-search", "lazyagents sessions search <text> --json", || schema_for!(Vec<Found>).to_value()),
    ("sessions-export", "lazyagents sessions export <id> --json", || schema_for!(sessions::Exported).to_value()),
    ("sessions-delete", "lazyagents sessions delete <id> --json", || schema_for!(Vec<sessions::Deleted>).to_value()),
    ("sessions-trash", "lazyagents sessions trash --json", || schema_for!(Vec<sessions::TrashRow>).to_value()),
    ("hooks", "lazyagents hooks list --json", || schema_for!(Vec<hooks::HookRow>).to_value()),
    ("hooks-one", "lazyagents hooks list <name> --json", || schema_for!(hooks::HookRow).to_value()),
    ("hooks-change", "lazyagents hooks enable <name> --json, and the like", || schema_for!(hooks::Changed).to_value()),
    ("hooks-test", "lazyagents hooks test <name> --json", || schema_for!(Vec<hooks::TriedRow>).to_value()),
    ("usage", "lazyagents usage <view> --json", || schema_for!(UsageTable).to_value()),
    ("usage-limits", "lazyagents usage limits --json", || schema_for!(Vec<LimitRow>).to_value()),
    ("provider", "lazyagents provider --json", || schema_for!(Vec<provider::Row>).to_value()),
    ("provider-did", "lazyagents provider add|apply|clear|rm --json", || schema_for!(provider::Did).to_value()),
    ("plugins", "lazyagents plugins --json", || schema_for!(Vec<plugins::PluginRow>).to_value()),
    ("plugins-info", "lazyagents plugins info <id> --json", || schema_for!(plugins::PluginInfo).to_value()),
    ("doctor", "lazyagents doctor --json", || schema_for!(doctor::Report).to_value()),
    ("history", "lazyagents history --json", || schema_for!(Vec<history::Row>).to_value()),
    ("history-trash", "lazyagents history trash --json", || schema_for!(Vec<history::TrashRow>).to_value()),
    ("undo", "lazyagents undo [n] --json", || schema_for!(history::UndoneRow).to_value()),
    ("plugin-host", "lines that the host writes to a plugin", || wire::plugin::schema("host").unwrap_or_default()),
    ("plugin-plugin", "lines that a plugin writes to the host", || wire::plugin::schema("plugin").unwrap_or_default()),
];

pub(super) fn run(args: &Args, out: &mut Out) -> Result<u8, Failure> {
    let Some(name) = &args.name else {
        for (name, what, _) in SCHEMAS {
            out.line(&format!("{name:15} {what}"));
        }
        return Ok(0);
    };
    let Some((.., make)) = SCHEMAS.iter().find(|(known, ..)| known == name) else {
        let names: Vec<_> = SCHEMAS.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::usage(format!("there is no schema {}", sys::text::clean(name)))
            .hint(format!("there are: {}", names.join(", "))));
    };
    out.json(&make())?;
    Ok(0)
}
