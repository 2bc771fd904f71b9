"""Command lines from a grammar of nasty pieces, and the folder in which they are really run.

Half of the pieces are everyday ones, so that many lines are taken for harmless; the others try to get out. A line that was taken for
harmless is run by several shells; nothing of what lies outside may show, nothing may be written, and no program of the folder may run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ullage.tools.command_lines.judge import RULES, Site, Unknown, judge

CANARY = "CANARY"
"""In every text, every file's name and every variable that must not be seen."""

SECONDS = 60.0

SYNTAX_ERROR = re.compile(rb"^(?:bash: -c|dash): .*[Ss]yntax error", re.MULTILINE)

SHELLS: tuple[tuple[str, ...], ...] = (
    ("bash", "--norc", "--noprofile", "-c"),
    ("bash", "--norc", "--noprofile", "--posix", "-c"),
    ("bash", "--norc", "--noprofile", "-O", "compat32", "-c"),
    ("dash", "-c"),
)
"""Beside bash as it is: by the rules of POSIX, and by those of its version 3.2, which macOS has."""

READERS = sorted(name for name, rule in RULES.items() if rule.effect == "reads" and name not in ("cd", "seq"))
OTHERS = [
    "git status", "git diff", "sh -c", "bash", "rm", "touch made", "tee made", "xargs cat", "env", "printenv", "eval", "exec cat",
    "python -m pip list", "./cat", "a", "time cat", "command cat", "awk 1", "printf %s", "test -f", "[", "source a", ". ./a", "export x",
    "alias cat=sh", "if cat", "while cat", "function f", "coproc cat", "X=1 cat", "PATH=. cat", "PATH=.", "{ cat", "( cat", "! cat",
]  # fmt: skip

