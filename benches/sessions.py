#!/usr/bin/env python3
"""Measures listing, counting and searching of a built lazyagents on a history whose true totals are known, checks those
totals, and prints a Markdown table (docs/performance.md).

    python3 benches/sessions.py [--bin PATH] [--corpus FOLDER] [--mb 1000] [--files 6000] [--runs 7] [--quick]
                                [--ccusage PATH]

Needs Linux, python3, cat, wc and find; ripgrep and ccusage are measured beside it where they are there (`apt install
ripgrep`, `npm install ccusage`). The history is made by benches/lib/corpus.py, in a temporary folder unless one is named,
which is used again. Nothing of yours is read or written. What is compared runs in turn, medians count, the files are in
the page cache. Exits with 1 when a total is wrong.
"""

import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import corpus  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WRONG = []


# Starts what it is told to and says how it went. What is measured must not be started from here: a process begins with
# the memory of the one that starts it, which counts as its largest.
STARTER = """
import json, os, sys, time
for line in sys.stdin:
    command, env, cwd, out, err = json.loads(line)
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            os.chdir(cwd)
            for name, fd in ((os.devnull, 0), (out, 1), (err, 2)):
                os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC if fd else os.O_RDONLY), fd)
            os.execvpe(command[0], command, env)
        finally:
            os._exit(127)
    _, status, used = os.wait4(child, 0)
    wall = time.monotonic() - start
    print(json.dumps([os.waitstatus_to_exitcode(status), wall, used.ru_utime + used.ru_stime, used.ru_maxrss]), flush=True)
"""
starter = None


