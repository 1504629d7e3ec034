#!/usr/bin/env python3
"""Makes a history of Claude Code and Codex of any size whose true totals are known, for benches/sessions.py.

    python3 benches/lib/corpus.py FOLDER [--mb 1000] [--files 6000] [--seed 7] [--days 120]

Writes FOLDER/home (with .claude and .codex) and FOLDER/truth.json. The same arguments give the same bytes. Lines are
grown from those that the real programs left in the fixtures of crates/agents: their records, keys and order, with
other ids, times, texts and numbers. Needs python3 alone; a gigabyte takes about a minute.

What a counter may get wrong is in it: a response on several lines that all bear its usage; sessions continued in a
second file that repeats the first one; sessions of which every row is repeated elsewhere; Codex' running totals, told
again and again; Codex' cache writes inside its input; older rollouts that only have running totals; compactions that
only a cumulative record counts; sub-agents in files of their own; a last line that is only half there.
"""

import argparse
import json
import os
import random
import shutil
import sys
from datetime import datetime, timedelta, timezone

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = os.path.join(ROOT, "crates/agents/src/adapters")
KINDS = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning", "requests")
END = datetime(2026, 11, 30, 22, 0, tzinfo=timezone.utc)
# In so many sessions, and nowhere else.
RARE, RARE_SESSIONS = "quartz lantern protocol", 7
COMMON = "function"
WORDS = """the a of to and in is that it for on with as this be are from at or an by not we can if but then
function file test error value line return string number list user session server client request response
build run check fix change small step module crate package import export class method field type struct
config path folder name key index cache token limit query table row column text word read write open close
loop branch merge commit push pull review plan note summary detail reason result output input command shell
cart total price order invoice customer ledger account balance payment report login button page style color
parse format render layout window screen cursor border panel footer header scroll focus select filter sort
retry timeout delay queue worker thread lock mutex channel stream buffer chunk batch offset length size""".split()