INSIDE = [
    "a", "src/a.py", "src", "README.md", "'sp ace'", '"sp ace"', "*.md", "src/*", "clean/*", "clean/*.txt", "*/a.py", "inner-link/a.py",
    "-", "/dev/null", ".", "./a", "clean", "clean/?.txt", "src/a.py src/b.py", "a''", "cl'ea'n/a.txt", "data.json", "{work}/a", "größe",
]  # fmt: skip
OUTSIDE = [
    "link/secret", "file-link", "lib/out/secret", "../outside/secret", "{outside}/secret", "/etc/passwd", "~/secret", "~", "~root", "..",
    ".[.,-]/outside/secret", ".[^a]/outside/secret", "[.][.]/outside/secret", "?./outside/secret", ".?/outside/secret", ".*/outside/secret",
    "l*/secret", "lib/*", "lib/*/*", "*", "*/*", "*/secret", "{{a,../outside/secret}}", "{{..,a}}/outside/secret", "$HOME/secret",
    "${{HOME}}/secret", '"$HOME"/secret', "$(cat ../outside/secret)", "`cat ../outside/secret`", '"$(cat ../outside/secret)"',
    "'..'/outside/secret", '".."/outside/secret', ".'.'/outside/secret", ".\\./outside/secret", "\\../outside/secret", "a=~/secret",
    "x:~/secret", "a:../outside/secret", "a=../outside/secret", "a,../outside/secret", "--files0-from=names0", "-f names", "@names",
    "-f../outside/secret", "--file=../outside/secret", "--file=link/secret", "lin?/secret", "li*k/secret", "f*", "file-*", "@(link)/secret",
    "link//secret", "./link/./secret", "src/../link/secret", "src/../../outside/secret", "inner-link/../../outside/secret", "link",
    "lib/out",
    "inner-link/../link/secret", "opts/*", "/proc/self/environ", "/proc/self/cwd/../outside/secret", "/dev/stdin", "/dev/fd/0", "deep-link",
    "'../outside/secret'", '"../outside/secret"', "'{outside}/secret'", "-- ../outside/secret", "-- -x {outside}/secret", "/*/*",
    "//etc/passwd",
    "-c names.md5", "-- /etc/passwd", "-e x {outside}/secret", "loop", "[[:punct:]][[:punct:]]/outside/secret", "$'..'/outside/secret",
    "..//outside//secret", "src/..", "./..", "?(.).", "+(.)/outside/secret", "**/secret", "li[n]k/secret", "{{l,}}ink/secret", "%1",
    "!!", "!$",
]  # fmt: skip
OPTIONS = [
    "-l", "-la", "-n", "-r", "-R", "-L", "-H", "-f", "-c", "-s", "-A3", "-n 5", "-5", "--", "-nr", "-i", "--color", "--dereference",
    "--recursive", "-follow", "-exec cat ../outside/secret ';'", "-delete", "-fprint made", "-o made", "--output=made", "-newer a",
    "-name '*.py'", "-name *", "-type f", "-maxdepth 1", "-k 2", "-t,", "-d,", "-f1", "--pre=sh", "--files0-from=-", "-T src", "-x",
    "--compress-program=sh", "-follow", "--include=*.py", "--exclude-from=names", "--check", "-C 2", "-m 1", "-S", "-z", "--files", "-g a",
]  # fmt: skip
JQ = [
    ".", "'.a'", "'.a|keys'", "env", "'env.TOKEN'", "'$ENV'", "'$ENV.TOKEN'", "'.[]'", "'input_filename'", "'\"\\(env)\"'",
    "'import \"m\" as m {{search: \"{outside}\"}}; m::x'", "'include \"m\" {{search: \"../outside\"}}; x'", "'\"../outside/m\"|modulemeta'",
    "'.a,env'", "'.env'", "'..env'", "'1.env'", "'.a[env.TOKEN:]'", "'{{a:env}}'", "'@text \"\\(env)\"'", "'..|.a?'", "'get_search_list'",
    "-L ../outside 'include \"m\"; x'", "--rawfile x ../outside/secret '$x'", "-f names", "'input'", "'[.a]|map(env)'", "'.a as $x|$ENV'",
]  # fmt: skip
SED = [
    "-n 1p",
    "-n '1,2p'",
    "1p",
    "-n 'r ../outside/secret'",
    "-n '1w made'",
    "'1e ls'",
    "-i s/a/b/",
    "-n '$p'",
    "-n '1p;r ../outside/secret'",
]
MOVES = [
    "cd src", "cd clean", "cd lib", "cd link", "cd ..", "cd lib/out", "cd inner-link", "cd", "cd -", "cd ~", "cd opts", "cd src/..", "cd .",
    "cd missing", "cd -- src", "cd {outside}", "cd 'src'", "cd -P inner-link", "cd deep-link",
]  # fmt: skip
BETWEEN = [" && ", " || ", "; ", " | ", ";", "|", "&&"]
NASTY_BETWEEN = [" & ", " |& ", "\n", ";;", " ; ; ", "&", "&&&", "\r", " |\n", " && \n", "\\\n", "\u2028", " \u00a0", " # "]
REDIRECTIONS = [" 2>&1", " >/dev/null", " 2>/dev/null", " > /dev/null 2>&1", " >&2"]
NASTY_REDIRECTIONS = [
    " >made", ">>made", " 2>made", " &>made", " >|made", " <../outside/secret", " <<<$HOME", " <>made", " >/dev/null/../made",
    " >/dev/nullx", " &>/dev/null", " >&made", " 3>made", " >/dev/stdout", " <(cat ../outside/secret)", " >/dev/null made", " 2>&1made",
]  # fmt: skip
CHARACTERS = "'\"\\$`(){}[]<>!#&|;*?~^%@=+,:./- \t\n\r\x00\x1b\x85\u00a0\u00e0\u200b\u202e\u3000\uff5caR2"


def nasty_line(random: Random, folder: Path) -> str:
    """One line. The same seed gives the same lines."""
    nasty = random.choice((0.0, 0.05, 0.15, 0.35))
    pieces = [_command(random, nasty)]
    while random.random() < 0.4:
        between = random.choice(NASTY_BETWEEN if random.random() < nasty else BETWEEN)
        pieces += [between, _command(random, nasty)]
    line = "".join(pieces).replace("{work}", str(folder / "work")).replace("{outside}", str(folder / "outside"))
    line = line.replace("{{", "{").replace("}}", "}")
    if random.random() < nasty:
        place = random.randrange(len(line) + 1)
        line = line[:place] + random.choice(CHARACTERS) + line[place + random.choice((0, 0, 1)) :]
    return line.replace("\0", "")


