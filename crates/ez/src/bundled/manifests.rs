//! What the bundled plugins say of themselves, in the format of anyone's `manifest.toml` (seed, manifest.toml).
//! Settings that are lists or tables have a default of nothing: what they do is off until a person asks for it.
//! `super::manifest` hands the texts out.

/// git-worktree.
pub(super) const GIT_WORKTREE: &str = r#"name = "git-worktree"
version = "1.0.0"
description = "Gives each session a git worktree and a branch of its own"
hooks = ["on_session_create", "on_session_delete", "on_session_rename"]
executable = "ez"
mutates_session_path = true

[[config_schema]]
name = "copy"
type = "array"
default = []
description = "Untracked files to copy from the main checkout into a new worktree, as patterns: [\".env*\"]"

[[config_schema]]
name = "link"
type = "array"
default = []
description = "Files or folders of the main checkout to link into a new worktree: [\"node_modules\"]"

[[config_schema]]
name = "setup"
type = "string"
default = ""
description = "A shell command to run in a new worktree"

[[config_schema]]
name = "fetch_ttl"
type = "integer"
default = 60
description = "Seconds for which a fetch counts as fresh when a branch starts at origin's main branch"
"#;

/// tmux.
pub(super) const TMUX: &str = r#"name = "tmux"
version = "1.0.0"
description = "Gives each session a tmux session of its own"
hooks = ["on_session_create", "on_session_delete", "on_session_enter", "on_session_exit", "on_session_rename", "on_bind", "on_view", "on_view_select"]
executable = "ez"

[[binds]]
key = "alt-a"
name = "tmux"
label = "attach tmux"
description = "Go to the session's tmux session, making it when it is not there"
contexts = ["session"]

[[views]]
name = "tmux"
key = "ctrl-a"
label = "tmux sessions"
contexts = ["repo", "owner", "workspace", "tree", "label"]

[[config_schema]]
name = "auto_attach"
type = "bool"
default = false
description = "Go to the tmux session when a session is entered, and leave it when the session is left"
"#;

/// zellij.
pub(super) const ZELLIJ: &str = r#"name = "zellij"
version = "1.0.0"
description = "Gives each session a zellij session of its own"
hooks = ["on_session_create", "on_session_delete", "on_session_enter", "on_session_exit", "on_session_rename", "on_bind", "on_view", "on_view_select"]
executable = "ez"

[[binds]]
key = "alt-z"
name = "zellij"
label = "attach zellij"
description = "Go to the session's zellij session, making it when it is not there"
contexts = ["session"]

[[views]]
name = "zellij"
key = "ctrl-z"
label = "zellij sessions"
contexts = ["repo", "owner", "workspace", "tree", "label"]

[[config_schema]]
name = "auto_attach"
type = "bool"
default = false
description = "Go to the zellij session when a session is entered"

[[config_schema]]
name = "force_delete"
type = "bool"
default = true
description = "Delete the zellij session also while something runs in it"
"#;
