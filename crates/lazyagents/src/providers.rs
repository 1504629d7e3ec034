//! Provider profiles wired to the folders and the environment: what the commands, the tab and doctor have in common. The
//! crate `manage` makes the plans, its desk applies them.

use std::path::PathBuf;

use agents::adapter::Adapter;
use agents::{Detected, Surroundings};
use manage::desk::{Desk, Done, View};
use manage::plan::Plan;
use manage::providers::{self, Applied, Cell, Left, Profile, Profiles, State, Store};
use sys::text::clean;
use sys::{Failure, proc};

use crate::context::Context;
use crate::detection;

/// The folders and the environment of one command.
pub struct Providers<'a> {
    context: &'a Context,
    around: Surroundings,
    store: Store,
    desk: Desk,
}

/// What is to be done to agents' settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A profile goes into these agents' settings.
    Apply {
        /// The profile.
        profile: String,
        /// The agents' ids.
        agents: Vec<String>,
    },
    /// What we wrote goes out of these agents' settings.
    Clear {
        /// The agents' ids.
        agents: Vec<String>,
    },
    /// A profile is written down.
    Add {
        /// The profile.
        profile: Box<Profile>,
        /// One of its name is replaced.
        replace: bool,
        /// The token stays where the one of its name has it.
        keep: bool,
    },
    /// A profile goes.
    Remove {
        /// Its name.
        profile: String,
    },
}

impl<'a> Providers<'a> {
    /// The surroundings of `command`, which others are told when they wait for us.
    ///
    /// # Errors
    /// When no home folder is known.
    pub fn of(context: &'a Context, command: &str) -> Result<Self, Failure> {
        let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
        let store = Store::of(&context.paths.config, &context.paths.data);
        let desk = Desk::of(&context.paths.data, format!("lazyagents provider {command}"));
        Ok(Self { context, around, store, desk })
    }

    /// The profiles.
    ///
    /// # Errors
    /// When the file cannot be read or understood.
    pub fn profiles(&self) -> Result<Profiles, Failure> {
        Profiles::load(&self.store.profiles)
    }

    /// The file of profiles.
    pub fn file(&self) -> &PathBuf {
        &self.store.profiles
    }

    /// How every profile stands to every agent of `found` that is here and can be told an endpoint, in the fixed order.
    ///
    /// # Errors
    /// When what was written cannot be read.
    pub fn states(&self, profiles: &[Profile], found: &[Detected]) -> Result<Vec<State>, Failure> {
        let applied = Applied::load(&self.store.applied)?;
        let here = providers::agents()
            .filter(|(adapter, _)| found.iter().any(|agent| agent.id == adapter.about().id && agent.installed));
        Ok(here.map(|(adapter, _)| providers::states(adapter, &self.around, profiles, &applied)).collect())
    }

