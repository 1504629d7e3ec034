//! A hook fired: its plugins asked in order, each one's patch applied to a fresh read under the lock before the next is
//! asked, its shell commands run, what is for the person's shell collected. No lock is held while a plugin runs.
//! Operations call it and look at what came.

use sys::proc::{self, HandOver, Spec};
use sys::{Failure, clock};
use toml::{Table, Value};
use wire::hook::{
    BindContext, Config, Field, Hook, NameResolveContext, OnError, RenameContext, Request, Response, ViewContext,
};

use super::plugins::{self, Plugin};
use super::run::ask;
use super::values::{object_of, toml_of, too_deep};
use crate::context::Context;
use crate::model::gitdir;
use crate::model::name::env_key_ok;
use crate::out::Out;
use crate::store::{Repo, RepoState, Session};

/// What a hook is fired with.
#[derive(Clone, Debug)]
pub struct Call {
    /// The hook.
    pub hook: Hook,
    /// The repository, where there is one.
    pub repo: Option<Repo>,
    /// The session; patched as plugins answer.
    pub session: Option<Session>,
    /// For views.
    pub view: Option<ViewContext>,
    /// For binds.
    pub bind: Option<BindContext>,
    /// For names.
    pub name: Option<NameResolveContext>,
    /// For renames.
    pub rename: Option<RenameContext>,
    /// Only these plugins, in this order; else the enabled ones that ask for the hook.
    pub only: Option<Vec<Plugin>>,
    /// Patches are not stored: the session is going away or not there yet.
    pub unstored: bool,
}

impl Call {
    /// A hook with nothing yet.
    pub fn new(hook: Hook) -> Self {
        Self {
            hook,
            repo: None,
            session: None,
            view: None,
            bind: None,
            name: None,
            rename: None,
            only: None,
            unstored: false,
        }
    }

    /// A hook of a session.
    pub fn session(hook: Hook, repo: &Repo, session: &Session) -> Self {
        Self { repo: Some(repo.clone()), session: Some(session.clone()), ..Self::new(hook) }
    }

    /// A hook of a repository.
    pub fn repo(hook: Hook, repo: &Repo) -> Self {
        Self { repo: Some(repo.clone()), ..Self::new(hook) }
    }
}

/// What came of a hook.
#[derive(Debug, Default)]
pub struct Effects {
    /// Commands for the person's shell, in order.
    pub post: Vec<String>,
    /// Where the shell goes: the last one that said so.
    pub cd: Option<String>,
    /// The plugins that were asked, the failing one included.
    pub ran: Vec<Plugin>,
    /// Why it stopped, where an error stops the operation or is to be shown.
    pub failure: Option<Failure>,
    /// The last answer that counts for a view.
    pub view: Option<Response>,
    /// The name for a URL: the first one given.
    pub resolved: Option<String>,
}

/// Fires `call`. The session in it is patched; failures follow the hook's row of the table.
pub fn fire(context: &Context, call: &mut Call, out: &mut Out) -> Effects {
    let mut effects = Effects::default();
    let (asked, broken) = match call.only.take() {
        Some(only) => (only, Vec::new()),
        None => plugins::in_order(context, call.hook),
    };
    let policy = call.hook.row().on_error;
    for broken in broken {
        let failure = Failure::new(format!("plugin '{}' cannot be asked", broken.name))
            .cause(&broken.why)
            .hint(format!("`ez plugin disable {}` turns it off", broken.name));
        if policy == OnError::Abort && !broken.missing {
            effects.failure = Some(failure);
            return effects;
        }
        out.warn(&failure.to_string());
    }
    let start = clock::now();
    for plugin in asked {
        effects.ran.push(plugin.clone());
        let done = ask_and_apply(context, call, &plugin, &mut effects, out);
        let Err(failure) = done else { continue };
        match policy {
            OnError::Abort | OnError::Show => {
                effects.failure = Some(failure);
                break;
            }
            OnError::Warn | OnError::Fallback => {
                out.warn(&failure.to_string());
                for hint in failure.hints() {
                    out.note(&format!("  {hint}"));
                }
            }
        }
    }
    let took = start.elapsed().as_millis();
    if took >= 500 && !effects.ran.is_empty() {
        out.note(&format!("plugins completed in {took} ms"));
    }
    effects
}

