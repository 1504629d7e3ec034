#!/usr/bin/env python3
"""Measures the plugin host of a built lazyagents from outside and prints a Markdown table (docs/performance.md).

    python3 benches/host.py [--bin PATH] [--quick]

Needs Linux and Python's standard library alone. Everything happens in a temporary home; nothing of yours is read or
written. Takes about a minute and a half; nothing else should run meanwhile.
"""

import argparse
import fcntl
import os
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS, ROWS = 120, 40
ALTERNATE, MAIN, FRAME_END = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?2026l"
# How long anything may take before the measurement is given up.
PATIENCE = 20.0

GOOD = r"""#!/bin/sh
n=0
while IFS= read -r line; do
    case $line in
        '{"type":"init"'*) printf '{"type":"manifest","title":"Plugin"}\n' ;;
        '{"type":"key"'*) n=$(((n + 1) % 10)) ;;
        *) continue ;;
    esac
    printf '{"type":"frame","view":"ready\\n%d%d%d%d%d%d%d%d","count":3}\n' $n $n $n $n $n $n $n $n
done
"""

SILENT = r"""#!/bin/sh
while IFS= read -r line; do :; done
"""

# Deaf to SIGTERM and to the end of its input; its children inherit that.
STUBBORN = r"""#!/bin/sh
trap '' TERM
IFS= read -r line
printf '{"type":"manifest","title":"Stubborn"}\n'
printf '{"type":"frame","view":"ready"}\n'
while :; do sleep 1; done
"""

# 1,000 frames a second, each with a new number on its tab.
FLOOD = r"""#!%s
import select, sys, time
sys.stdin.buffer.readline()
out = sys.stdout.buffer
out.write(b'{"type":"manifest","title":"Flood"}\n')
body = b"\\n".join(b"\\u001b[3%%dmline %%d of a plugin that talks all the time\\u001b[0m" %% (n %% 8, n) for n in range(30))
start, n = time.monotonic(), 0
while True:
    out.write(b'{"type":"frame","view":"%%d\\n%%s","count":%%d}\n' %% (n, body, n %% 1000))
    out.flush()
    n += 1
    wait = max(0.0, start + n / 1000 - time.monotonic())
    if select.select([sys.stdin], [], [], wait)[0] and not sys.stdin.buffer.read1(65536):
        break
"""


class Home:
    """A temporary home with plugins."""

    def __init__(self, plugins, config=""):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="bench-"))
        self.plugins = os.path.join(self.root, "config", "lazyagents", "plugins")
        for folder in ["home", "data", "cache", "state", "tmp"]:
            os.mkdir(os.path.join(self.root, folder))
        os.makedirs(self.plugins)
        for name, text in plugins.items():
            path = os.path.join(self.plugins, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755)
        if config:
            with open(os.path.join(self.root, "config", "lazyagents", "config.yaml"), "w", encoding="utf-8") as file:
                file.write(config)

    def env(self):
        at = lambda folder: os.path.join(self.root, folder)
        return {
            "PATH": "/usr/bin:/bin", "HOME": at("home"), "XDG_CONFIG_HOME": at("config"), "XDG_DATA_HOME": at("data"),
            "XDG_CACHE_HOME": at("cache"), "XDG_STATE_HOME": at("state"), "TMPDIR": at("tmp"),
            "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "TZ": "UTC",
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)


