//! Turning plugins on and off, with on_plugin_init and on_plugin_deinit (seed, "Available Hooks"): a failing init leaves
//! the plugin off, a failing deinit only warns. `plugin enable|disable` and `setup` call it.

use sys::Failure;
use wire::hook::Hook;

use crate::context::Context;
use crate::hooks::{Call, fire, plugins};
use crate::landing::Landing;
use crate::out::Out;

/// Enables a plugin.
///
/// # Errors
/// When there is none of that name, its manifest is broken, or its init fails.
pub fn enable(context: &Context, name: &str, out: &mut Out) -> Result<Landing, Failure> {
    let plugin = plugins::load(context, name).map_err(|broken| {
        broken.why.hint(format!("plugins live in {}; `ez plugin list` lists them", plugins::dir(context).display()))
    })?;
    if context.config.enabled.iter().any(|enabled| enabled == name) {
        out.line(&format!("Plugin '{name}' is already enabled."));
        return Ok(Landing::default());
    }
    for hook in plugin.manifest.unknown_hooks() {
        out.warn(&format!("plugin '{name}' asks for {hook}, which this ez does not have"));
    }
    let mut landing = Landing::default();
    if plugin.manifest.handles(Hook::OnPluginInit) {
        let mut call = Call::new(Hook::OnPluginInit);
        call.only = Some(vec![plugin]);
        let effects = fire(context, &mut call, out);
        if let Some(failure) = effects.failure {
            return Err(failure.hint(format!("plugin '{name}' stays off")));
        }
        landing.add(effects.post, effects.cd);
    }
    context.store.update_config(|draft| {
        draft.list("plugins.enabled", |list| {
            if !list.iter().any(|enabled| enabled == name) {
                list.push(name.to_owned());
            }
        })
    })?;
    out.line(&format!("Enabled plugin: {name}"));
    Ok(landing)
}

/// Disables a plugin; one that is not there or not enabled is fine.
///
/// # Errors
/// When the configuration cannot be written.
pub fn disable(context: &Context, name: &str, out: &mut Out) -> Result<Landing, Failure> {
    let mut landing = Landing::default();
    let was = context.config.enabled.iter().any(|enabled| enabled == name);
    if was
        && let Ok(plugin) = plugins::load(context, name)
        && plugin.manifest.handles(Hook::OnPluginDeinit)
    {
        let mut call = Call::new(Hook::OnPluginDeinit);
        call.only = Some(vec![plugin]);
        let effects = fire(context, &mut call, out);
        landing.add(effects.post, effects.cd);
    }
    if was {
        context
            .store
            .update_config(|draft| draft.list("plugins.enabled", |list| list.retain(|enabled| enabled != name)))?;
    }
    out.line(&format!("Disabled plugin: {}", sys::text::clean(name)));
    Ok(landing)
}
