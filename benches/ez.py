#!/usr/bin/env python3
"""Measures a built ez from outside and prints a Markdown table (docs/performance.md).

    python3 benches/ez.py [--bin PATH] [--quick]

Needs Linux, git and Python's standard library alone; strace counts the durable writes where it is installed.
Everything happens in a temporary home; nothing of yours is read or written. Takes about a minute. What is compared is
run in turn, A B A B, and the median of the pairs' differences is shown, so that a machine whose speed drifts does not
favour either.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES, ENTRIES, PLUGINS = 200, 1000, 5

MANIFEST = """name = "%s"
version = "1"
description = "Does nothing"
hooks = ["on_session_create"]
executable = "run"
"""

# The least that the contract asks of a plugin.
NOTHING = """#!/bin/sh
read -r request
echo '{"success":true}'
"""


class Home:
    """A temporary home with a git repository that is registered."""

    def __init__(self, binary):
        self.binary = binary
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="bench-"))
        self.repo = os.path.join(self.root, "ws", "repo")
        self.config = os.path.join(self.root, ".config", "ez")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.root, "TMPDIR": self.root, "LANG": "C.UTF-8", "TZ": "UTC",
                    "GIT_CONFIG_NOSYSTEM": "1"}
        os.makedirs(os.path.join(self.repo, "src"))
        with open(os.path.join(self.root, ".gitconfig"), "w", encoding="utf-8") as file:
            file.write("[user]\nname = bench\nemail = bench@localhost\n[init]\ndefaultBranch = main\n")
        for n in range(FILES):
            with open(os.path.join(self.repo, "src", f"file{n}.txt"), "w", encoding="utf-8") as file:
                file.write(f"{n}\n" * 50)
        for args in [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]]:
            self.ok(["/usr/bin/git", *args])
        self.ok([binary, "add", self.repo])

    def ok(self, command):
        done = subprocess.run(command, cwd=self.repo, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def enable(self, plugin):
        self.ok([self.binary, "plugin", "enable", plugin])

    def nothing(self, name):
        folder = os.path.join(self.config, "plugins", name)
        os.makedirs(folder)
        for file, text, mode in [("manifest.toml", MANIFEST % name, 0o644), ("run", NOTHING, 0o755)]:
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
            os.chmod(os.path.join(folder, file), mode)
        self.enable(name)
        return os.path.join(folder, "run")

    def timed(self, *commands, stdin=b""):
        """Seconds that these commands take, one after the other: from before the start to the end of the process."""
        os.chdir(self.repo)
        start = time.perf_counter()
        for command in commands:
            run(command, self.env, stdin)
        return time.perf_counter() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.chdir("/")
        shutil.rmtree(self.root, ignore_errors=True)


def run(command, env, stdin):
    """Starts a command with as little of Python around it as can be, reads what it prints, waits for its end."""
    given, give = os.pipe()
    read, written = os.pipe()
    moves = [(os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, written, 1)]
    moves += [(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
    pid = os.posix_spawn(command[0], command, env, file_actions=moves)
    os.close(given)
    os.close(written)
    if stdin:
        os.write(give, stdin)
    os.close(give)
    while os.read(read, 65536):
        pass
    os.close(read)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise SystemExit(f"{command} ended with status {status}")


def ms(seconds):
    return f"{seconds * 1000:.1f} ms"


def spread(values):
    return f"median {ms(statistics.median(values))}, min {ms(min(values))}, max {ms(max(values))}"


def pairs(one, other, count):
    """The two in turn, after a round that does not count; their times and the differences, pair by pair."""
    ours, theirs = [], []
    for n in range(count + 1):
        # Who goes first changes, for what the first leaves to be written by the disk.
        if n % 2:
            a = one()
            b = other()
        else:
            b = other()
            a = one()
        if n:
            ours.append(a)
            theirs.append(b)
    return ours, theirs, [a - b for a, b in zip(ours, theirs)]


def durable(home, command):
    """Calls of fsync and fdatasync that a command makes, those of git among them or not; None without strace."""
    if not shutil.which("strace"):
        home.ok(command)
        return None
    log = os.path.join(home.root, "calls")
    home.ok(["strace", "-f", "-qq", "-e", "trace=execve,fsync,fdatasync", "-o", log, *command])
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    syncs = sum("fsync(" in line or "fdatasync(" in line for line in lines)
    starts = sum("execve(" in line and line.endswith(" = 0") for line in lines) - 1
    return syncs, starts


def worktrees(binary, count, rows):
    with Home(binary) as home:
        home.enable("git-worktree")
        tree = os.path.join(home.root, "ws", "plain")
        number = iter(range(10**6))

        def ours():
            name = f"a{next(number)}"
            return home.timed([binary, "session", "new", name], [binary, "session", "delete", name])

        def plain():
            name = f"b{next(number)}"
            return home.timed(["/usr/bin/git", "worktree", "add", "-q", "-b", name, tree],
                              ["/usr/bin/git", "worktree", "remove", tree])

        own, git, more = pairs(ours, plain, count)
        made, gone = durable(home, [binary, "session", "new", "z"]), durable(home, [binary, "session", "delete", "z"])
        rows.append(("`git worktree add -b`, `git worktree remove`", spread(git), ""))
        rows.append(("`session new`, `session delete` with a worktree", spread(own), ""))
        limit = "30 ms, and 12 ms for each durable write"
        rows.append(("the second over the first", f"median {ms(statistics.median(more))}", limit))
        if made and gone:
            for what, (syncs, starts) in [("session new", made), ("session delete", gone)]:
                rows.append((f"`{what}`: calls of fsync; processes started", f"{syncs}; {starts}", ""))


def plugins(binary, count, rows):
    with Home(binary) as none, Home(binary) as five:
        programs = [five.nothing(f"nothing{n}") for n in range(PLUGINS)]
        number = iter(range(10**6))
        # What ez will write to them: a shell reads it byte by byte, which is part of the start.
        five.ok([binary, "session", "new", "first"])
        shown = five.ok([binary, "plugin", "run", "nothing0", "on_session_create", "--session", "first"])
        request = shown.splitlines()[0].encode() + b"\n"

        def new(home):
            return home.timed([binary, "session", "new", f"s{next(number)}"])

        both, starts = [], []
        for n in range(count + 1):
            alone = five.timed(*[[program] for program in programs], stdin=request)
            without, with_them = (new(none), new(five)) if n % 2 else tuple(reversed((new(five), new(none))))
            if n:
                both.append(with_them - without)
                starts.append(alone)
        rows.append((f"starting {PLUGINS} plugins that do nothing", spread(starts), ""))
        ratio = statistics.median(both) / statistics.median(starts)
        rows.append((f"`session new` with them over `session new` without", spread(both), ""))
        rows.append(("the second by the first", f"{ratio:.2f}", "1.5"))


def version(binary, count, rows):
    with Home(binary) as home:
        own, true, more = pairs(lambda: home.timed([binary, "--version"]), lambda: home.timed(["/bin/true"]), count)
        rows.append(("`ez --version`", spread(own), ""))
        rows.append(("`ez --version` over `/bin/true`", f"median {ms(statistics.median(more))}", "2 ms"))


def repositories(home):
    """Repositories in the list, each with a git folder and what is known of it."""
    repos = os.path.join(home.config, "repos")
    index = []
    for n in range(ENTRIES):
        path = os.path.join(home.root, "many", f"repo{n}")
        os.makedirs(os.path.join(path, ".git", "objects"))
        os.makedirs(os.path.join(path, ".git", "refs", "heads"))
        for name, text in [("HEAD", "ref: refs/heads/main\n"),
                           ("config", f'[remote "origin"]\n\turl = git@example.org:o/repo{n}.git\n')]:
            with open(os.path.join(path, ".git", name), "w", encoding="utf-8") as file:
                file.write(text)
        index.append(f'[[repos]]\nid = "many-repo{n}"\npath = "{path}"\nname = "repo{n}"\n'
                     f'registered_at = "2026-01-01T00:00:00.000000000Z"\nis_git = true\n')
        os.makedirs(os.path.join(repos, f"many-repo{n}"))
        with open(os.path.join(repos, f"many-repo{n}", "repo.toml"), "w", encoding="utf-8") as file:
            file.write(f'remote_url = "git@example.org:o/repo{n}.git"\ndefault_branch = "main"\nlabels = ["a", "b"]\n'
                       f'last_accessed = "2026-01-01T00:00:00.000000000Z"\npath = "{path}"\n\n[plugin_state]\n')
    with open(os.path.join(repos, "index.toml"), "w", encoding="utf-8") as file:
        file.write("\n".join(index))


def sessions(home):
    """Sessions of the one repository, as a tree, each as the bundled plugins leave it."""
    repos = os.path.join(home.config, "repos")
    folder = next(entry.path for entry in os.scandir(repos) if entry.is_dir())
    blocks = "\n".join(
        f'[[sessions]]\nid = "00000000-0000-4000-8000-{n:012}"\nname = "session-{n}"\n'
        + (f'parent_id = "00000000-0000-4000-8000-{n // 10:012}"\n' if n else "")
        + f'path = "{home.root}/ws/.ez/repo/session-{n}"\nlabels = ["a", "b"]\n'
        f'created_at = "2026-01-01T00:00:00.000000000Z"\nis_default = false\nbare = false\n'
        f'last_accessed = "2026-01-01T00:00:00.{n:09}Z"\n\n[sessions.env]\nEZ_TMUX_SESSION = "repo/session-{n}"\n\n'
        f'[sessions.plugin_state]\nbranch = "session-{n}"\ntmux_session = "repo/session-{n}"\n'
        f'worktree_path = "{home.root}/ws/.ez/repo/session-{n}"\n'
        for n in range(ENTRIES))
    with open(os.path.join(folder, "sessions.toml"), "w", encoding="utf-8") as file:
        file.write(blocks)


def lists(binary, count, rows):
    for fill, what in [(repositories, "repo"), (sessions, "session")]:
        with Home(binary) as home:
            fill(home)
            for args, limit in [([what, "list"], "10 ms"), ([what, "list", "--json"], "")]:
                home.timed([binary, *args])
                shown = spread([home.timed([binary, *args]) for _ in range(count)])
                rows.append((f"`{' '.join(args)}`, {ENTRIES} entries", shown, limit))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default=os.path.join(ROOT, "target", "release", "ez"))
    parser.add_argument("--quick", action="store_true", help="fewer runs, to see that it works")
    parser.add_argument("--only", choices=["worktrees", "plugins", "version", "lists"], help="one of the measurements")
    options = parser.parse_args()
    binary = os.path.abspath(options.bin)
    if not sys.platform.startswith("linux"):
        raise SystemExit("this has been made for Linux")
    if not os.access(binary, os.X_OK):
        raise SystemExit(f"there is no program at {binary}; cargo build --release -p ez makes it, --bin names another")
    name = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    rows = []
    for measure, count in [(worktrees, 30), (plugins, 40), (version, 200), (lists, 50)]:
        if options.only in (None, measure.__name__):
            measure(binary, 5 if options.quick else count, rows)
    print(f"{name}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print("| what | measured | limit |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