fn ask_and_apply(
    context: &Context,
    call: &mut Call,
    plugin: &Plugin,
    effects: &mut Effects,
    out: &mut Out,
) -> Result<(), Failure> {
    let request = request(context, call, plugin)?;
    let response = ask(context, plugin, &request, out)?.response;
    patch_session(context, call, plugin, &response, out)?;
    patch_repo(context, call, plugin, &response, out)?;
    if call.hook.takes(Field::ShellCommands) {
        run_commands(context, call, &response.shell_commands, out)?;
    }
    if call.hook.takes(Field::PostShellCommands) {
        effects.post.extend(response.post_shell_commands.iter().cloned());
    }
    if call.hook.takes(Field::CdTarget)
        && let Some(cd) = &response.cd_target
    {
        effects.cd = Some(cd.clone());
    }
    if call.hook.takes(Field::ResolvedName) && effects.resolved.is_none() {
        effects.resolved.clone_from(&response.resolved_name);
    }
    if call.hook.takes(Field::View) {
        effects.view = Some(response);
    }
    Ok(())
}

/// The repository of a request, with what its git folder says now over what was stored when it was added.
///
/// # Errors
/// When the state cannot be read.
pub fn repo_view(context: &Context, repo: &Repo) -> Result<wire::hook::Repo, Failure> {
    Ok(view_of(repo, context.store.repo_state(&repo.id)?))
}

/// As [`repo_view`], of a state that has been read.
pub fn view_of(repo: &Repo, state: RepoState) -> wire::hook::Repo {
    let git = repo.is_git.then(|| gitdir::shared(repo.path.as_ref()));
    let remote_url = git.as_deref().and_then(gitdir::origin).or(state.remote_url);
    let default_branch = git.as_deref().and_then(gitdir::origin_head).or(state.default_branch);
    wire::hook::Repo { id: repo.id.clone(), path: repo.path.clone(), remote_url, default_branch, is_git: repo.is_git }
}

/// The request of `call` to one plugin.
///
/// # Errors
/// When the state cannot be read.
pub fn request(context: &Context, call: &Call, plugin: &Plugin) -> Result<Request, Failure> {
    let mut request = Request::new(call.hook);
    if let Some(repo) = &call.repo {
        let state = context.store.repo_state(&repo.id)?;
        if let Some(Value::Table(own)) = state.plugin_state.get(&plugin.name) {
            request.config.plugin_state = object_of(own);
        }
        request.repo = view_of(repo, state);
        if let Some(session) = &call.session {
            request.session = Some(session_view(context, repo, session)?);
        }
    }
    request.config = Config { user_config: user_config(context, plugin), ..request.config };
    request.view_context.clone_from(&call.view);
    request.bind_context.clone_from(&call.bind);
    request.name_resolve_context.clone_from(&call.name);
    request.rename_context.clone_from(&call.rename);
    Ok(request)
}

fn session_view(context: &Context, repo: &Repo, session: &Session) -> Result<wire::hook::Session, Failure> {
    let parent = match &session.parent_id {
        Some(id) => context.store.sessions(&repo.id)?.into_iter().find(|found| found.id == *id),
        None => None,
    };
    Ok(wire::hook::Session {
        id: session.id.clone(),
        name: session.name.clone(),
        parent_id: session.parent_id.clone(),
        parent_is_default: parent.as_ref().map(|parent| parent.is_default),
        parent_name: parent.map(|parent| parent.name),
        path: session.path.clone(),
        env: session.env.clone(),
        plugin_state: object_of(&session.plugin_state),
        is_default: session.is_default,
        start_point: session.env.get("ez_start_point").filter(|point| !point.is_empty()).cloned(),
    })
}

/// The person's settings over the defaults of the manifest's schema (seed, "Plugin Configuration").
fn user_config(context: &Context, plugin: &Plugin) -> serde_json::Map<String, serde_json::Value> {
    let schema = plugin.manifest.config_schema.iter();
    let mut config: serde_json::Map<_, _> =
        schema.filter_map(|setting| Some((setting.name.clone(), setting.default.clone()?))).collect();
    if let Some(Value::Table(own)) = context.config.plugin_settings.get(&plugin.name) {
        config.extend(object_of(own));
    }
    config
}