class Run:
    """A command, how long it took (wall and processor, milliseconds), its largest memory (MiB), and what it wrote."""

    def __init__(self, command, env, cwd="/", ok=(0,)):
        global starter
        if starter is None:
            starter = subprocess.Popen([sys.executable, "-S", "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            print(json.dumps([command, env, cwd, out.name, err.name]), file=starter.stdin, flush=True)
            code, wall, cpu, memory = json.loads(starter.stdout.readline())
            self.out, said = out.read(), err.read()
        self.wall, self.cpu, self.memory = wall * 1e3, cpu * 1e3, memory / 1024
        if code not in ok:
            sys.exit(f"{' '.join(command)[:200]} ended with {code}: {said.decode()[-500:]}")


def in_turn(runs, *makers):
    """Runs each of `makers` so many times, in turn."""
    found = [[] for _ in makers]
    for _ in range(runs):
        for runs_of, maker in zip(found, makers):
            runs_of.append(maker())
    return found


def took(runs):
    return f"{median(runs):.0f} ms (processor {median(runs, 'cpu'):.0f})"


def median(runs, what="wall"):
    return statistics.median(getattr(run, what) for run in runs)


class Bench:
    def __init__(self, args, folder, truth):
        self.args, self.truth, self.home = args, truth, os.path.join(folder, "home")
        self.data = os.path.join(folder, "data")
        self.env = {
            "HOME": self.home, "PATH": os.environ.get("PATH", ""), "TZ": "UTC", "LANG": "C.UTF-8", "NO_COLOR": "1",
            "XDG_DATA_HOME": self.data, "XDG_CONFIG_HOME": os.path.join(folder, "config"),
            "XDG_CACHE_HOME": os.path.join(folder, "cache"), "XDG_STATE_HOME": os.path.join(folder, "state"),
        }
        self.rows = []

    def ours(self, *words, fresh=False, ok=(0,)):
        if fresh:
            shutil.rmtree(self.data, ignore_errors=True)
        return Run([self.args.bin, *words], self.env, ok=ok)

    def shell(self, line, ok=(0,)):
        return Run(["sh", "-c", line], self.env, cwd=self.home, ok=ok)

    def row(self, what, limit, measured, beside=""):
        self.rows.append(f"| {what} | {limit} | {measured} | {beside} |")
        print(self.rows[-1], file=sys.stderr)

    def check(self, what, got, want):
        if got != want:
            WRONG.append(what)
            print(f"WRONG: {what}: {got}, and not {want}", file=sys.stderr)

    def totals(self):
        """Every kind of every day and agent."""
        tokens = self.truth["tokens"]
        for agent, days in tokens.items():
            told = json.loads(self.ours("usage", "daily", "--json", "--since", "all", "--agent", agent).out)
            got = {row["key"]: row["tokens"] for row in told["rows"]} | {"all": told["total"]["tokens"]}
            for day in sorted(days.keys() | got.keys()):
                want = dict(days.get(day, {}))
                if agent == "codex" and want:
                    want["cache_write_1h"] = None
                self.check(f"{agent} on {day}", got.get(day), want or None)
            rows = json.loads(self.ours("sessions", "--json", "--agent", agent).out)
            self.check(f"sessions of {agent}", len(rows), self.truth["sessions"][agent])
            sums = dict.fromkeys(corpus.KINDS, 0)
            for row in rows:
                for kind in corpus.KINDS:
                    sums[kind] += row["usage"][kind] or 0
            self.check(f"the sum of the sessions of {agent}", sums, days["all"])

    def nothing(self):
        cat, daily, listing = in_turn(
            self.args.runs,
            lambda: self.shell("find .claude .codex -name '*.jsonl' -type f -print0 | xargs -0 cat | wc -l"),
            lambda: self.ours("usage", "daily", "--json", "--since", "all", fresh=True),
            lambda: self.ours("sessions", "--json", fresh=True),
        )
        beside = f"`cat` to `wc -l`: {took(cat)}"
        for name, runs in (("usage daily", daily), ("sessions", listing)):
            factor = median(runs) / median(cat)
            self.row(f"`{name} --json` from nothing", "1.2x, 150 MiB",
                     f"{took(runs)}, {factor:.2f}x; {max(run.memory for run in runs):.0f} MiB", beside)

    def warm(self):
        find, daily, listing = in_turn(
            self.args.runs * 3,
            lambda: self.shell("find .claude .codex -type f -printf '%s %T@ %p\\n'"),
            lambda: self.ours("usage", "daily", "--json", "--since", "all"),
            lambda: self.ours("sessions", "--json"),
        )
        beside = f"`find` with size and time: {took(find)}"
        for name, runs in (("usage daily", daily), ("sessions", listing)):
            factor = median(runs) / median(find)
            self.row(f"`{name} --json`, nothing new", "1.5x",
                     f"{took(runs)}, {factor:.2f}x; {max(run.memory for run in runs):.0f} MiB", beside)
        return median(daily)

    def appended(self, warm):
        """One more response in the largest file, again and again."""
        files = glob.glob(os.path.join(self.home, ".claude/projects/*/*.jsonl"))
        for path in sorted(files, key=os.path.getsize, reverse=True):
            with open(path, "rb") as file:
                before = file.read()
            # What a compaction took is what a later sum leaves over, which a response without one would change.
            if before.endswith(b"\n") and b"compact_boundary" not in before:
                break
        lines = [json.loads(line) for line in before.splitlines() if b'"type":"assistant"' in line]
        line = lines[-1]
        total = self.truth["tokens"]["claude-code"]["all"]["output"]
        runs = []
        for nth in range(self.args.runs):
            line["message"]["id"], line["uuid"] = f"msg_appended{nth}", f"appended-{nth}"
            line["message"]["usage"]["output_tokens"] = 1_000
            with open(path, "ab") as file:
                file.write(corpus.dumps(line).encode() + b"\n")
            runs.append(self.ours("usage", "daily", "--json", "--since", "all", "--agent", "claude-code"))
            got = json.loads(runs[-1].out)["total"]["tokens"]["output"]
            self.check("after an appended line", got, total + 1_000 * (nth + 1))
        with open(path, "r+b") as file:
            file.truncate(len(before))
        self.ours("usage", "daily", "--json")
        self.row("after one appended line", "warm + 10 ms", f"{took(runs)}, {median(runs) - warm:+.0f} ms")

    def scanning(self, rg):
        rare = self.truth["rare"]["text"]
        ours, theirs = in_turn(
            self.args.runs,
            lambda: self.scan(rare),
            lambda: self.shell(f"rg -c --no-ignore --hidden '{rare}' .claude .codex", ok=(0, 1)) if rg else None,
        )
        factor = f", {median(ours) / median(theirs):.2f}x" if rg else ""
        beside = f"`rg`: {took(theirs)}" if rg else ""
        self.row("`sessions search` of a rare phrase, no text store yet", "2x `rg`", took(ours) + factor, beside)

    def scan(self, words):
        for path in glob.glob(os.path.join(self.data, "lazyagents/index/text-*")):
            os.remove(path)
        return self.search("before the store", f'"{words}"', self.truth["rare"]["sessions"])

    def search(self, name, words, want=None, *more):
        run = self.ours("sessions", "search", words, "--json", *more, ok=(0, 1))
        if want is not None:
            self.check(f"sessions found {name}", len(json.loads(run.out)), want)
        return run

    def store(self):
        for path in glob.glob(os.path.join(self.data, "lazyagents/index/text-*")):
            os.remove(path)
        run = self.ours("sessions", "index")
        speed = self.truth["bytes"] / 1e6 / (run.wall / 1e3)
        self.row("`sessions index`, the text store", "60 MB/s", f"{run.wall / 1e3:.1f} s, {speed:.0f} MB/s; {run.memory:.0f} MiB")
        rare, common = in_turn(
            self.args.runs * 3,
            lambda: self.search("in the store", f'"{self.truth["rare"]["text"]}"', self.truth["rare"]["sessions"]),
            lambda: self.search("first", self.truth["common"], min(50, sum(self.truth["sessions"].values())), "--limit", "50"),
        )
        for name, runs in (("a rare phrase", rare), ("a common word, 50 sessions", common)):
            self.row(f"`sessions search` of {name}", "100 ms", f"{took(runs)}; {max(run.memory for run in runs):.0f} MiB")

    def peer(self):
        command = self.args.ccusage or shutil.which("ccusage")
        if not command:
            return
        env = self.env | {"CLAUDE_CONFIG_DIR": os.path.join(self.home, ".claude"), "CODEX_HOME": os.path.join(self.home, ".codex")}
        run = Run([command, "daily", "--json", "--offline"], env)
        version = Run([command, "--version"], env).out.decode().strip()
        told = json.loads(run.out)
        days = {day.get("date") or day.get("period"): day for day in told.get("daily", [])}
        tokens = self.truth["tokens"]
        names = {"input": "inputTokens", "cache_read": "cacheReadTokens", "cache_write": "cacheCreationTokens", "output": "outputTokens"}
        truth = {kind: sum(days_of["all"][kind] for days_of in tokens.values()) for kind in names}
        off = {kind: sum(day.get(name, 0) for day in days.values()) / truth[kind] * 100 - 100 for kind, name in names.items()}
        words = ", ".join(f"{kind} {percent:+.1f} %" for kind, percent in off.items())
        self.row(f"{version} `daily`", "", f"{run.wall:.0f} ms; {run.memory:.0f} MiB", f"its totals beside the true ones: {words}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--bin", default=os.path.join(ROOT, "target/release/lazyagents"))
    parser.add_argument("--corpus")
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--files", type=int, default=6000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="20 MB, 200 files, two runs: a look, and a check of the totals")
    parser.add_argument("--ccusage")
    args = parser.parse_args()
    if args.quick:
        args.mb, args.files, args.runs = 20, 200, 2
    args.bin = os.path.abspath(args.bin)
    folder = args.corpus or tempfile.mkdtemp(prefix="lazyagents-bench-")
    try:
        measure(args, folder)
    finally:
        if not args.corpus:
            shutil.rmtree(folder, ignore_errors=True)
    if WRONG:
        sys.exit(f"{len(WRONG)} totals are wrong")


def measure(args, folder):
    try:
        with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
            truth = json.load(file)
    except FileNotFoundError:
        print("making the history", file=sys.stderr)
        truth = corpus.make(folder, args.mb, args.files)
    bench = Bench(args, folder, truth)
    bench.totals()
    bench.nothing()
    warm = bench.warm()
    bench.appended(warm)
    bench.scanning(shutil.which("rg"))
    bench.store()
    bench.peer()
    sessions = sum(truth["sessions"].values())
    print(f"{truth['bytes'] / 1e6:.0f} MB, {truth['files']} files, {sessions} sessions; "
          f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors; the totals of every kind, day and agent are "
          f"{'WRONG' if WRONG else 'equal'}\n")
    print("| what | limit | measured | beside it |\n|---|---|---|---|")
    print("\n".join(bench.rows))


if __name__ == "__main__":
    main()
