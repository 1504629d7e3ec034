#!/usr/bin/env python3
"""A real agent against a model that is not one, with lazyagents open beside it. `cargo xtask agents` runs it, once for each
agent; it never leaves the loopback and writes below --dir only.

What is shown: a provider applied by lazyagents is called, a hook enabled by lazyagents fires, the session appears in the
interface and its live sign comes and goes, its tokens are what the model said, a resume goes on in the same session, and
after clear and disable neither happens any more.
"""
import argparse
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

WITHIN = 90
# A request with this prompt is answered only when it is let go.
HOLD = "HOLD on and tell me the second thing"


class Model(http.server.ThreadingHTTPServer):
    """Answers every request with the same words, counts tokens, and holds the request whose prompt is HOLD."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked = []
        self.input = self.output = 0
        self.go = threading.Event()
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def count(self, path, body):
        with self.lock:
            self.asked.append((path, body))
            number = len(self.asked)
            tokens = (1000 + number, 10 + number)
            self.input += tokens[0]
            self.output += tokens[1]
            return number, tokens


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.plain({"data": [{"id": "fake-model", "object": "model"}], "object": "list", "models": []})

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            body = b""
            while True:
                size = int(self.rfile.readline().strip() or b"0", 16)
                body += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        text = body.decode("utf-8", "replace")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.plain({"input_tokens": 10})
        kinds = {"/messages": self.as_messages, "/responses": self.as_responses, "/chat/completions": self.as_chat}
        kind = next((answer for end, answer in kinds.items() if path.endswith(end)), None)
        if kind is None:
            return self.plain({})
        number, tokens = self.server.count(path, text)
        if HOLD in text:
            self.server.go.wait(WITHIN)
        kind(number, tokens, json.loads(text))

    def plain(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events, named=True):
        body = ""
        for event in events:
            if named:
                body += f"event: {event['type']}\n"
            body += f"data: {json.dumps(event) if isinstance(event, dict) else event}\n\n"
        body = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def as_messages(self, number, tokens, body):
        usage = {"input_tokens": tokens[0], "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model"), "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": usage}
        words = f"The model that is none says {number}."
        if not body.get("stream"):
            message |= {"content": [{"type": "text", "text": words}], "stop_reason": "end_turn",
                        "usage": usage | {"output_tokens": tokens[1]}}
            return self.plain(message)
        self.stream([
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
             "usage": {"output_tokens": tokens[1]}},
            {"type": "message_stop"},
        ])

    def as_responses(self, number, tokens, body):
        words = f"The model that is none says {number}."
        item = {"type": "message", "role": "assistant", "id": f"msg_{number}", "status": "completed",
                "content": [{"type": "output_text", "text": words, "annotations": []}]}
        usage = {"input_tokens": tokens[0], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": tokens[1],
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sum(tokens)}
        response = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": body.get("model"),
                    "output": [item], "usage": usage}
        self.stream([
            {"type": "response.created", "response": response | {"status": "in_progress", "output": [], "usage": None}},
            {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
            {"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0, "content_index": 0, "delta": words},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ])

    def as_chat(self, number, tokens, body):
        words = f"The model that is none says {number}."
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
        base = {"id": f"chat_{number}", "created": 1, "model": body.get("model")}
        if not body.get("stream"):
            message = {"role": "assistant", "content": words}
            return self.plain(base | {"object": "chat.completion", "usage": usage,
                                      "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        chunk = base | {"object": "chat.completion.chunk"}
        self.stream([
            chunk | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": words}, "finish_reason": None}]},
            chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage},
            "[DONE]",
        ], named=False)


AGENTS = {
    # What its program is called with; {prompt} and {id} are filled in. `hooks`: its own name of the event, or None.
    "claude": {
        "id": "claude-code", "url": "", "model": "claude-sonnet-5-5", "key": "ANTHROPIC_AUTH_TOKEN", "wire": None, "hook": True, "once": True,
        "run": ["-p", "{prompt}"], "resume": ["-p", "--resume", "{id}", "{prompt}"],
        "env": {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    },
    "codex": {
        "id": "codex", "url": "/v1", "model": "fake-model", "key": "FAKE_TOKEN", "wire": "responses", "hook": True, "once": True,
        # Trust is the person's: for this one call all hooks are run (agent-formats.md, Codex, Trust).
        "run": ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "{prompt}"],
        "resume": ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "resume", "{id}", "{prompt}"],
        "env": {},
    },
    "qwen": {
        "id": "qwen-code", "url": "/v1", "model": "fake-model", "key": "OPENAI_API_KEY", "wire": "chat", "hook": True, "once": True,
        "run": ["-p", "{prompt}"], "resume": ["--resume", "{id}", "-p", "{prompt}"], "env": {},
    },
    "pi": {
        "id": "pi", "url": "/v1", "model": "fake-model", "key": "FAKE_TOKEN", "wire": "chat", "hook": False, "once": False,
        "run": ["-p", "{prompt}"], "resume": ["-p", "--session", "{id}", "{prompt}"], "env": {"PI_OFFLINE": "1"},
    },
    "opencode": {
        "id": "opencode", "url": "/v1", "model": "fake-model", "key": "FAKE_TOKEN", "wire": "chat", "hook": False, "once": True,
        "run": ["run", "{prompt}"], "resume": ["run", "-s", "{id}", "{prompt}"], "env": {},
    },
}


class Wrong(Exception):
    pass


class World:
    def __init__(self, args):
        self.agent = AGENTS[args.agent]
        self.bin, self.program = args.bin, args.program
        self.home = os.path.join(args.dir, "turns-" + args.agent)
        shutil.rmtree(self.home, ignore_errors=True)
        self.work = os.path.join(self.home, "projects", "webshop")
        os.makedirs(self.work)
        self.model = Model()
        self.children = []
        self.env = {"HOME": self.home, "PATH": os.pathsep.join([os.path.dirname(args.program), args.node, "/usr/bin", "/bin"]),
                    "TERM": "xterm-256color", "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1", self.agent["key"]: "not-a-real-token"}
        self.env |= self.agent["env"]
        self.tmux = ["tmux", "-f", "/dev/null", "-L", f"turns-{os.getpid()}"]

    def ours(self, *words, fails=False):
        done = subprocess.run([self.bin, *words], env=self.env, cwd=self.work, capture_output=True, text=True, timeout=WITHIN)
        if (done.returncode != 0) != fails:
            raise Wrong(f"lazyagents {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def session(self):
        rows = json.loads(self.ours("sessions", "--agent", self.agent["id"], "--json"))
        return rows

    def start(self, which, prompt, session=None):
        words = [word.format(prompt=prompt, id=session) for word in self.agent[which]]
        child = subprocess.Popen([self.program, *words], env=self.env, cwd=self.work, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.children.append(child)
        return child

    def turn(self, which, prompt, session=None, within=WITHIN):
        child = self.start(which, prompt, session)
        try:
            return child.communicate(timeout=within)[0]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            return child.communicate()[0]

    def wait(self, what, found, within=WITHIN):
        end = time.monotonic() + within
        while time.monotonic() < end:
            if found():
                return
            time.sleep(0.2)
        raise Wrong(f"waited {within} s for {what}")

    def screen(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p", "-t", "t"], capture_output=True, text=True).stdout

    def open(self):
        subprocess.run([*self.tmux, "new-session", "-d", "-s", "t", "-x", "140", "-y", "40", self.bin], env=self.env,
                       cwd=self.work, check=True)
        self.wait("the interface", lambda: "Sessions" in self.screen())

    def close(self):
        self.model.go.set()
        for child in self.children:
            if child.poll() is None:
                os.killpg(child.pid, 9)
                child.wait()
        subprocess.run([*self.tmux, "kill-server"], capture_output=True)


def must(right, what):
    if not right:
        raise Wrong(what)


def check(world):
    agent, model = world.agent, world.model
    fired = os.path.join(world.home, "fired.json")
    add = ["provider", "add", "fake", "--base-url", model.url() + agent["url"], "--model", agent["model"], "--env-key", agent["key"]]
    world.ours(*add, *(["--wire-api", agent["wire"]] if agent["wire"] else []))
    world.ours("provider", "apply", "fake", "--agent", agent["id"])
    if agent["hook"]:
        world.ours("hooks", "add", "mark", "--event", "UserPromptSubmit", "--command", f"cat > '{fired}'")
        world.ours("hooks", "enable", "mark", "--agent", agent["id"])
    world.open()
    said = world.turn("run", "Why is the cart a cent off, first?")
    must(any("first?" in body for _, body in model.asked), f"the endpoint was not called; the agent said:\n{said}")
    if agent["hook"]:
        must(os.path.exists(fired), f"the hook did not fire; the agent said:\n{said}")
        must("first?" in open(fired).read(), "the hook was not given the prompt")
    world.wait("the session in the interface", lambda: "cart a cent" in world.screen())
    rows = world.session()
    must(len(rows) == 1 and rows[0]["prompts"] == 1, f"one session with one prompt was expected: {json.dumps(rows)[:600]}")
    session = rows[0]["id"]
    print(f"  applied and called, {len(model.asked)} requests; {'hook fired; ' if agent['hook'] else ''}the session appeared")

    live = "live" in next(row["can"] for row in json.loads(world.ours("agents", "--json")) if row["id"] == agent["id"])
    child = world.start("resume", HOLD, session)
    if live:
        world.wait("the live sign", lambda: any(row["live"] for row in world.session()))
        world.wait("the live sign in the interface", lambda: re.search(r"●\s+" + agent["id"].split("-")[0], world.screen()))
    model.go.set()
    child.communicate(timeout=WITHIN)
    world.wait("the second prompt", lambda: world.session() and world.session()[0]["prompts"] == 2)
    if live:
        world.wait("the end of the live sign", lambda: not any(row["live"] for row in world.session()))
    rows = world.session()
    must(len(rows) == 1 and rows[0]["id"] == session, f"the resume made another session: {[row['id'] for row in rows]}")
    usage = rows[0]["usage"]
    counted = (usage["input"] + usage["cache_read"] + usage["cache_write"], usage["output"])
    told = (model.input, model.output)
    print(f"  resumed in the same session; {'live came and went; ' if live else ''}tokens {counted}, the model said {told}")
    must(counted == told or counted[0] <= told[0] and agent["id"] in ("claude-code", "qwen-code", "opencode"), "tokens differ")
    shown = json.loads(world.ours("sessions", "show", session, "--json"))
    must(any("The model that is none says" in (turn["text"] or "") for turn in shown["turns"]), "the answer cannot be read")

    world.ours("provider", "clear")
    if agent["hook"]:
        world.ours("hooks", "disable", "mark")
        os.remove(fired)
    before = len(model.asked)
    world.turn("run", "And now, third?", within=25)
    must(len(model.asked) == before, "the endpoint was called after clear")
    must(not os.path.exists(fired), "the hook fired after disable")
    if agent["once"]:
        prompt = "And once more, fourth?"
        words = [word.format(prompt=prompt) for word in agent["run"]]
        world.ours("provider", "run", "fake", "--", world.program, *words)
        must(any("fourth?" in body for _, body in model.asked[before:]), "`provider run` did not reach the endpoint")
        print("  provider run reached it for one session")
    doctor = world.ours("doctor")
    must("✗" not in doctor, doctor)
    print("  after clear and disable neither happened; doctor is content")


def main():
    parser = argparse.ArgumentParser()
    for name in ("agent", "program", "node", "bin", "dir"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    if args.agent not in AGENTS:
        print(f"{args.agent}: no turns with this one: it was not tried against a model that is none")
        return 0
    world = World(args)
    print(f"{args.agent}:")
    try:
        check(world)
    except (Wrong, subprocess.TimeoutExpired) as wrong:
        print(f"  wrong: {wrong}")
        print(world.screen())
        return 1
    finally:
        world.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
