//! What one run of a plugin may say, as a pure state machine: the manifest first and in time, then frames and
//! requests; anything the seed calls a failure ends it. It does no I/O; the supervisor feeds it and acts.

use std::time::{Duration, Instant};

use sys::proc::Exit;
use sys::text;
use wire::plugin::{Exec, Frame, PluginMessage};

use super::ManifestView;

/// Seed: "first line, within 3 s of init".
pub const MANIFEST_WITHIN: Duration = Duration::from_secs(3);

/// What the supervisor is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The plugin introduced itself.
    Manifest(ManifestView),
    /// The plugin asks for a command.
    Exec(Exec),
    /// The last frame of a batch.
    Frame(Frame),
    /// The run is over, for this reason; nothing after it counts.
    Failed(String),
}

/// One run of one plugin.
#[derive(Debug)]
pub struct Session {
    id: String,
    state: State,
    lines: u64,
    frames: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// `init` was queued at this moment.
    Greeting(Instant),
    Running,
    Over,
}

impl Session {
    /// A run of plugin `id` whose `init` was queued at `now`.
    pub fn new(id: &str, now: Instant) -> Self {
        Self { id: id.to_owned(), state: State::Greeting(now), lines: 0, frames: 0 }
    }

    /// When the manifest is due; `None` once it has come or the run is over.
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Greeting(since) => Some(since + MANIFEST_WITHIN),
            State::Running | State::Over => None,
        }
    }

    /// Frames seen so far, also those that were never drawn.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Whole lines that came. Requests are all kept, in order; of the frames only the last (clauses F1, F3).
    pub fn lines(&mut self, batch: &[u8]) -> Vec<Said> {
        let mut said = Vec::new();
        let mut last = None;
        for line in batch.split(|byte| *byte == b'\n') {
            if self.state == State::Over {
                break;
            }
            if line.is_empty() {
                self.lines += 1;
                continue;
            }
            self.lines += 1;
            match wire::decode(line) {
                Ok(Some(message)) => self.message(message, &mut said, &mut last),
                Ok(None) if matches!(self.state, State::Greeting(_)) && !blank(line) => {
                    self.fail(&mut said, format!("first message must be manifest, got \"{}\"", unknown_type(line)));
                }
                Ok(None) => {}
                Err(invalid) => {
                    let start = text::clean(&invalid.start);
                    let shown = if start.is_empty() { String::new() } else { format!("\n{start}") };
                    self.fail(&mut said, format!("invalid line from plugin: line {}, {invalid}{shown}", self.lines));
                }
            }
        }
        // `split` counts one more after the last newline.
        if batch.last() == Some(&b'\n') {
            self.lines = self.lines.saturating_sub(1);
        }
        if let (Some(frame), State::Running) = (last, self.state) {
            said.push(Said::Frame(frame));
        }
        said
    }

    fn message(&mut self, message: PluginMessage, said: &mut Vec<Said>, last: &mut Option<Frame>) {
        match (self.state, message) {
            (State::Greeting(_), PluginMessage::Manifest(manifest)) => {
                self.state = State::Running;
                said.push(Said::Manifest(ManifestView::new(&self.id, manifest)));
            }
            (State::Greeting(_), other) => {
                let got = if matches!(other, PluginMessage::Frame(_)) { "frame" } else { "exec" };
                self.fail(said, format!("first message must be manifest, got \"{got}\""));
            }
            (State::Running, PluginMessage::Frame(frame)) => {
                self.frames += 1;
                *last = Some(frame);
            }
            (State::Running, PluginMessage::Exec(exec)) => said.push(Said::Exec(exec)),
            // A second manifest is ignored (clause W4).
            (State::Running, PluginMessage::Manifest(_)) | (State::Over, _) => {}
        }
    }

    fn fail(&mut self, said: &mut Vec<Said>, why: String) {
        self.state = State::Over;
        said.push(Said::Failed(why));
    }

    fn over(&mut self, why: String) -> Option<String> {
        (std::mem::replace(&mut self.state, State::Over) != State::Over).then_some(why)
    }

    /// The deadline passed at `now`: why the run is over, if it is.
    pub fn overdue(&mut self, now: Instant) -> Option<String> {
        match self.deadline() {
            Some(due) if now >= due => self.over(format!("no manifest within {}s", MANIFEST_WITHIN.as_secs())),
            _ => None,
        }
    }

    /// A line passed the limit of the seed.
    pub fn too_long(&mut self) -> Option<String> {
        self.over(format!("the plugin wrote a line longer than 1 MiB ({} bytes)", wire::MAX_LINE))
    }

    /// stdout ended while the process lives: it can say nothing more.
    pub fn closed(&mut self) -> Option<String> {
        self.over("the plugin closed its stdout".to_owned())
    }

    /// The process ended.
    pub fn ended(&mut self, exit: Exit) -> Option<String> {
        let early = matches!(self.state, State::Greeting(_));
        let before = if early { " before its manifest" } else { "" };
        self.over(format!("the plugin ended{before} ({exit})"))
    }

    /// The queue is full (clause B8).
    pub fn deaf(&mut self) -> Option<String> {
        self.over("plugin does not read stdin (256 messages wait)".to_owned())
    }

    /// The host ends the run; that is no failure.
    pub fn stop(&mut self) {
        self.state = State::Over;
    }
}

