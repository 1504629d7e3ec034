#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr, clippy::expect_used)]
//! Indexes a home folder and prints what it adds up to, by agent, role and day (UTC), as JSON: for comparing with a
//! corpus whose totals are known. `corpus HOME INDEX`

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use agents::Surroundings;
use agents::sessions::{Library, Tokens};

fn main() {
    let args: Vec<_> = std::env::args_os().collect();
    let vars = [(std::ffi::OsString::from("HOME"), args[1].clone())];
    let around = Surroundings::of(&sys::Env::from_iter(vars)).expect("a home");
    let mut library = Library::open(Path::new(&args[2]), &around);
    let started = sys::clock::now();
    let snapshot = library.refresh(&AtomicBool::new(false), &|_| {});
    eprintln!("{} sessions in {:?}", snapshot.sessions.len(), started.elapsed());
    let mut sums: BTreeMap<String, Tokens> = BTreeMap::new();
    for session in &snapshot.sessions {
        for slot in &session.slots {
            let day = slot.start.map_or_else(
                || "unknown".to_owned(),
                |start| {
                    jiff::Timestamp::from_millisecond(start).map(|at| at.strftime("%F").to_string()).unwrap_or_default()
                },
            );
            for key in [
                session.agent.to_owned(),
                format!("{} {:?}", session.agent, slot.role),
                format!("{} {day}", session.agent),
            ] {
                sums.entry(key).or_default().add(&slot.tokens);
            }
        }
    }
    println!("{}", serde_json::to_string_pretty(&sums).expect("JSON"));
}
