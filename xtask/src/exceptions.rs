//! `.ci/exceptions`: conformance cases that are known to fail, each with its reason. It never lets a case through that
//! is not named, and a name that is not needed any more is a failure of its own. Only `ci` calls it.

use anyhow::bail;

/// One line: `<suite> <case id>  # reason`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exception {
    pub(crate) suite: String,
    pub(crate) case: String,
    pub(crate) reason: String,
}

/// Reads the file's text; empty lines and lines that begin with `#` are comments.
pub(crate) fn parse(text: &str) -> anyhow::Result<Vec<Exception>> {
    let mut exceptions: Vec<Exception> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, reason) = line.split_once('#').map_or((line, ""), |(name, reason)| (name.trim(), reason.trim()));
        if reason.is_empty() {
            bail!(".ci/exceptions:{number}: a case needs a reason: <suite> <case id>  # <reason>");
        }
        let Some((suite, case)) = name.split_once(char::is_whitespace) else {
            bail!(".ci/exceptions:{number}: a suite and a case id are needed: <suite> <case id>  # <reason>");
        };
        let exception = Exception { suite: suite.into(), case: case.trim().into(), reason: reason.into() };
        if exceptions.iter().any(|other| other.suite == exception.suite && other.case == exception.case) {
            bail!(".ci/exceptions:{number}: {name} is listed twice");
        }
        exceptions.push(exception);
    }
    Ok(exceptions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_a_suite_a_name_and_a_reason() {
        let text =
            "# comment\n\nlazyagents exec-cancel   # needs a faster machine\nagents claude 1234: input # wrong\n";
        let parsed = parse(text).unwrap();
        assert_eq!(parsed[0].suite, "lazyagents");
        assert_eq!(parsed[0].case, "exec-cancel");
        assert_eq!(parsed[0].reason, "needs a faster machine");
        assert_eq!(parsed[1].case, "claude 1234: input");
    }

    #[test]
    fn without_a_reason_or_a_suite_or_twice_it_is_an_error() {
        for text in ["lazyagents a", "lazyagents a #", "a # why", "x a # why\nx a # why"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