fn blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// The type of a message that this version does not know, for the reason.
fn unknown_type(line: &[u8]) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(&String::from_utf8_lossy(line)).ok();
    let tag = value.as_ref().and_then(|value| value.get("type")).and_then(serde_json::Value::as_str);
    text::clean(tag.unwrap_or("?")).chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &[u8] = b"{\"type\":\"manifest\",\"title\":\"T\"}\n";

    fn running() -> Session {
        let mut session = Session::new("x", sys::clock::now());
        assert!(matches!(&session.lines(MANIFEST)[..], [Said::Manifest(_)]));
        session
    }

    fn failure(said: &[Said]) -> &str {
        match said.last() {
            Some(Said::Failed(why)) => why,
            other => panic!("no failure: {other:?}"),
        }
    }

    #[test]
    fn n1_anything_else_first_ends_it() {
        let first = |line: &[u8]| {
            let said = Session::new("x", sys::clock::now()).lines(line);
            failure(&said).to_owned()
        };
        assert_eq!(first(b"{\"type\":\"frame\",\"view\":\"x\"}\n"), "first message must be manifest, got \"frame\"");
        assert_eq!(first(b"{\"type\":\"novel\"}\n"), "first message must be manifest, got \"novel\"");
        assert!(first(b"hello\n").starts_with("invalid line from plugin: line 1, column 1: not JSON"));
    }

    #[test]
    fn n1_the_deadline_is_three_seconds() {
        let start = sys::clock::now();
        let mut session = Session::new("x", start);
        assert_eq!(session.overdue(start + Duration::from_millis(2900)), None);
        assert_eq!(session.overdue(start + MANIFEST_WITHIN).as_deref(), Some("no manifest within 3s"));
        assert_eq!(session.overdue(start + MANIFEST_WITHIN), None);
        assert_eq!(running().deadline(), None);
    }

    #[test]
    fn f3_requests_are_kept_and_only_the_last_frame() {
        let batch = b"{\"type\":\"frame\",\"view\":\"1\"}\n{\"type\":\"exec\",\"execId\":1,\"argv\":[\"a\"]}\n\
                      {\"type\":\"frame\",\"view\":\"2\"}\n{\"type\":\"exec\",\"execId\":2,\"argv\":[\"b\"]}\n";
        let said = running().lines(batch);
        assert!(matches!(&said[..], [Said::Exec(a), Said::Exec(b), Said::Frame(f)]
            if a.exec_id == 1 && b.exec_id == 2 && f.view == "2"));
    }

    #[test]
    fn w1_w4_blank_lines_second_manifests_and_unknown_types_are_passed_over() {
        let mut session = Session::new("x", sys::clock::now());
        let said = session.lines(
            b"\n \r\n{\"type\":\"manifest\"}\n{\"type\":\"manifest\",\"title\":\"two\"}\n{\"type\":\"zzz\"}\n\n",
        );
        assert!(matches!(&said[..], [Said::Manifest(m)] if m.title == "x"));
    }

    #[test]
    fn b1_a_bad_line_ends_it_and_nothing_after_it_counts() {
        let mut session = running();
        let said = session
            .lines(b"{\"type\":\"frame\",\"view\":\"a\"}\n{\"type\":\"\"}\n{\"type\":\"frame\",\"view\":\"b\"}\n");
        assert_eq!(said.len(), 1);
        assert_eq!(
            failure(&said),
            "invalid line from plugin: line 3, the message has an empty \"type\"\n{\"type\":\"\"}"
        );
        assert!(session.lines(MANIFEST).is_empty());
        assert_eq!(session.ended(Exit::Code(1)), None);
    }

    #[test]
    fn b4_the_reason_tells_how_it_ended() {
        assert_eq!(running().ended(Exit::Code(0)).as_deref(), Some("the plugin ended (exit code 0)"));
        let mut early = Session::new("x", sys::clock::now());
        assert_eq!(
            early.ended(Exit::Signal(9)).as_deref(),
            Some("the plugin ended before its manifest (signal 9 (SIGKILL))")
        );
    }
}
