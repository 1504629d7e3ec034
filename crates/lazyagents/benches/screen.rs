//! What a frame costs: a plugin's line decoded, its view folded to the body, the whole screen drawn. Run with
//! `cargo bench -p lazyagents`; the limits that these parts serve are in docs/performance.md.

use criterion::{Criterion, criterion_group, criterion_main};
use lazyagents::app::{self, views};
use lazyagents::context::Context;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::hint::black_box;

/// A view of 60 coloured lines of 200 columns, as a busy plugin sends it.
fn view() -> String {
    let line: String = (0..25).map(|n| format!("\u{1b}[38;5;{}mcell {n:02}\u{1b}[0m ", 16 + n * 9)).collect();
    vec![line; 60].join("\n")
}

fn frame(c: &mut Criterion) {
    let view = view();
    let message = wire::plugin::PluginMessage::Frame(wire::plugin::Frame {
        view: view.clone(),
        count: Some(3),
        capturing: false,
    });
    let line = serde_json::to_vec(&message).unwrap_or_default();
    c.bench_function("decode a frame of 60 coloured lines", |b| b.iter(|| wire::decode(black_box(&line))));
    c.bench_function("fold it to 198x47", |b| b.iter(|| sys::text::ansi::fold(black_box(&view), 47, 198)));
    let one = "x\u{1b}[1m".repeat(200_000);
    c.bench_function("fold one hostile line of 1 MiB", |b| b.iter(|| sys::text::ansi::fold(black_box(&one), 47, 198)));
}

fn screen(c: &mut Criterion) {
    let home = std::path::Path::new("/nonexistent/home");
    let env = [("HOME", home)].into_iter().collect();
    let Ok(context) = Context::load(env) else { return };
    let mut state = app::new(&context, (200, 50), sys::clock::now());
    state.agents = lazyagents::detection::places(&context);
    let area = Rect::new(0, 0, 200, 50);
    let mut buffer = Buffer::empty(area);
    c.bench_function("draw the Agents tab at 200x50", |b| b.iter(|| views::draw_into(&state, &mut buffer, area)));
}

criterion_group!(benches, frame, screen);
criterion_main!(benches);