def dumps(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def records(*path):
    with open(os.path.join(ROOMS, *path), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Corpus:
    def __init__(self, folder, seed, days):
        self.home = os.path.join(folder, "home")
        self.random = random.Random(seed)
        self.days = days
        self.bytes = self.files = self.count = self.rare = 0
        self.truth = {}
        self.sessions = {"claude-code": 0, "codex": 0}
        self.copies = []
        # Texts are cut out of one long text: the same words as anywhere, and never the same lines.
        words = self.random.choices(WORDS, k=400_000)
        for at in range(0, len(words), 37):
            words[at] = self.random.choice((".\n", ",", "\n\n", "(", ")", "`x`", "—", "ü", "{", "};", "\"", "\\", "\t"))
        for at in range(0, len(words), 101):
            words[at] = "".join(self.random.choices("abcdefghijklmnopqrstuvwxyz0123456789_", k=11))
        self.words = " ".join(words)

    def text(self, length):
        start = self.random.randrange(len(self.words) - 1)
        text = self.words[start:start + length]
        while len(text) < length:
            text += self.words[:length - len(text)]
        return text

    def id(self):
        self.count += 1
        n = self.random.getrandbits(128)
        text = f"{n:032x}"
        return f"{text[:8]}-{text[8:12]}-7{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def add(self, agent, at, **kinds):
        for table in ((agent, "all"), (agent, at.strftime("%F"))):
            sums = self.truth.setdefault(table[0], {}).setdefault(table[1], dict.fromkeys(KINDS, 0))
            for kind, count in kinds.items():
                sums[kind] += count

    def begin(self):
        """When a session begins: some hours of a day, more of them late than early."""
        day = int(self.days * (1 - self.random.random() ** 1.5))
        return END - timedelta(days=day, seconds=self.random.randrange(43_200), milliseconds=self.random.randrange(1000))

    def write(self, path, lines, half=False):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = ("\n".join(lines) + "\n").encode()
        if half:
            data += lines[-1].encode()[:len(lines[-1]) // 2]
        with open(path, "wb") as file:
            file.write(data)
        self.bytes += len(data)
        self.files += 1

    def size(self, mean):
        """Bytes that a session shall have: most are small, a few very large."""
        return min(int(self.random.lognormvariate(0, 1.25) * mean / 2.18) + 4_000, 40_000_000)

    def usage(self):
        pick = self.random.randrange
        read = pick(2_000, 180_000) if pick(20) else 0
        write = pick(200, 9_000) if pick(3) else 0
        reasoning = pick(0, 900) if pick(2) else 0
        return {
            "input": pick(3, 4_000), "cache_read": read, "cache_write": write,
            "output": pick(20, 1_800) + reasoning, "reasoning": reasoning,
        }


def stamp(at):
    return at.strftime("%FT%T.") + f"{at.microsecond // 1000:03d}Z"


class Claude:
    """Sessions of Claude Code."""

    def __init__(self, corpus):
        self.c = corpus
        project = "claude_code/fixtures/home/.claude/projects/-home-dev-projects-notes-app"
        lines = records(project, "3d41b5bd-323c-4072-927f-fee3519551f5.jsonl")
        first = next(at for at, line in enumerate(lines) if line["type"] == "assistant")
        self.opening = lines[:first]
        self.thinking, self.saying, self.calling = lines[first:first + 3]
        self.last_prompt = next(line for line in lines if line["type"] == "last-prompt")
        self.answer = next(line for line in lines if line.get("toolUseResult"))
        self.prompt = next(line for line in lines if line["type"] == "user")
        self.cost = next(line for line in lines if line["type"] == "cost-state")
        self.blob = next(line for line in lines if line["type"] == "api-request-blob")
        self.request = next(line for line in lines if line["type"] == "api-request")
        self.boundary = next(line for line in lines if line.get("subtype") == "compact_boundary")
        self.summary = next(line for line in lines if line.get("isCompactSummary"))
        self.snapshots = [line for line in lines if (line.get("attachment") or {}).get("type") == "prompt_snapshot"]

    def place(self, record, session, cwd, at=None):
        for key, value in (("sessionId", session), ("cwd", cwd), ("timestamp", at and stamp(at))):
            if key in record and value:
                record[key] = value
        if "uuid" in record:
            record["parentUuid"], record["uuid"] = self.leaf, self.c.id()
            self.leaf = record["uuid"]
        return dumps(record)

    def session(self, mean, subagents=True):
        c, pick = self.c, self.c.random.randrange
        session, cwd = c.id(), f"/home/dev/projects/{c.random.choice(WORDS)}-{pick(12)}"
        at, goal, self.leaf = c.begin(), c.size(mean), None
        folder = ".claude/projects/" + "".join(ch if ch.isalnum() else "-" for ch in cwd)
        lines, size, sums = [], 0, {}
        for record in self.opening:
            if record["type"] == "user":
                record["message"]["content"] = c.text(pick(20, 300)).strip() or "go on"
            lines.append(self.place(record, session, cwd, at))
        rare = c.rare < RARE_SESSIONS and pick(40) == 0
        if rare:
            c.rare += 1
            lines.append(self.asked(session, cwd, at, f"Now the {RARE}, see above."))
        size = sum(map(len, lines))
        while size < goal:
            at += timedelta(seconds=pick(1, 240))
            some = self.turn(session, cwd, at, sums, "claude-opus-5-5" if pick(4) else "claude-sonnet-5-5")
            size += sum(map(len, some))
            lines += some
        if subagents and pick(5) == 0:
            for _ in range(pick(1, 4)):
                self.subagent(folder, session, cwd, at, sums)
        copied = pick(20) == 0 and not rare
        compacted = not copied and pick(8) == 0
        if compacted:
            at += timedelta(seconds=9)
            self.leaf = None
            lines.append(self.place(self.boundary, session, cwd, at))
            self.summary["message"]["content"] = c.text(1_200)
            lines.append(self.place(self.summary, session, cwd, at))
            u = c.usage()
            u["cache_write_1h"] = u["cache_write"] // 3
            c.add("claude-code", at, requests=1, **u)
            add(sums.setdefault("claude-sonnet-5-5", {}), u)
        if not copied or pick(2):
            self.last_prompt["lastPrompt"] = c.text(80)
            lines.append(self.place(self.last_prompt, session, cwd))
            self.cost["modelUsage"] = {model: {
                "inputTokens": u["input"], "outputTokens": u["output"], "thinkingTokens": u["reasoning"],
                "cacheReadInputTokens": u["cache_read"], "cacheCreationInputTokens": u["cache_write"],
                "cacheCreationEphemeral5mInputTokens": u["cache_write"] - u["cache_write_1h"],
                "cacheCreationEphemeral1hInputTokens": u["cache_write_1h"], "webSearchRequests": 0,
                "costUSD": 0.01,
            } for model, u in sums.items()}
            lines.append(self.place(self.cost, session, cwd))
        c.write(f"{folder}/{session}.jsonl", lines, half=pick(300) == 0)
        c.sessions["claude-code"] += 1
        if copied:
            # Continued under another id: what was said is there again, each record with its message's old id.
            other = c.id()
            again = [line.replace(session, other) for line in lines if '"type":"cost-state"' not in line]
            at += timedelta(hours=pick(1, 30))
            more = [self.asked(other, cwd, at, c.text(60))] + self.turn(other, cwd, at, {}, "claude-opus-5-5")
            c.write(f"{folder}/{other}.jsonl", again + more)
            c.sessions["claude-code"] += 1

    def asked(self, session, cwd, at, text):
        self.prompt["message"]["content"] = text
        return self.place(self.prompt, session, cwd, at)

    def responses(self, session, cwd, at, sums, model):
        """The lines of one response, and what a tool answered."""
        c, pick = self.c, self.c.random.randrange
        u = c.usage()
        u["cache_write_1h"] = u["cache_write"] // 4
        c.add("claude-code", at, requests=1, **u)
        add(sums.setdefault(model, {}), u)
        message, call = f"msg_{c.id()[:20]}", f"toolu_{c.id()[:20]}"
        self.thinking["message"]["content"][0]["thinking"] = c.text(pick(40, 1_500))
        self.saying["message"]["content"][0]["text"] = c.text(pick(40, 1_200))
        self.calling["message"]["content"][0].update(
            id=call, input={"command": c.text(pick(10, 300)), "description": c.text(30)})
        lines = []
        for nth, record in enumerate((self.thinking, self.saying, self.calling)):
            if nth == 0 and not u["reasoning"]:
                continue
            said = record["message"]
            said["id"], said["model"] = message, model
            said["usage"].update(
                input_tokens=u["input"], cache_creation_input_tokens=u["cache_write"],
                cache_read_input_tokens=u["cache_read"], output_tokens=u["output"],
                output_tokens_details={"thinking_tokens": u["reasoning"]},
                cache_creation={"ephemeral_1h_input_tokens": u["cache_write_1h"],
                                "ephemeral_5m_input_tokens": u["cache_write"] - u["cache_write_1h"]})
            record["requestId"] = f"req_{message}"
            lines.append(self.place(record, session, cwd, at))
        # Most answers of tools are short, some are whole files; it writes them twice.
        length = pick(60, 900) if pick(5) else pick(2_000, 30_000)
        output = c.text(length)
        self.answer["message"]["content"][0].update(tool_use_id=call, content=output)
        self.answer["toolUseResult"]["stdout"] = output
        lines.append(self.place(self.answer, session, cwd, at))
        return lines

    def turn(self, session, cwd, at, sums, model):
        c, pick = self.c, self.c.random.randrange
        lines = [self.asked(session, cwd, at, c.text(pick(20, 600)) or "go on")] if pick(2) else []
        for _ in range(pick(1, 5)):
            lines += self.responses(session, cwd, at, sums, model)
        for _ in range(pick(3)):
            self.blob.update(hash=c.id())
            self.blob["content"] = c.text(pick(100, 3_000))
            lines.append(self.place(self.blob, session, cwd))
        lines.append(self.place(self.request, session, cwd))
        if pick(6) == 0:
            lines.append(self.place(c.random.choice(self.snapshots), session, cwd, at))
        return lines

    def subagent(self, folder, session, cwd, at, sums):
        c, own = self.c, f"a{self.c.id()[:8]}"
        lines = []
        for _ in range(c.random.randrange(1, 12)):
            at += timedelta(seconds=3)
            lines += self.responses(session, cwd, at, sums, "claude-sonnet-5-5")
        lines = [line.replace('"isSidechain":false', f'"isSidechain":true,"agentId":"{own}"', 1) for line in lines]
        c.write(f"{folder}/{session}/subagents/agent-{own}.jsonl", lines)


def add(sums, more):
    for kind, count in more.items():
        sums[kind] = sums.get(kind, 0) + count


class Codex:
    """Rollouts of Codex, of today and of the time before it recorded responses."""

    def __init__(self, corpus):
        self.c = corpus
        name = "rollout-2026-11-30T20-12-43-01a22e16-9cd7-7550-bee2-612e3a8b2ecb.jsonl"
        lines = records("codex/fixtures/home/.codex/sessions/2026/11/30", name)
        self.old_id, self.old_cwd = lines[0]["payload"]["id"], lines[0]["payload"]["cwd"]
        kind = lambda line: (line["type"], line["payload"].get("type"), (line["payload"].get("item") or {}).get("type"))
        first = {}
        for line in lines:
            first.setdefault(kind(line), line)
        self.opening = lines[:7]
        self.meta = lines[0]
        self.user = next(line for line in lines if "user.text" in dumps(line))
        self.typed = first["event_msg", "item_completed", "UserMessage"]
        self.thought = [first["event_msg", "item_completed", "Reasoning"], first["response_item", "reasoning", None]]
        self.call = first["response_item", "function_call", None]
        self.record = first["token_usage_record", None, None]
        self.ran = first["event_msg", "item_completed", "CommandExecution"]
        self.output = first["response_item", "function_call_output", None]
        self.counted = first["event_msg", "token_count", None]
        self.said = [first["event_msg", "item_completed", "AgentMessage"],
                     next(line for line in lines if line["payload"].get("role") == "assistant")]
        self.done = first["event_msg", "task_complete", None]

    def put(self, record, at):
        record["timestamp"], record["ordinal"] = stamp(at), self.ordinal
        self.ordinal += 1
        self.lines.append(dumps(record))
        self.length += len(self.lines[-1])

    def session(self, mean, parent=None, begin=None):
        c, pick = self.c, self.c.random.randrange
        session, at, goal = c.id(), begin or c.begin(), c.size(mean) if parent is None else 60_000
        started, old = at, pick(4) == 0
        self.lines, self.length, self.ordinal = [], 0, 0
        total = dict.fromkeys(("input", "cache_read", "cache_write", "output", "reasoning"), 0)
        meta = self.meta["payload"]
        meta.update(id=session, session_id=parent or session, timestamp=stamp(at))
        meta["cwd"] = f"/home/dev/projects/{c.random.choice(WORDS)}-{pick(12)}"
        meta["source"] = "exec" if parent is None else {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
        meta["thread_source"] = "user" if parent is None else "subagent"
        for record in self.opening:
            if record["type"] == "turn_context":
                record["payload"]["model"] = c.random.choice(("gpt-5.2-codex", "gpt-5.2"))
            self.put(record, at)
        words = f"Now the {RARE}, see above." if parent is None and c.rare < RARE_SESSIONS and pick(40) == 0 else None
        rare = words is not None
        c.rare += rare
        while self.length < goal or words:
            at += timedelta(seconds=pick(1, 240))
            if not old:
                self.user["payload"]["content"][0]["text"] = words or c.text(pick(20, 600))
                self.put(self.user, at)
                self.typed["payload"]["item"]["content"][0]["text"] = self.user["payload"]["content"][0]["text"]
                self.put(self.typed, at)
            else:
                self.put({"timestamp": "", "ordinal": 0, "type": "event_msg", "payload": {
                    "type": "user_message", "message": words or c.text(pick(20, 600)), "kind": "plain"}}, at)
            words = None
            if total["output"]:
                # A turn begins by telling the sum again.
                self.sum(at, total, total)
            for _ in range(pick(1, 6)):
                at += timedelta(milliseconds=pick(50, 9_000))
                self.response(session, at, total, old)
            for record in self.said:
                self.set_text(record, c.text(pick(40, 2_500)))
                self.put(record, at)
            self.done["payload"]["last_agent_message"] = c.text(pick(40, 200))
            self.put(self.done, at)
        self.file(session, started, half=parent is None and pick(300) == 0)
        if parent is None:
            c.sessions["codex"] += 1
            lines, ordinal = self.lines, self.ordinal
            if pick(6) == 0:
                for _ in range(pick(1, 3)):
                    self.session(mean, parent=session, begin=at)
            if pick(20) == 0 and not rare:
                self.fork(lines, ordinal, at, total, old)

    def fork(self, lines, ordinal, at, total, old):
        """A rollout that begins with all of another one, then goes on."""
        c = self.c
        at += timedelta(hours=c.random.randrange(1, 30))
        session, started = c.id(), at
        self.meta["payload"].update(id=session, session_id=session, timestamp=stamp(at), source="exec", thread_source="user")
        self.lines, self.length, self.ordinal = [], 0, 0
        self.put(self.meta, at)
        self.lines, self.ordinal = self.lines + lines, ordinal + 1
        for _ in range(c.random.randrange(1, 4)):
            at += timedelta(seconds=7)
            self.response(session, at, total, old)
        self.file(session, started)
        c.sessions["codex"] += 1

    def file(self, session, at, half=False):
        name = f"rollout-{at.strftime('%FT%H-%M-%S')}-{session}.jsonl"
        self.c.write(f".codex/sessions/{at.strftime('%Y/%m/%d')}/{name}", self.lines, half)

    def set_text(self, record, text):
        payload = record["payload"]
        item = payload.get("item") or payload
        for key in ("content", "summary"):
            if item.get(key):
                item[key][0]["text"] = text
        if "summary_text" in item:
            item["summary_text"] = [text]

    def sum(self, at, total, last):
        info = self.counted["payload"]["info"]
        info["total_token_usage"], info["last_token_usage"] = overlapping(total), overlapping(last)
        self.put(self.counted, at)

    def response(self, session, at, total, old):
        c, pick = self.c, self.c.random.randrange
        u = c.usage()
        c.add("codex", at, requests=1, **u)
        add(total, u)
        text, call = c.text(pick(40, 1_500)), f"call_{c.id()[:12]}"
        for record in self.thought:
            self.set_text(record, text)
            self.put(record, at)
        command = c.text(pick(10, 300))
        self.call["payload"].update(call_id=call, arguments=dumps({"cmd": command}))
        self.put(self.call, at)
        if not old:
            self.record["payload"].update(
                thread_id=session, session_id=session, response_id=f"resp_{c.id()[:20]}", usage=overlapping(u),
                thread_token_usage=overlapping(total))
            self.put(self.record, at)
        output = c.text(pick(60, 900) if pick(5) else pick(2_000, 30_000))
        if not old:
            self.ran["payload"]["item"].update(id=call, aggregated_output=output, command=["/bin/bash", "-lc", command])
            self.put(self.ran, at)
        self.output["payload"].update(
            call_id=call, output=f"Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{output}")
        self.put(self.output, at)
        for _ in range(1 + (pick(3) == 0)):
            self.sum(at, total, u)


def overlapping(u):
    """As Codex writes it: the input has what was cached and what was written in it."""
    all_input = u["input"] + u["cache_read"] + u["cache_write"]
    return {"input_tokens": all_input, "cached_input_tokens": u["cache_read"], "cache_write_input_tokens": u["cache_write"],
            "output_tokens": u["output"], "reasoning_output_tokens": u["reasoning"], "total_tokens": all_input + u["output"]}


def make(folder, mb=1000, files=6000, seed=7, days=120, say=lambda line: None):
    if os.path.exists(os.path.join(folder, "home")):
        shutil.rmtree(os.path.join(folder, "home"))
    corpus = Corpus(folder, seed, days)
    claude, codex = Claude(corpus), Codex(corpus)
    # What is left to be written decides how large the next ones are, so that both numbers come out about right.
    while corpus.files < files:
        mean = max((mb * 1e6 - corpus.bytes) / (files - corpus.files), 5_000)
        (claude if corpus.random.random() < 0.6 else codex).session(mean)
        if corpus.count % 400 == 0:
            say(f"{corpus.files} files, {corpus.bytes / 1e6:.0f} MB")
    truth = {
        "arguments": {"mb": mb, "files": files, "seed": seed, "days": days},
        "files": corpus.files, "bytes": corpus.bytes, "sessions": corpus.sessions,
        "rare": {"text": RARE, "sessions": corpus.rare}, "common": COMMON, "tokens": corpus.truth,
    }
    with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=1, sort_keys=True)
    return truth


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder")
    for name, default in (("mb", 1000), ("files", 6000), ("seed", 7), ("days", 120)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    truth = make(args.folder, args.mb, args.files, args.seed, args.days, lambda line: print(line, file=sys.stderr))
    print(f"{truth['files']} files, {truth['bytes'] / 1e6:.0f} MB, {truth['sessions']} in {args.folder}")


if __name__ == "__main__":
    main()
