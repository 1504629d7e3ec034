//! Prints the reference pages as one JSON object, path to text. `cargo xtask docs` runs it; nobody else needs it.

#![allow(clippy::print_stdout, reason = "that is what it is for")]

fn main() {
    let pages: serde_json::Map<_, _> =
        ez::cli::reference::pages().into_iter().map(|(file, text)| (file, text.into())).collect();
    println!("{}", serde_json::Value::Object(pages));
}
