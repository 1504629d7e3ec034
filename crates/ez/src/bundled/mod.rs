//! The plugins that `ez` brings along, served by this program itself as separate processes. A stand-in until the room is
//! built: there are none. `hooks` asks for names and manifests, the hidden `plugin serve-bundled` serves.

/// The names of the bundled plugins.
pub fn names() -> &'static [&'static str] {
    &[]
}

/// The manifest of one of them, as TOML.
pub fn manifest(_name: &str) -> Option<&'static str> {
    None
}

/// Answers one request.
pub fn serve(_name: &str, _request: &str, _env: &sys::Env) -> String {
    "{\"success\":false,\"error\":\"there is no such bundled plugin\"}".to_owned()
}
