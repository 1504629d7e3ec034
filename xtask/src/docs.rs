//! `cargo xtask docs`: pages that the programs write themselves, links that lead somewhere, no path of somebody's
//! machine. With `--check` it never writes. `test` calls it, and whoever changed a page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::step;

/// Where the pages are that programs of ours write.
const REFERENCE: &str = "docs/reference";

/// Programs that print pages as one JSON object: path below [`REFERENCE`] to text. To add one: its crate and example.
const WRITERS: &[(&str, &str)] = &[("lazyagents", "reference"), ("ez", "reference")];

/// `docs [--check]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => bail!("usage: cargo xtask docs [--check]"),
    };
    let root = step::root();
    let mut faults = generated(&root, check)?;
    let files = documents(&root);
    for file in &files {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(&root).unwrap_or(file).display().to_string();
        faults.extend(broken_links(file, &text).into_iter().map(|(line, fault)| format!("{name}:{line}: {fault}")));
        faults.extend(machine_paths(&text).into_iter().map(|(line, path)| {
            format!("{name}:{line}: {path} is a path of one machine; use /home/dev, ~ or a relative one")
        }));
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!("{} pages, {} faults", files.len(), faults.len());
    if !faults.is_empty() {
        bail!("the docs have faults");
    }
    Ok(())
}

fn generated(root: &Path, check: bool) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut made = BTreeSet::new();
    for (package, example) in WRITERS {
        let mut command = step::cargo(["run", "--quiet", "--package", *package, "--example", *example]);
        let told = step::quiet(&mut command).with_context(|| format!("{package}: the example {example} failed"))?;
        let pages: BTreeMap<String, String> = serde_json::from_str(&told)
            .with_context(|| format!("{package}: the example {example} printed no pages"))?;
        for (file, text) in pages {
            let path = root.join(REFERENCE).join(&file);
            made.insert(path.clone());
            if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
                continue;
            }
            if check {
                faults.push(format!("{REFERENCE}/{file}: out of date; run cargo xtask docs"));
                continue;
            }
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
            }
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("wrote {REFERENCE}/{file}");
        }
    }
    let mut there = Vec::new();
    all_files(&root.join(REFERENCE), &mut there);
    for path in there.into_iter().filter(|path| !made.contains(path)) {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        faults.push(format!("{name}: no program writes this page; remove it"));
    }
    Ok(faults)
}

fn all_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            all_files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The pages that people read: at the root, of each crate, and everything below docs/ and examples/. Test data that
/// happens to be Markdown is none.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root, false, &mut found);
    for folder in ["docs", "examples"] {
        collect(&root.join(folder), true, &mut found);
    }
    if let Ok(crates) = std::fs::read_dir(root.join("crates")) {
        crates.flatten().for_each(|entry| collect(&entry.path(), false, &mut found));
    }
    found.sort();
    found
}

fn collect(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && deep {
            collect(&path, true, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Relative links whose file or heading is not there, with their lines.
fn broken_links(file: &Path, text: &str) -> Vec<(usize, String)> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut broken = Vec::new();
    for (line, link) in links(text) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
        let target = folder.join(path);
        let page = match path {
            "" => text.to_owned(),
            _ if !target.exists() => {
                broken.push((line, format!("link to {path}, which is not there")));
                continue;
            }
            // A link to a folder, a picture or code has no headings to look for.
            _ if target.extension().is_none_or(|extension| extension != "md") => continue,
            _ => std::fs::read_to_string(&target).unwrap_or_default(),
        };
        if !heading.is_empty() && !headings(&page).contains(heading) {
            broken.push((line, format!("link to {link}, which has no such heading")));
        }
    }
    broken
}

/// Lines of a page outside of fenced code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets of all `[text](target)` outside of code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // Every other piece between backticks is code.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let mut rest = plain.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, after)) = after.split_once(')') else { break };
            // A title may follow the target.
            if let Some(target) = target.split_whitespace().next() {
                found.push((number, target.trim_matches(['<', '>']).to_owned()));
            }
            rest = after;
        }
    }
    found
}

/// The names that headings of a page have in links, as code hosts make them.
fn headings(text: &str) -> BTreeSet<String> {
    prose(text)
        .filter_map(|(_, line)| line.strip_prefix('#'))
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// Paths that exist on one machine only, with their lines.
fn machine_paths(text: &str) -> Vec<(usize, String)> {
    let is_path = |c: char| c.is_alphanumeric() || "/._-~$<>{}%".contains(c);
    let below = |word: &str, folder: &str| {
        word.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split(|c| !is_path(c)) {
            let person = word.strip_prefix("/home/").and_then(|rest| rest.split('/').next());
            let person_named =
                person.is_some_and(|name| name != "dev" && name.chars().next().is_some_and(char::is_alphanumeric));
            let in_temporary = word.strip_prefix("/tmp/").is_some_and(|rest| !rest.is_empty());
            if below(word, "/root") || below(word, "/work") || person_named || in_temporary {
                found.push((number, word.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_are_found_and_others_are_not() {
        // Put together here, so that the test data is no finding itself.
        for path in
            [concat!("/ro", "ot/x"), concat!("/wo", "rk"), concat!("/ho", "me/kim/.config"), concat!("/tm", "p/a")]
        {
            let text = format!("first\nsee `{path}`, please\n");
            assert_eq!(machine_paths(&text), [(2, path.to_owned())]);
        }
        let fine = "/home/dev/x /home/<name> ~/work docs/work/x /workspace https://a.example/tmp/x $TMPDIR/root /tmp";
        assert_eq!(machine_paths(fine), []);
    }

    #[test]
    fn links_in_code_and_to_the_net_are_left_alone() {
        let text = "a [b](c.md) `[d](e.md)` [f](<g.md> \"title\")\n```\n[h](i.md)\n```\n![j](k.png)\n";
        let found: Vec<String> = links(text).into_iter().map(|(_, link)| link).collect();
        assert_eq!(found, ["c.md", "g.md", "k.png"]);
        let page = Path::new("no-such-folder/page.md");
        let text = "# A b\n## It's `c`, d\n[x](#a-b) [y](#its-c-d) [z](#e) [n](https://example.com/x) [m](missing.md)";
        let broken: Vec<String> = broken_links(page, text).into_iter().map(|(_, fault)| fault).collect();
        assert_eq!(broken, ["link to #e, which has no such heading", "link to missing.md, which is not there"]);
    }

    #[test]
    fn headings_are_named_as_code_hosts_name_them() {
        let names = headings("# A b\n\n## It's `c`, d\n```\n# no heading\n```\n");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a-b", "its-c-d"]);
    }
}