    /// The agents that a command without `--agent` is about: every one that is here and has a place for an endpoint.
    pub fn installed(&self) -> Vec<&'static dyn Adapter> {
        let found = detection::places(self.context);
        let here = |adapter: &&'static dyn Adapter| {
            found.iter().any(|agent| agent.id == adapter.about().id && agent.installed)
        };
        providers::agents().map(|(adapter, _)| adapter).filter(here).collect()
    }

    /// The agents in which something of ours stands.
    ///
    /// # Errors
    /// When what was written cannot be read.
    pub fn written(&self) -> Result<Vec<&'static dyn Adapter>, Failure> {
        let applied = Applied::load(&self.store.applied)?;
        Ok(providers::agents()
            .map(|(adapter, _)| adapter)
            .filter(|a| applied.profile(a.about().id).is_some())
            .collect())
    }

    /// The agents in which a profile stands, going by what was written.
    ///
    /// # Errors
    /// When what was written cannot be read.
    pub fn written_of(&self, profile: &str) -> Result<Vec<&'static str>, Failure> {
        let applied = Applied::load(&self.store.applied)?;
        let ids = providers::agents().map(|(adapter, _)| adapter.about().id);
        Ok(ids.filter(|id| applied.profile(id).as_deref() == Some(profile)).collect())
    }

    fn plan(&self, wish: &Wish, left: &mut Vec<Left>) -> Result<Plan, Failure> {
        match wish {
            Wish::Apply { profile, agents } => {
                let profiles = self.profiles()?;
                let profile = profiles.one(profile)?;
                profile.check()?;
                providers::plan_apply(&self.store, profile, &providers::named(agents)?, &self.around)
            }
            Wish::Clear { agents } => {
                let (plan, stays) = providers::plan_clear(&self.store, &providers::named(agents)?, &self.around)?;
                *left = stays;
                Ok(plan)
            }
            Wish::Add { profile, replace, keep: false } => providers::plan_add(&self.store, profile, *replace),
            Wish::Add { profile, replace, keep: true } => {
                let profiles = self.profiles()?;
                let old = profiles.one(&profile.name)?.clone();
                let new = (**profile).clone();
                let new =
                    Profile { name: new.name, base_url: new.base_url, model: new.model, wire_api: new.wire_api, ..old };
                providers::plan_add(&self.store, &new, *replace)
            }
            Wish::Remove { profile } => providers::plan_rm(&self.store, profile),
        }
    }

    /// What a wish would do; nothing is written.
    ///
    /// # Errors
    /// When it cannot be done; with the reason.
    pub fn look(&self, wish: &Wish) -> Result<(View, Vec<Left>), Failure> {
        let mut left = Vec::new();
        let plan = self.plan(wish, &mut left)?;
        Ok((self.desk.look(&plan)?, left))
    }

    /// Does it; `seen` is what the person agreed to.
    ///
    /// # Errors
    /// When it cannot be done; then nothing was.
    pub fn fulfil(&self, wish: &Wish, seen: Option<&View>) -> Result<(Done, Vec<Left>), Failure> {
        let mut left = Vec::new();
        let done = self.desk.apply_seen(seen, &mut || self.plan(wish, &mut left))?;
        Ok((done, left))
    }

    /// The command that starts one session of an agent with a profile; no file is changed.
    ///
    /// # Errors
    /// When the agent cannot be told so, its program is not found, or the token cannot be had.
    pub fn run(&self, profile: &str, words: &[std::ffi::OsString]) -> Result<proc::Spec, Failure> {
        let profiles = self.profiles()?;
        let profile = profiles.one(profile)?;
        profile.check()?;
        let Some((name, rest)) = words.split_first() else {
            return Err(Failure::usage("no agent was named").hint("lazyagents provider run <profile> -- <agent> ..."));
        };
        let adapter = self.agent_of(name)?;
        let about = adapter.about();
        let refused = |why: String| {
            Failure::new(format!("could not start {} with {}", about.id, clean(&profile.name))).cause(why)
        };
        let provides = adapter.provides().ok_or_else(|| refused("it cannot be told an endpoint".to_owned()))?;
        let wanted = providers::token_of(profile, &self.context.env, &self.context.paths.home)?;
        let run = provides.run(&wanted).map_err(refused)?;
        if let Some(spot) = providers::lacking(adapter, &self.around)? {
            let (at, file) = (sys::edit::shown(&spot.at), self.context.paths.short(&spot.path));
            return Err(refused(format!(
                "it needs {at} to be {} in {file}, and takes that from nowhere else",
                spot.value
            ))
            .hint(format!("set it there, or `lazyagents provider apply {}` does", clean(&profile.name))));
        }
        let found = detection::places(self.context).into_iter().find(|agent| agent.id == about.id);
        let program = match std::path::Path::new(name).components().count() {
            1 => found.and_then(|agent| agent.binary).or_else(|| proc::which(name, &self.context.env)),
            _ => Some(PathBuf::from(name)),
        };
        let program = program.ok_or_else(|| {
            Failure::new(format!("could not start {}", about.name)).cause("its program was not found in PATH")
        })?;
        let mut env = self.context.env.clone();
        for (name, value) in run.env {
            env.set(name, value);
        }
        let given = |flag: &&str| rest.iter().take_while(|word| *word != "--").any(|word| is_flag(word, flag));
        if let Some(flag) = run.taken.iter().find(|flag| given(flag)) {
            return Err(refused(format!("{flag} is how {} is told the profile", about.name))
                .hint(format!("leave {flag} out, or apply the profile with `lazyagents provider apply`")));
        }
        let usual = run.usual.into_iter().filter(|(flags, _)| !flags.iter().any(&given));
        let ours = run.args.into_iter().chain(usual.flat_map(|(_, args)| args));
        let args = ours.map(Into::into).chain(rest.iter().cloned()).collect();
        Ok(proc::Spec { program: program.into(), args, dir: None, env })
    }

    /// The agent that a word means: its id, or one of its programs, a path to it or not.
    fn agent_of(&self, word: &std::ffi::OsStr) -> Result<&'static dyn Adapter, Failure> {
        let name = std::path::Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned();
        let known = |adapter: &&&'static dyn Adapter| {
            adapter.about().id == name || adapter.about().programs.contains(&name.as_str())
        };
        agents::adapter::all().iter().find(known).copied().ok_or_else(|| {
            let programs: Vec<&str> =
                providers::agents().filter_map(|(adapter, _)| adapter.about().programs.first().copied()).collect();
            Failure::usage(format!("{} is no agent", clean(&name))).hint(format!("there are: {}", programs.join(", ")))
        })
    }

    /// What doctor says: what was found, and what is wrong.
    ///
    /// # Errors
    /// When a file of ours cannot be read or understood.
    pub fn check(&self, found: &[Detected]) -> Result<(Vec<String>, Vec<String>), Failure> {
        let profiles = self.profiles()?;
        let (mut report, mut problems) = (Vec::new(), Vec::new());
        problems.extend(profiles.problems.iter().cloned());
        #[cfg(unix)]
        if let Ok(metadata) = std::fs::metadata(self.file()) {
            use std::os::unix::fs::PermissionsExt;
            let others = metadata.permissions().mode() & 0o077 != 0;
            if others && profiles.list.iter().any(|profile| profile.token.is_some()) {
                let file = self.context.paths.short(self.file());
                problems.push(format!("{file} holds tokens and others may read it: chmod 600 {file}"));
            }
        }
        for state in self.states(&profiles.list, found)? {
            let id = state.agent;
            if let Some(problem) = &state.problem {
                problems.push(format!("{id}: {problem}"));
                continue;
            }
            for (profile, cell) in profiles.list.iter().zip(&state.cells) {
                if *cell == Cell::Applied {
                    report.push(format!("{id} uses {}", profile.name));
                }
            }
            for path in &state.open {
                let file = self.context.paths.short(path);
                problems.push(format!("{id}: {file} holds a token and others may read it: chmod 600 {file}"));
            }
            let Some(remembered) = &state.remembered else { continue };
            if !profiles.list.iter().any(|profile| profile.name == *remembered) {
                problems.push(format!(
                    "{id}: the profile {remembered} is in use there and does not exist any more; \
                     `lazyagents provider clear --agent {id}` takes it out"
                ));
            }
            for place in &state.changed {
                report.push(format!(
                    "{id}: {place} was changed by hand since {remembered} was applied; it is left alone"
                ));
            }
        }
        if report.is_empty() && problems.is_empty() {
            report.push(match profiles.list.len() {
                0 => "no profiles".to_owned(),
                count => format!("{}, none in use", crate::context::things(count, "profile")),
            });
        }
        Ok((report, problems))
    }
}

/// True when a word on a command line is this flag, with its value or without.
fn is_flag(word: &std::ffi::OsStr, flag: &str) -> bool {
    word.to_string_lossy()
        .strip_prefix(flag)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('=') || (!flag.starts_with("--") && !rest.is_empty()))
}