fn patch_session(
    context: &Context,
    call: &mut Call,
    plugin: &Plugin,
    response: &Response,
    out: &mut Out,
) -> Result<(), Failure> {
    let patch = &response.session;
    let (Some(repo), Some(session)) = (&call.repo, &mut call.session) else { return Ok(()) };
    if !call.hook.takes(Field::SessionMutations) || patch.is_empty() {
        return Ok(());
    }
    tell_too_deep(plugin, &patch.plugin_state, out);
    for key in patch.env.keys().filter(|key| !env_key_ok(key)) {
        out.warn(&format!("plugin '{}' gave a variable whose name is not valid, left out: {key}", plugin.name));
    }
    let path = patch.path.as_ref().filter(|path| path_ok(path));
    if patch.path.is_some() && path.is_none() {
        out.warn(&format!("plugin '{}' gave a path that is not absolute or holds a NUL, left out", plugin.name));
    }
    let merge = |session: &mut Session| {
        if let Some(path) = path {
            session.path = Some(path.clone());
        }
        for (key, value) in patch.env.iter().filter(|(key, value)| env_key_ok(key) && !value.contains('\0')) {
            session.env.insert(key.clone(), value.clone());
        }
        for (key, value) in &patch.plugin_state {
            if let Some(value) = toml_of(value) {
                session.plugin_state.insert(key.clone(), value);
            }
        }
    };
    if !call.unstored {
        let fresh = context.store.update_session(&repo.id, &session.id, |stored| {
            merge(stored);
            Ok(stored.clone())
        })?;
        if let Some(fresh) = fresh {
            *session = fresh;
            return Ok(());
        }
    }
    merge(session);
    Ok(())
}

fn path_ok(path: &str) -> bool {
    path.starts_with('/') && !path.contains('\0')
}

/// A value that no state file could hold is left out, and told.
fn tell_too_deep(plugin: &Plugin, state: &serde_json::Map<String, serde_json::Value>, out: &mut Out) {
    for (key, _) in state.iter().filter(|(_, value)| too_deep(value)) {
        out.warn(&format!("plugin '{}' gave state that is nested too deep, left out: {key}", plugin.name));
    }
}

fn patch_repo(
    context: &Context,
    call: &Call,
    plugin: &Plugin,
    response: &Response,
    out: &mut Out,
) -> Result<(), Failure> {
    let Some(repo) = &call.repo else { return Ok(()) };
    if !call.hook.takes(Field::RepoMutations) || response.repo_state.is_empty() {
        return Ok(());
    }
    tell_too_deep(plugin, &response.repo_state, out);
    context.store.update_repo_state(&repo.id, |state| {
        let own = state.plugin_state.entry(plugin.name.clone()).or_insert_with(|| Value::Table(Table::new()));
        if !own.is_table() {
            *own = Value::Table(Table::new());
        }
        if let Value::Table(own) = own {
            for (key, value) in &response.repo_state {
                if let Some(value) = toml_of(value) {
                    own.insert(key.clone(), value);
                }
            }
        }
        Ok(())
    })
}

/// Variables of a session that our own children do without: they would decide what is run (fault 23).
fn decides(name: &str) -> bool {
    name == "PATH" || name.starts_with("LD_") || name.starts_with("DYLD_") || name.starts_with("GIT_")
}

fn run_commands(context: &Context, call: &Call, commands: &[String], out: &mut Out) -> Result<(), Failure> {
    if commands.is_empty() {
        return Ok(());
    }
    out.flush();
    let mut env = context.child_env();
    let own = call.session.iter().flat_map(|session| &session.env);
    for (name, value) in own.filter(|(name, value)| env_key_ok(name) && !decides(name) && !value.contains('\0')) {
        env.set(name, value);
    }
    let repo = call.repo.as_ref().map_or("", |repo| repo.path.as_str());
    for command in commands {
        let args = vec!["-c".into(), command.into()];
        let spec = Spec { program: "sh".into(), args, dir: context.standing(repo), env: env.clone() };
        let ended = proc::hand_over(&spec, &proc::never())?;
        if !matches!(ended, HandOver::Ended(exit) if exit.ok()) {
            out.warn(&format!("shell command failed: {command}"));
        }
    }
    Ok(())
}
