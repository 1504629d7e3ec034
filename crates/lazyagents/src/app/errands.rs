//! What the person asked for that takes a while: each errand runs in a thread of its own beside the loop and ends with an
//! event. What it does is done by `keep`, `undo` and the crate `manage`. The driver calls it.

use std::sync::Arc;

use sys::files::journal::Way;
use sys::proc::Cancel;
use sys::text::clean;

use super::driver::Driver;
use super::event::{Effect, Event};
use crate::keep;
use crate::undo::{self, Outcome};

impl Driver {
    /// Carries out an effect that is an errand; others are the driver's own.
    pub(super) fn errand(&self, effect: Effect) {
        let context = Arc::clone(&self.context);
        let again = self.looker();
        match effect {
            Effect::Name { key, name } => self.aside("name", move |sender| {
                let given = manage::aliases::give(&context.paths.data, &key, name.as_deref());
                let event = match given {
                    Ok(()) => {
                        again();
                        Event::Done(match name {
                            Some(name) => format!("it is called {name}"),
                            None => "it has no name of yours".to_owned(),
                        })
                    }
                    Err(failure) => Event::Failed(failure.to_string()),
                };
                let _ = sender.send(event);
            }),
            Effect::Export(key) => self.aside("export", move |sender| {
                let event = match keep::export(&context, &key) {
                    Ok(where_to) => Event::Done(format!("exported to {where_to}")),
                    Err(failure) => Event::Failed(failure.to_string()),
                };
                let _ = sender.send(event);
            }),
            Effect::PlanDeletion(keys) => self.aside("plan", move |sender| {
                let event = match keep::plan(&context, &keys) {
                    Ok(plans) => Event::Deletion(Arc::new(plans)),
                    Err(failure) => Event::Failed(failure.to_string()),
                };
                let _ = sender.send(event);
            }),
            Effect::Delete(plans) => self.aside("delete", move |sender| {
                let event = match keep::delete(&context, &plans) {
                    Ok((count, None)) => {
                        let sessions = crate::context::things(count, "session");
                        Event::Done(format!("{sessions} in the trash, for 30 days  z undo"))
                    }
                    Ok((count, Some(failure))) => Event::Failed(format!("{failure} ({count} went before it)")),
                    Err(failure) => Event::Failed(failure.to_string()),
                };
                again();
                let _ = sender.send(event);
            }),
            effect @ (Effect::ReadProviders(_) | Effect::PlanProviders(_) | Effect::FulfilProviders(_)) => {
                self.aside("providers", move |sender| {
                    let _ = crate::board::work(&context, effect).map(|event| sender.send(event));
                });
            }
            effect
            @ (Effect::ReadHooks(_) | Effect::PlanHooks(_) | Effect::ApplyHooks(_) | Effect::TestHook { .. }) => {
                self.aside("hooks", move |sender| {
                    let _ = crate::rack::work(&context, effect).map(|event| sender.send(event));
                });
            }
            Effect::LookUndo => self.aside("undo", move |sender| {
                let event = match undo::look(&context, None, false) {
                    Ok(outcome) => Event::Ahead(Arc::new(outcome)),
                    Err(failure) => Event::Failed(failure.to_string()),
                };
                let _ = sender.send(event);
            }),
            Effect::Undo { number, merge } => self.aside("undo", move |sender| {
                let way = if merge { Way::Merge } else { Way::Exact };
                let event = match undo::undo(&context, Some(number), way, &Cancel::never()) {
                    Ok(Outcome::Undone { entry, .. }) => Event::Undone(format!("undone: {}", clean(&entry.what))),
                    Ok(Outcome::Blocked { .. }) => Event::Failed("it was changed since by somebody else".to_owned()),
                    Err(failure) => Event::Failed(failure.to_string()),
                };
                again();
                let _ = sender.send(event);
            }),
            _ => {}
        }
    }
}
