//! Pictures of the real screen for the docs: runs the built program in a terminal and draws what it shows as SVG.
//! `cargo xtask picture` runs it as `picture PROGRAM FOLDER`; nothing else calls it. The text is the same on every
//! machine: the home is the demo's, and no shot shows a time, a process or a path outside of the home.

#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "a developer's tool")]
#![allow(clippy::print_stdout, reason = "it says what it wrote")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::{Cell, Color, Home, Pty, Screen};

/// Pixels of a cell.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;
/// Pixels around the screen.
const MARGIN: f32 = 10.0;

/// One picture: its file, the columns and rows of the terminal, the keys that lead to it, and what is on it then.
struct Shot {
    file: &'static str,
    columns: u16,
    rows: u16,
    keys: &'static [&'static str],
    /// Each has to be on the screen.
    shown: &'static [&'static str],
}

const SHOTS: &[Shot] = &[
    Shot {
        file: "screen.svg",
        columns: 100,
        rows: 26,
        keys: &["7", "j"],
        shown: &["Clock 0", "Hello 0", "Agents 6", "▸ broken", "last words on stderr", "space hide/show"],
    },
    Shot {
        file: "plugin.svg",
        columns: 80,
        rows: 18,
        keys: &["4", "a", "i", "Good morning", "\r"],
        shown: &["Clock 0", "Agents 6", "Good morning", ": commands"],
    },
];

fn main() {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (program, folder) = (args.next().expect("the program"), args.next().expect("the folder of the pictures"));
    std::fs::create_dir_all(&folder).expect("the folder of the pictures");
    for shot in SHOTS {
        let path = folder.join(shot.file);
        std::fs::write(&path, svg(&take(&program, shot))).expect("a picture that can be written");
        println!("{}", shot.file);
    }
}

fn take(program: &Path, shot: &Shot) -> Screen {
    let home = Home::new();
    let pty = Pty::spawn(program, &["--demo"], &home, shot.rows, shot.columns);
    // The plugins and the agents are there, and the words about the broken one have gone from the footer.
    pty.wait_text("Hello 0");
    pty.wait_text("Agents 6");
    for keys in shot.keys {
        pty.send(keys);
    }
    let all = |screen: &Screen| shot.shown.iter().all(|text| screen.has(text));
    let screen = pty.wait_within(Duration::from_secs(30), all, shot.file);
    pty.send("q");
    pty.wait_exit(Duration::from_secs(10));
    screen
}

/// Cells in a row that look the same.
struct Run {
    start: u16,
    cells: u16,
    text: String,
    fg: String,
    bg: String,
    cell: Cell,
}

fn svg(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let (width, height) = (f32::from(columns) * WIDTH + 2.0 * MARGIN, f32::from(rows) * HEIGHT + 2.0 * MARGIN);
    let ground = colours(&screen.cell(rows - 1, 0)).1;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{ground}\"/>\n"
    );
    for row in 0..rows {
        let runs = runs(screen, row, columns);
        for run in runs.iter().filter(|run| run.bg != ground) {
            let (x, y, w) = (left(run.start), top(row), f32::from(run.cells) * WIDTH);
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{HEIGHT:.1}\" fill=\"{}\"/>",
                run.bg
            );
        }
        for run in &runs {
            draw(&mut svg, run, row);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn left(column: u16) -> f32 {
    MARGIN + f32::from(column) * WIDTH
}

/// A small number as pixels count it.
fn cells(count: usize) -> f32 {
    u16::try_from(count).map_or(0.0, f32::from)
}

fn top(row: u16) -> f32 {
    MARGIN + f32::from(row) * HEIGHT
}

fn draw(svg: &mut String, run: &Run, row: u16) {
    let (x, y) = (left(run.start), top(row));
    let end = x + f32::from(run.cells) * WIDTH;
    let middle = y + HEIGHT / 2.0;
    // Lines are drawn, so that they meet whatever the font.
    if run.text.chars().all(|c| c == '─') {
        let _ = writeln!(svg, "<path d=\"M{x:.1} {middle:.1}H{end:.1}\" stroke=\"{}\"/>", run.fg);
    } else if run.text == "│" {
        let (x, bottom) = (x + WIDTH / 2.0, y + HEIGHT);
        let _ = writeln!(svg, "<path d=\"M{x:.1} {y:.1}V{bottom:.1}\" stroke=\"{}\"/>", run.fg);
    } else if !run.text.trim().is_empty() {
        let mut look = String::new();
        for (on, attribute) in [
            (run.cell.bold, " font-weight=\"bold\""),
            (run.cell.italic, " font-style=\"italic\""),
            (run.cell.underline, " text-decoration=\"underline\""),
            (run.cell.dim, " opacity=\"0.7\""),
        ] {
            if on {
                look.push_str(attribute);
            }
        }
        // Blanks at the ends are no text; those inside must stay as wide as they are.
        let before = run.text.len() - run.text.trim_start_matches(' ').len();
        let after = run.text.len() - run.text.trim_end_matches(' ').len();
        let (x, end) = (x + cells(before) * WIDTH, end - cells(after) * WIDTH);
        let (baseline, length) = (y + 13.5, end - x);
        let text = run.text.trim_matches(' ');
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{baseline:.1}\" fill=\"{}\" textLength=\"{length:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\"{look}>{text}</text>",
            run.fg
        );
    }
}

fn runs(screen: &Screen, row: u16, columns: u16) -> Vec<Run> {
    let line =
        |cell: &Cell| if matches!(cell.text.as_str(), "│" | "─") { cell.text.clone() } else { String::new() };
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let cell = screen.cell(row, column);
        if cell.continuation {
            if let Some(run) = runs.last_mut() {
                run.cells += 1;
            }
            continue;
        }
        let (fg, bg) = colours(&cell);
        let same = |run: &&mut Run| {
            let look = |cell: &Cell| (cell.bold, cell.dim, cell.italic, cell.underline, line(cell));
            // A wide character ends its run, so that the next one begins in the right column.
            run.fg == fg && run.bg == bg && look(&run.cell) == look(&cell) && !run.cell.wide && !cell.wide
        };
        match runs.last_mut().filter(same) {
            Some(run) => {
                run.cells += 1;
                run.text.push_str(&cell.text);
            }
            None => runs.push(Run { start: column, cells: 1, text: cell.text.clone(), fg, bg, cell }),
        }
    }
    runs
}

/// Text and background, as they are seen.
fn colours(cell: &Cell) -> (String, String) {
    let (fg, bg) = (colour(cell.fg, "#cccccc"), colour(cell.bg, "#000000"));
    if cell.inverse { (bg, fg) } else { (fg, bg) }
}

/// The program draws with its own colours; the sixteen of a terminal only stand in.
fn colour(colour: Color, default: &str) -> String {
    match colour {
        Color::Default => default.to_owned(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Idx(index @ 16..=231) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let index = index - 16;
            format!("#{:02x}{:02x}{:02x}", level(index / 36), level(index / 6 % 6), level(index % 6))
        }
        Color::Idx(index @ 232..) => {
            let grey = 8 + 10 * (index - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
        Color::Idx(index) => {
            const NAMED: [&str; 16] = [
                "#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5", "#7f7f7f",
                "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
            ];
            NAMED[usize::from(index)].to_owned()
        }
    }
}
