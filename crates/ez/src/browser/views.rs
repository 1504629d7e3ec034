//! Views of plugins: on_view gives the rows, on_view_select says what choosing one does (seed, "Plugin Views"). In them
//! the view keys and those of all plugin views are active. Only the browser's loop calls it.

use sys::Failure;
use wire::hook::{Hook, View as Declared, ViewContext};

use super::fzf::{self, List};
use super::keys::{self, Does};
use super::{Next, Trip, View, lists};
use crate::context::Context;
use crate::hooks::{Call, Plugin, fire, plugins};
use crate::landing::Landing;
use crate::out::Out;

/// The view of this name: the first in enabled order.
pub(super) fn by_name(context: &Context, name: &str) -> Option<(Plugin, Declared)> {
    plugins::usable(context).into_iter().find_map(|plugin| {
        let view = plugin.manifest.views.iter().find(|view| view.name == name).cloned()?;
        Some((plugin, view))
    })
}

/// Opens it.
pub(super) fn open(context: &Context, name: &str, trip: &mut Trip, out: &mut Out) -> Result<Next, Failure> {
    let Some((plugin, view)) = by_name(context, name) else {
        return Err(Failure::new(format!("no enabled plugin has a view {}", crate::model::name::quoted(name))));
    };
    let mut call = Call::new(Hook::OnView);
    call.view = Some(ViewContext { view_name: view.name.clone(), selected_value: None, selected_display: None });
    call.only = Some(vec![plugin.clone()]);
    let effects = fire(context, &mut call, out);
    if let Some(failure) = effects.failure {
        return Err(failure);
    }
    trip.carried.extend(effects.post);
    let response = effects.view.unwrap_or_default();
    if response.view_items.is_empty() {
        out.note(&format!("No items from plugin view '{}'.", view.name));
        return Ok(Next::Back);
    }
    let (plugin_keys, _) = keys::of_plugins(context, "plugin");
    let list = List {
        prompt: response.view_prompt.clone().unwrap_or_else(|| view.name.clone()),
        header: keys::header(context, "plugin", &plugin_keys, response.view_preview_cmd.is_some()),
        rows: response.view_items.iter().map(|item| (item.value.clone(), item.display.clone())).collect(),
        keys: keys::expected(context, "plugin", &plugin_keys),
        preview: response.view_preview_cmd.as_ref().map(|command| command.replace("{}", "{1}")),
        said: trip.said.take(),
        ..List::default()
    };
    let Some(choice) = fzf::pick_row(context, list, out)? else { return Ok(Next::Land(Box::default())) };
    if let Some(view) = lists::switch(context, &choice.key) {
        return Ok(Next::View(view));
    }
    if let Some(Does::View(view)) = plugin_keys.iter().find(|key| key.key == choice.key).map(|key| &key.does) {
        return Ok(Next::View(View::Plugin(view.name.clone())));
    }
    let Some(item) = choice.row.and_then(|row| response.view_items.get(row)) else { return Ok(Next::Back) };
    let mut call = Call::new(Hook::OnViewSelect);
    call.view = Some(ViewContext {
        view_name: view.name,
        selected_value: Some(item.value.clone()),
        selected_display: Some(item.display.clone()),
    });
    call.only = Some(vec![plugin]);
    let effects = fire(context, &mut call, out);
    if let Some(failure) = effects.failure {
        return Err(failure);
    }
    Ok(Next::Land(Box::new(Landing { pressed: effects.post, cd: effects.cd, ..Landing::default() })))
}
