//! What the interface does with provider profiles beside the loop: reads them, plans, applies. `providers` does it; here it is
//! told in words. The driver calls it.

use std::sync::Arc;

use manage::providers::{Profile, Source, State};
use sys::Failure;
use sys::text::clean;

use crate::app::event::{Effect, Event};
use crate::app::providers::{Board, CellLine, Prepared, ProfileLine};
use crate::context::Context;
use crate::detection;
use crate::providers::{Providers, Wish};

/// Carries out an effect on providers; `None` for any other.
pub fn work(context: &Context, effect: Effect) -> Option<Event> {
    let done = match effect {
        Effect::ReadProviders(number) => load(context).map(|board| Event::Providers { number, board: Arc::new(board) }),
        Effect::PlanProviders(wish) => {
            prepare(context, wish).map(|prepared| Event::ProvidersPlanned(Arc::new(prepared)))
        }
        Effect::FulfilProviders(prepared) => {
            let fulfilled = Providers::of(context, "apply")
                .and_then(|providers| providers.fulfil(&prepared.wish, Some(&prepared.seen)));
            fulfilled.map(|(done, _)| Event::ProvidersDone(clean(&done.view.what)))
        }
        _ => return None,
    };
    Some(done.unwrap_or_else(|failure| {
        let hints: String = failure.hints().iter().map(|hint| format!("; {hint}")).collect();
        Event::Failed(clean(&format!("{failure}{hints}")))
    }))
}

/// Reads the profiles and the settings of the installed agents.
///
/// # Errors
/// When no home folder is known.
pub fn load(context: &Context) -> Result<Board, Failure> {
    let providers = Providers::of(context, "list")?;
    let file = clean(&context.paths.short(providers.file()));
    let profiles = match providers.profiles() {
        Ok(profiles) => profiles,
        Err(failure) => return Ok(Board { problems: vec![clean(&failure.to_string())], file, ..Board::default() }),
    };
    let mut problems: Vec<String> = profiles.problems.iter().map(|problem| clean(problem)).collect();
    let states = providers.states(&profiles.list, &detection::places(context)).unwrap_or_else(|failure| {
        problems.push(clean(&failure.to_string()));
        Vec::new()
    });
    for state in &states {
        problems.extend(state.problem.iter().map(|problem| clean(&format!("{}: {problem}", state.agent))));
    }
    let name = |id: &str| agents::adapter::by_id(id).map_or("", |adapter| adapter.about().name);
    let lines = profiles.list.iter().enumerate().map(|(at, profile)| line(at, profile, &states, context)).collect();
    Ok(Board {
        agents: states.iter().map(|state| (state.agent, name(state.agent))).collect(),
        profiles: lines,
        problems,
        file,
    })
}

fn line(at: usize, profile: &Profile, states: &[State], context: &Context) -> ProfileLine {
    let text = |value: &Option<String>| value.as_deref().map(clean).unwrap_or_default();
    let token = match profile.source() {
        Source::None => "none".to_owned(),
        Source::Literal => {
            format!("•••• in {}", clean(&context.paths.short(&context.paths.config.join("providers.json"))))
        }
        Source::Env => format!("from ${}", text(&profile.env_key)),
        Source::Command => format!("from `{}`", text(&profile.token_command)),
        Source::File => {
            let path = profile.token_file.as_deref().map(|path| context.paths.short(path)).unwrap_or_default();
            format!("from {}", clean(&path))
        }
    };
    let cell = |state: &State| {
        let changed = state.remembered.as_deref() == Some(&profile.name) && !state.changed.is_empty();
        let why = match state.why.get(at) {
            Some(why) if !why.is_empty() => clean(why),
            _ if changed => clean(&format!("changed by hand: {}", state.changed.join(", "))),
            _ => String::new(),
        };
        CellLine { cell: state.cells.get(at).copied().unwrap_or(manage::providers::Cell::Off), why }
    };
    ProfileLine {
        name: clean(&profile.name),
        base_url: text(&profile.base_url),
        model: text(&profile.model),
        token,
        wire_api: text(&profile.wire_api),
        cells: states.iter().map(cell).collect(),
    }
}

fn prepare(context: &Context, wish: Wish) -> Result<Prepared, Failure> {
    let providers = Providers::of(context, "look")?;
    let (seen, left) = providers.look(&wish)?;
    let words = |left: &manage::providers::Left| {
        clean(&format!("{} in {} was changed by hand since and stays", left.at, context.paths.short(&left.file)))
    };
    Ok(Prepared { lines: left.iter().map(words).collect(), wish, seen })
}
