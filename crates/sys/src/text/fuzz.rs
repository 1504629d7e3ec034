//! What must hold for any text, as plain functions that panic when it does not: run by proptest below and by
//! fuzz targets outside the workspace. It is no part of the room's service; only tests call it.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use super::{ansi, clean, clean_bytes, clean_lines, clip, elide_middle, scan, width, wrap};

/// `fold` keeps its limits, shows no control, loses nothing that fits, and does not depend on what it cuts.
pub fn fold_holds(input: &str) {
    let all = ansi::fold(input, usize::MAX, usize::MAX);
    for line in &all {
        assert!(!line.text().contains(scan::is_hidden_control), "{line:?}");
        for pair in line.0.windows(2) {
            assert_ne!(pair[0].style, pair[1].style, "runs of one style are one run");
        }
    }
    let shown: String = all.iter().map(|line| line.text() + "\n").collect();
    assert_eq!(visible(&shown), visible(&clean_lines(input)));
    for columns in [0, 1, 2, 7, 80] {
        let lines = ansi::fold(input, 3, columns);
        assert_eq!(lines.len(), all.len().min(3));
        for (line, whole) in lines.iter().zip(&all) {
            assert!(line.width() <= columns, "{line:?} in {columns}");
            assert!(width(&line.text()) <= columns, "{line:?} in {columns}");
            let (cut, whole) = (line.text(), whole.text());
            assert!(whole.starts_with(cut.trim_end_matches(' ')), "{cut:?} of {whole:?}");
        }
    }
}

/// The cleaners leave no control and are done in one go.
pub fn clean_holds(input: &str) {
    let line = clean(input);
    assert!(!line.contains(scan::is_hidden_control), "{line:?}");
    assert_eq!(clean(&line), line);
    let lines = clean_lines(input);
    assert!(lines.split('\n').all(|line| !line.contains(scan::is_hidden_control)), "{lines:?}");
    assert_eq!(clean_lines(&lines), lines);
    let cut = clean_bytes(input.as_bytes().get(1..).unwrap_or_default());
    assert!(cut.split('\n').all(|line| !line.contains(scan::is_hidden_control)), "{cut:?}");
}

/// Cutting and wrapping keep the width; wrapping loses nothing but blanks.
pub fn fit_holds(input: &str, columns: usize) {
    let text = clean_lines(input);
    let line = clean(input);
    assert!(width(&clip(&line, columns)) <= columns);
    assert!(width(&elide_middle(&line, columns)) <= columns);
    let wrapped = wrap(&text, columns);
    let widest = text.graphemes(true).map(width).max().unwrap_or(0);
    for line in &wrapped {
        assert!(width(line) <= columns.max(1).max(widest), "{line:?} in {columns}");
    }
    let dense = |text: &str| text.replace([' ', '\n'], "");
    assert_eq!(dense(&wrapped.concat()), dense(&text));
}

/// What takes a cell: what stays when zero-width characters are dropped at line starts or beyond the limit.
/// A blank at the end counts too, line ends do not.
fn visible(text: &str) -> String {
    text.chars().filter(|c| c.width() != Some(0) && *c != '\n').collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces that mean something to a terminal or to a segmenter, in any order, so that they meet and break.
    fn soup() -> impl Strategy<Value = String> {
        let fragments = [
            "\x1b",
            "\x1b[",
            "\x1b]",
            "\x1bP",
            "\x1b_",
            "\x1b(",
            "\x1b\\",
            "\x07",
            "[",
            "]",
            "m",
            ";",
            ":",
            "0",
            "31",
            "38;5;",
            "38:2::1:2:3m",
            "48;2;1;2;3m",
            "?25h",
            ">4;2m",
            "\x1b[1m",
            "\x1b[0m",
            "\x1b[44m",
            "\x1b]8;;u\x07",
            "\u{90}",
            "\u{9b}",
            "\u{9c}",
            "\u{9d}",
            "\u{85}",
            "\n",
            "\r\n",
            "\t",
            "\0",
            "\u{7f}",
            " ",
            "a",
            "word",
            "é",
            "界",
            "ｶ",
            "\u{ff9e}",
            "e\u{301}",
            "\u{301}",
            "\u{fe0f}",
            "\u{200d}",
            "👩",
            "👩\u{200d}💻",
            "🏽",
            "🇧",
            "🇷",
            "☂",
            "\u{200b}",
            "\u{202e}",
            "\u{2066}",
            "\u{feff}",
            "\u{2028}",
            "\u{600}",
            "\u{605}",
            "\u{d4e}",
            "ᄀ",
            "ᅡ",
            "ᆨ",
            "क",
            "\u{94d}",
            "ن",
            "لا",
            "\u{17d8}",
            "\u{1f1e6}",
            "\u{e0067}",
            "\u{fffd}",
        ];
        let piece = prop_oneof![
            6 => proptest::sample::select(fragments.to_vec()).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
            1 => (proptest::sample::select(vec!["\u{301}", "👩\u{200d}", "ᄀ", "\u{600}", "क\u{94d}"]), 30..40_usize)
                .prop_map(|(text, times)| text.repeat(times)),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn folding_holds(input in soup()) {
            fold_holds(&input);
        }

        #[test]
        fn folding_any_text_holds(input in any::<String>()) {
            fold_holds(&input);
        }

        #[test]
        fn cleaning_holds(input in soup()) {
            clean_holds(&input);
        }

        #[test]
        fn fitting_holds(input in soup(), columns in 0..20_usize) {
            fit_holds(&input, columns);
        }
    }
}