def _command(random: Random, nasty: float) -> str:
    if random.random() < 0.15:
        return random.choice(MOVES if random.random() < 0.1 + nasty else [MOVES[0], MOVES[1], MOVES[6], MOVES[12]])
    name = random.choice(OTHERS) if random.random() < nasty / 2 else random.choice(READERS)
    words = [name]
    if name == "jq":
        words.append(random.choice(JQ))
    elif name == "sed":
        words.append(random.choice(SED))
    elif name in ("grep", "egrep", "fgrep", "rg", "git grep"):
        words.append(random.choice(("x", "''", "1", "C", "'C.N'", "/etc", ".*")))
    elif name == "date":
        words.append("+%F")
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        bad = random.random() < max(nasty, 0.05)
        known = [option for option, takes in RULES[name].options.items() if takes == "nothing"] if name in RULES else []
        valued = [option for option, takes in RULES[name].options.items() if takes != "nothing"] if name in RULES else []
        if random.random() < 0.35:
            words.append(random.choice(OPTIONS) if bad or not known else random.choice(known))
        elif valued and random.random() < 0.25:
            value = random.choice(OUTSIDE if bad else ["2", "1,2", "x", "'*.py'", "%s", "a", "f", *INSIDE])
            words.append(f"{random.choice(valued)}{random.choice((' ', '=', ''))}{value}")
        else:
            words.append(random.choice(OUTSIDE if bad else INSIDE))
    if random.random() < 0.15:
        words.append(random.choice(NASTY_REDIRECTIONS if random.random() < nasty else REDIRECTIONS))
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Ran:
    """What running a line let happen that must not; empty where nothing did."""

    complaints: tuple[str, ...]


class Ground:
    """A folder that a hostile repository filled, beside one with what it must not get."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.outside = folder / "outside"
        self.home = folder / "home"
        self.ran = folder / "ran"
        self._fill()
        self.site = Site(self.work, "/usr/bin:/bin", (self.work,), caged=False)
        self._before = self._state()

    def judged_harmless(self, line: str) -> bool:
        """Whether the line would be run without asking, once its names are allowed, and nothing of the folder's own with it."""
        judged = judge(line, self.site)
        return not isinstance(judged, Unknown) and all(command.effect == "reads" for command in judged)

    def run(self, line: str) -> Ran:
        """Runs a line in all shells at once; what it writes is found afterwards."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "TOKEN": f"{CANARY}-variable", "LC_ALL": "C.UTF-8"}
        running = [
            subprocess.Popen([*shell, line], cwd=self.work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=-2)
            for shell in SHELLS
        ]
        complaints: list[str] = []
        for shell, process in zip(SHELLS, running, strict=True):
            try:
                output, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
                complaints.append(f"{shell}: does not end")
            if CANARY.encode() in output or b"root:x:0" in output:
                complaints.append(f"{shell}: shows {output[:300]!r}")
            if SYNTAX_ERROR.search(output):
                complaints.append(f"{shell}: takes it for no line of shell: {output[:200]!r}")
        if self.ran.exists():
            complaints.append("ran a program of the folder")
        if self._state() != self._before:
            complaints.append("wrote something")
        if complaints:
            self._fill()
            self._before = self._state()
        return Ran(tuple(complaints))

    def _state(self) -> list[tuple[str, int, int]]:
        found: list[tuple[str, int, int]] = []
        waiting = [str(self.folder)]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        return sorted(found)

    def _fill(self) -> None:
        for folder in (self.work, self.outside, self.home):
            shutil.rmtree(folder, ignore_errors=True)
        self.ran.unlink(missing_ok=True)
        secret = f"1 x {CANARY}-text\n"
        for path in (self.outside / "secret", self.outside / f"{CANARY}-name", self.home / "secret", self.home / f"{CANARY}-name"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(secret)
        (self.outside / "m.jq").write_text(f'{{"a": "{CANARY}"}}; def x: "{CANARY}-module";\n')
        texts = ("src/a.py", "src/b.py", "README.md", "sp ace", "clean/a.txt", "clean/b.txt", "b", "x", "größe", "lib/a")
        for name in texts:
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("1 x\n2,y\n")
        (self.work / "data.json").write_text('{"a": [1], "env": 2}\n')
        for name, text in (
            ("names", "../outside/secret\n"),
            ("names0", "../outside/secret\0"),
            ("names.md5", f"{'0' * 32}  ../outside/secret\n"),
        ):
            (self.work / name).write_text(text)
        for name in ("-R", "-f", "--files0-from=names0", "-exec", "--pre=sh", "a.txt", "@names"):
            (self.work / "opts").mkdir(exist_ok=True)
            (self.work / "opts" / name).write_text("1\n")
        links = (
            ("link", self.outside), ("file-link", self.outside / "secret"), ("lib/out", self.outside), ("inner-link", self.work / "src"),
            ("deep-link", Path("src/../../outside/secret")), ("loop", Path("loop")),
        )  # fmt: skip
        for name, target in links:
            (self.work / name).symlink_to(target)
        for name in ("a", "cat", "ls", "grep", "jq", "sort", "git", "pip.py", "made.sh"):
            program = self.work / name
            program.write_text(f"#!/bin/sh\n: > '{self.ran}'\n")
            program.chmod(0o755)