class Session:
    """The program in a terminal of its own."""

    def __init__(self, binary, home):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        clock, told = os.pipe()
        env = home.env()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                for fd in (0, 1, 2):
                    os.dup2(slave, fd)
                os.chdir(home.root)
                # The clock is the system's, so the parent may subtract. Both ends of the pipe close at exec.
                os.write(told, struct.pack("d", time.monotonic()))
                os.execve(binary, [binary], env)
            finally:
                os._exit(127)
        os.close(slave)
        os.close(told)
        self.started = struct.unpack("d", os.read(clock, 8))[0]
        os.close(clock)
        self.output = bytearray()
        self.poll = select.poll()
        self.poll.register(self.master, select.POLLIN)
        self.ended = None

    def read(self, timeout):
        """Reads what is there, waiting at most so long; False at the end."""
        if not self.poll.poll(max(0, timeout) * 1000):
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        self.output += data
        return bool(data)

    def drain(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not self.read(left):
                raise SystemExit(f"the program ended early:\n{bytes(self.output[-2000:])!r}")

    def wait(self, wanted, start=0):
        """Waits for these bytes from here on in the output; gives the time at which they had been read."""
        until = time.monotonic() + PATIENCE
        while True:
            at = self.output.find(wanted, max(0, start))
            if at >= 0:
                return time.monotonic()
            left = until - time.monotonic()
            if left <= 0 or not self.read(left):
                raise SystemExit(f"waited for {wanted!r} in vain; the end of the output:\n{bytes(self.output[-2000:])!r}")

    def send(self, keys):
        os.write(self.master, keys)
        return time.monotonic()

    def quit(self):
        """Presses q; gives when it was sent, when the main screen was back, and when the process had ended."""
        start = len(self.output)
        sent = self.send(b"q")
        main, until = None, sent + PATIENCE
        while time.monotonic() < until:
            alive = self.read(0.005)
            if main is None and MAIN in self.output[start:]:
                main = time.monotonic()
            done, _ = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.ended = time.monotonic()
                return sent, main or self.ended, self.ended
            if not alive:
                time.sleep(0.001)
        raise SystemExit("the program did not end after q")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.ended is None:
            # SIGTERM first: it stops its plugins, which lead groups of their own.
            for sign, patience in [(signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)]:
                try:
                    os.kill(self.pid, sign)
                except ProcessLookupError:
                    break
                until = time.monotonic() + patience
                while time.monotonic() < until:
                    if not self.read(0.01):
                        time.sleep(0.01)
                    if os.waitpid(self.pid, os.WNOHANG)[0]:
                        self.ended = time.monotonic()
                        break
                if self.ended is not None:
                    break
        os.close(self.master)


def slurp(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def numbers(pid):
    """Context switches and time on a processor of every thread, ticks and memory of the process."""
    switches, busy = {}, {}
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            status = slurp(f"/proc/{pid}/task/{task}/status")
            sched = slurp(f"/proc/{pid}/task/{task}/schedstat")
        except OSError:
            continue
        switches[task] = sum(int(n) for n in re.findall(r"voluntary_ctxt_switches:\s+(\d+)", status))
        busy[task] = int(sched.split()[0])
    fields = slurp(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()
    memory = dict(re.findall(r"(VmRSS|RssAnon|VmHWM):\s+(\d+) kB", slurp(f"/proc/{pid}/status")))
    return {"switches": switches, "busy": busy, "ticks": int(fields[11]) + int(fields[12]), "memory": memory}


def since(before, after, what):
    """Growth over all threads; one that began meanwhile counts from zero, one that ended as nothing."""
    return sum(count - before[what].get(task, 0) for task, count in after[what].items())


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


def ms(seconds):
    return f"{seconds * 1000:.1f} ms"


def mib(kib):
    return f"{int(kib) / 1024:.1f} MiB"


def ten(**others):
    """Ten plugins: these and as many good ones as it takes."""
    plugins = {f"good{n}": GOOD for n in range(10 - len(others))}
    plugins.update(others)
    return plugins


def first_frame(binary, runs, rows):
    alternate, frame = [], []
    with Home(ten(silent=SILENT)) as home:
        for _ in range(runs):
            with Session(binary, home) as session:
                alternate.append(session.wait(ALTERNATE) - session.started)
                frame.append(session.wait(FRAME_END) - session.started)
    for name, values, limit in [("first byte of the alternate screen", alternate, ""), ("first whole frame", frame, "30 ms")]:
        spread = f"min {ms(min(values))}, median {ms(statistics.median(values))}, max {ms(max(values))}"
        rows.append((f"{name}, from exec, ten plugins, one of them silent", spread, limit))


def idle(binary, tab, seconds, rows):
    with Home(ten(silent=SILENT), f"tui:\n  startTab: {tab}\n") as home, Session(binary, home) as session:
        session.wait(FRAME_END)
        session.drain(5)
        before, written = numbers(session.pid), len(session.output)
        session.drain(seconds)
        after = numbers(session.pid)
        wakes = since(before, after, "switches") / seconds
        busy = since(before, after, "busy") / 1e9 / seconds
        ticks = after["ticks"] - before["ticks"]
        name = f"idle, ten plugins, tab {tab}"
        limit = "1/s" if tab != "plugins" else ""
        rows.append((f"{name}: context switches of all threads", f"{wakes:.1f}/s", limit))
        rows.append((f"{name}: processor", f"{busy * 100:.3f} % ({ticks} ticks in {seconds} s)", "0 %"))
        rows.append((f"{name}: written to the terminal", f"{(len(session.output) - written) / seconds:.0f} bytes/s", ""))
        if tab == "good0":
            memory = after["memory"]
            peak = f", peak {mib(memory['VmHWM'])}" if "VmHWM" in memory else ""
            shown = f"{mib(memory['VmRSS'])} resident, {mib(memory['RssAnon'])} of it our own{peak}"
            rows.append((f"memory of the host, ten plugins ({len(after['busy'])} threads)", shown, "40 MiB"))


def quitting(binary, name, plugin, runs, limit, rows):
    back, whole = [], []
    with Home(ten(aaa=plugin), "tui:\n  startTab: aaa\n") as home:
        for _ in range(runs):
            with Session(binary, home) as session:
                session.wait(b"ready")
                session.drain(0.5)
                sent, main, ended = session.quit()
                back.append(main - sent)
                whole.append(ended - sent)
    rows.append((f"quitting, {name}: main screen back", f"median {ms(statistics.median(back))}, max {ms(max(back))}", ""))
    rows.append((f"quitting, {name}: process ended", f"median {ms(statistics.median(whole))}, max {ms(max(whole))}", limit))


def keys(binary, name, plugins, count, rows):
    with Home(plugins, f"tui:\n  startTab: {min(plugins)}\n") as home, Session(binary, home) as session:
        session.wait(b"ready")
        session.drain(1.0)
        before, started = numbers(session.pid), time.monotonic()
        took = []
        for n in range(1, count + 1):
            start = len(session.output)
            sent = session.send(b"x")
            # All eight cells change with each key, so the digits stand side by side in what is written.
            took.append(session.wait(str(n % 10).encode() * 8, start - 8) - sent)
            # Another place in the host's 16 ms each time.
            session.drain(0.010 + (n * 7 % 23) / 1000)
        passed = time.monotonic() - started
        busy = since(before, numbers(session.pid), "busy") / 1e9 / passed
    spread = f"p50 {ms(percentile(took, 0.5))}, p99 {ms(percentile(took, 0.99))}, max {ms(max(took))}"
    rows.append((f"key to the plugin's frame, {count} keys, {name}", f"{spread}; processor {busy * 100:.0f} %", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default=os.path.join(ROOT, "target", "release", "lazyagents"))
    parser.add_argument("--quick", action="store_true", help="fewer runs, to see that it works")
    options = parser.parse_args()
    binary = os.path.abspath(options.bin)
    if not sys.platform.startswith("linux"):
        raise SystemExit("this needs /proc as Linux has it")
    if not os.access(binary, os.X_OK):
        raise SystemExit(f"there is no program at {binary}; cargo build --release makes it, --bin names another")
    # A shim of a version manager would need the person's home.
    python = os.path.realpath(sys.executable)
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    quick = options.quick
    rows = []
    first_frame(binary, 3 if quick else 20, rows)
    for tab in ["good0", "agents", "plugins"]:
        idle(binary, tab, 3 if quick else 10, rows)
    quitting(binary, "ten plugins that end at EOF", GOOD, 1 if quick else 5, "", rows)
    quitting(binary, "one of ten deaf to SIGTERM and EOF", STUBBORN, 1 if quick else 5, "2.3 s", rows)
    count = 20 if quick else 200
    keys(binary, "nothing else", {"aaa": GOOD}, count, rows)
    keys(binary, "beside a plugin with 1,000 frames/s", {"aaa": GOOD, "flood": FLOOD % python}, count, rows)
    print(f"{version}, {COLUMNS}x{ROWS}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print("| what | measured | limit |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
