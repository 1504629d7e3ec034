//! Plugins: which there are, in which order a hook asks them, how one is run, what of its answer is applied. It never
//! decides what an operation does; it tells the operation what came of the hook. Operations and the browser fire hooks
//! here, `plugin` commands look here.

mod fire;
pub mod plugins;
mod run;
mod values;

pub use fire::{Call, Effects, fire, repo_view, request, view_of};
pub use plugins::{Broken, Plugin, Source};
pub(crate) use run::startable;
pub use run::{Answer, ask};
pub use values::{json_of, toml_of};
