//! The plugins that `ez` serves itself: git-worktree, tmux and zellij, through the same JSON as anyone's plugin and as
//! processes of their own, so that nothing they do needs jq or bash. They know of `ez` only what a request tells (and
//! `$EZ_BIN session list --all --json`); they never read or write its files.
//! The hidden command that is such a process calls [`serve`]; the manifest reader calls [`manifest`].

pub mod git_worktree;
mod manifests;
mod mux;
mod request;
pub mod tmux;
mod tool;
pub mod zellij;

#[cfg(test)]
mod tests;

use request::{Answer, Request};
use sys::{Env, Failure};

/// The names of the plugins, which are also the names of the folders that take their place.
pub fn names() -> &'static [&'static str] {
    &["git-worktree", "tmux", "zellij"]
}

/// The `manifest.toml` of plugin `name`; its executable is `ez`, which is never looked up by that name.
pub fn manifest(name: &str) -> Option<&'static str> {
    match name {
        "git-worktree" => Some(manifests::GIT_WORKTREE),
        "tmux" => Some(manifests::TMUX),
        "zellij" => Some(manifests::ZELLIJ),
        _ => None,
    }
}

/// Answers one request of plugin `name`: one line of JSON without the newline. Messages for the person go to stderr.
/// A hook that the plugin does not know is a success, as the seed's examples have it.
pub fn serve(name: &str, request: &str, env: &Env) -> String {
    let answer = Request::parse(request).and_then(|request| match name {
        "git-worktree" => git_worktree::serve(&request, env),
        "tmux" => tmux::serve(&request, env),
        "zellij" => zellij::serve(&request, env),
        _ => Err(Failure::new(format!("there is no bundled plugin '{}'", sys::text::clean(name)))),
    });
    answer.unwrap_or_else(|failure| Answer::failed(&failure)).line()
}
