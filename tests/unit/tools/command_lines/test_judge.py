"""What a command would be remembered as: known names where every word of it is known, else exactly the line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.unit.tools.allowed import covers, kept_early
from tests.unit.tools.command_lines.sites import make_site, parts
from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import EXACTLY, HARMLESS, RUNS, command_need, shown_pattern


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("  ls   -la src ", ["ls"]),
        ("ls *.py", ["ls"]),
        ("ls inner-link", ["ls"]),
        ("cat src/*.py src/a.py", ["cat"]),
        ("cd src && ls && cat a.py", ["cd", "ls", "cat"]),
        ("ls;", ["ls"]),
        ("cat a | grep b || ls", ["cat", "grep", "ls"]),
        ("ls 2>&1 | tail -5", ["ls", "tail"]),
        ("ls >/dev/null 2>&1", ["ls"]),
        ('grep "a; b && c" x', ["grep"]),
        ("grep -rn '/api/../v1' src --include='*.py'", ["grep"]),
        ("grep -n -- -x a", ["grep"]),
        ("find . -name '*.py' -type f -mtime -7", ["find"]),
        ("sed -n '10,20p' a.py", ["sed"]),
        ("sort -rn -k2,3 -t, a", ["sort"]),
        ("cut -d, -f1 a", ["cut"]),
        ("rg -n 'a b' src -g '*.py' -A3", ["rg"]),
        ("jq -r '.scripts | keys[], .env, .\"a b\"' package.json", ["jq"]),
        ("date +%F", ["date"]),
        ("echo --- a", ["echo"]),
        ("cat größe.txt", ["cat"]),
        ("diff a b", ["diff"]),
        ("tail -n +5 a", ["tail"]),
    ],
)
def test_what_only_reads_is_remembered_by_its_name(site: Site, command: str, names: list[str]) -> None:
    need = command_need(command, site)
    assert list(need.parts) == [f"{HARMLESS}{name}" for name in names]
    assert need.harmless


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("git status --short", "git status"),
        ("git --no-pager diff", "git --no-pager diff"),
        ("git diff --stat HEAD~1 main..HEAD -- src", "git diff"),
        ("git log --oneline -5 --format='%h %s' --since '2 weeks'", "git log"),
        ("git show HEAD:src/a.py", "git show"),
        ("git stash list", "git stash list"),
        ("pip list", "pip list"),
        ("node --version", "node --version"),
    ],
)
def test_what_the_folder_can_make_run_programs_is_harmless_in_a_sandbox_only(site: Site, caged: Site, command: str, name: str) -> None:
    need = command_need(command, caged)
    assert (need.parts, need.harmless) == ((f"{HARMLESS}{name}",), True)
    need = command_need(command, site)
    assert (need.parts, need.harmless) == ((f"{EXACTLY}{command}",), False)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pytest", "pytest"),
        ("pytest -q tests/unit", "pytest"),
        ("pytest -xvs -k 'a and not b' --tb=short tests/a.py::Test::test", "pytest"),
        ("git commit -am 'Mend the tank'", "git commit"),
        ("npm test", "npm test"),
        ("npm run build --silent", "npm run build"),
        ("make -j4", "make"),
        ("make test -j4", "make test"),
        ("npx tsc --noEmit -p src", "npx tsc"),
        ("npx prettier --check src", "npx prettier --check"),
        ("uv run pytest -q", "uv run pytest"),
        ("uv run python -m pytest", "uv run python -m pytest"),
        ("python -m pytest -q", "python -m pytest"),
        ("python3.12 -m pytest", "python3.12 -m pytest"),
        ("cargo test -p tank --release -- --nocapture", "cargo test"),
        ("go test ./... -run TestTank -count=1", "go test"),
        ("pytest -q; pytest -x", "pytest"),
    ],
)
def test_what_runs_the_folders_own_is_named_but_never_harmless(site: Site, command: str, name: str) -> None:
    need = command_need(command, site)
    assert (need.parts, need.harmless) == ((f"{RUNS}{name}",), False)


def test_one_part_that_runs_makes_the_line_no_longer_harmless(site: Site) -> None:
    need = command_need("cd src && pytest -q | tail -5", site)
    assert need.parts == (f"{HARMLESS}cd", f"{RUNS}pytest", f"{HARMLESS}tail")
    assert not need.harmless


ONLY_ITSELF = {
    "unknown programs": ["mytool", "./git status", "/usr/bin/git status", "bin/pytest", "ｌｓ", "сat a", "gitstatus", "'git status'", ""],
    "quoted names": ["'git' status", 'g"i"t status', "git 'status'", "''ls"],
    "variables before": ["PATH=. pytest", "'PATH=.' pytest", "GIT_PAGER=x git log", "env A=1 pytest"],
    "what runs what it is given": [
        "sh -c 'ls'",
        "bash -c ls",
        "eval ls",
        "exec ls",
        "command ls",
        "sudo ls",
        "timeout 5 pytest",
        "time pytest",
        "nice pytest",
        "nohup pytest",
        "xargs ls",
        "ls | xargs rm",
        "cat a | sh",
        "python -c 'import os'",
        "python script.py",
        "python -m timeit x",
        "python -m http.server",
        "perl -e 1",
        "node a.js",
        "awk 1 a",
        "npx cowsay",
        "npm exec tsx a.ts",
        "npm run",
        "uv run x.py",
        "uv run --with evil pytest",
        "find . -exec rm x ;",
        "find . -execdir a",
        "find . -ok a",
        "find . -delete",
        "find . -fprint a",
        "rg --pre=sh x",
        "rg --pre sh x",
        "sort --compress-program=sh a",
        "go test -exec sh",
        "go test -exec=sh",
        "go vet -vettool=x",
        "cargo --config x test",
        "cargo test --config x",
        "git grep -Osh x",
        "git grep --open-files-in-pager=sh x",
        "git diff --ext-diff",
        "git log --textconv",
        "python -m pip list",
        "python3 -m pip show x",
        "npx eslint .",
        "npx vitest run",
        "jq env a",
        "jq '.[] | env.HOME' a",
        "jq '$ENV' a",
        'jq \'import "a" as a {search: "/home"}; .\' a',
        'jq \'include "a" {search: "/home"}; .\' a',
        "jq 'input_filename' a",
        "jq '\"/etc/x\" | modulemeta' a",
        "jq '\"\\(env)\"' a",
        "jq -L /home . a",
        "jq -f a b",
        "jq --rawfile x /etc/passwd . a",
        "diff -l a b",
        "pytest -p evil",
        "pytest -pevil",
        "pytest -c evil.ini",
        "pytest --rootdir=x",
        "pytest @options",
        "pytest -W error::evil.Warning",
        "mypy --python-executable x",
        "eslint -f x .",
        "printf '%n' 'a[0]'",
        "test -v 'a[0]'",
    ],
    "what writes": [
        "git diff --output=x",
        "git diff --output x",
        "git diff --outp=x",
        "git branch new",
        "git branch -D main",
        "git tag v1",
        "git reflog expire",
        "git remote add a b",
        "git remote -v update",
        "git config core.pager less",
        "git push",
        "git checkout a",
        "git stash",
        "git commit --amend",
        "git commit --no-verify -m x",
        "git add -f x",
        "sort -o x a",
        "sort -no x a",
        "sort --output=x a",
        "tree -o x",
        "uniq a b",
        "pytest --junitxml=src/a.py",
        "pytest --basetemp=src",
        "pytest --cov-report=html:src",
        "ruff check --fix",
        "prettier --write a",
        "sed -i s/a/b/ a",
        "sed -n '1,5w x' a",
        "sed -n '1e ls' a",
        "sed s/a/b/e a",
        "rm -r build",
        "tee a",
        "cp a b",
    ],
    "options before the name": [
        "git -c core.pager=x status",
        "git -C .. status",
        "npm --prefix x test",
        "make -C x",
        "make -f x",
        "npx -p evil tsc",
    ],
    "what a script gets": [
        "npm test -- x",
        "npm test x",
        "npm test -- -s",
        "npm run clean src",
        "yarn test -s",
        "make clean all",
        "make CC=x",
        "make -j clean",
    ],
    "places outside": [
        "cat /etc/passwd",
        "cat ../x",
        "cat a/../../x",
        "cat ~/x",
        "cat '~/x'",
        "cat ~",
        "cat a:/etc/passwd",
        "grep -f/etc/passwd x",
        "grep --file=/etc/passwd x",
        "grep -e x /etc/passwd",
        "cat .*/x",
        "cat .?/x",
        "ls --ignore=../x",
        "pytest /tmp/x",
        "pytest ../x",
        "pytest C:/x",
        "pytest 'C:\\x'",
        "cd",
        "cd -",
        "cd ..",
        "cd /",
        "cd ~",
        "cd a b",
        "cd *",
    ],
    "links that lead outside": [
        "cat link/secret",
        "cat file-link",
        "cat lib/out/secret",
        "cat lib/*",
        "cat *",
        "ls link",
        "grep x link/secret",
        "grep x file-lin?",
        "cd link && cat secret",
        "cd lib && cat out/secret",
        "cd lib; cd out; cat secret",
        "cd src && cd ../link && ls",
        "head -n 1 link/secret",
        "sort -k file-link a",
        "wc -l a:link/secret",
        "pytest link",
        "diff link src",
        "find link -name x",
    ],
    "what follows links within folders": [
        "grep -R x .",
        "ls -LR",
        "find -L . -name x",
        "find . -follow",
        "du -L .",
        "diff src lib",
        "tree -l",
        "rg -L x",
    ],
    "files of names": [
        "wc --files0-from=a",
        "du --files0-from=a",
        "sort --files0-from=a",
        "md5sum -c a",
        "sha256sum --check a",
        "du -X a",
        "grep -f a x",
    ],
    "options that end": [
        "grep -- -x /etc/passwd",
        "grep -r -- --x /etc",
        "sed -n -- 1p /etc/passwd",
        "cat -- /etc/passwd",
        "sed -- -n /etc/passwd",
    ],
    "what would wait": ["tail -f a", "tail --follow a", "tail -F a"],
    "brackets": [
        "cat .[.,-]/x",
        "cat .[^a]/x",
        "cat .[!a]/x",
        "cat [.][.]/x",
        "ls [[:punct:]]/x",
        "cat a[b]",
        "cat a]",
        "pytest a.py::t[x]",
    ],
    "what dash reads otherwise": ["ls &>/dev/null", "ls &>>/dev/null", "ls |& cat"],
    "what another folder says": ["cd src && git commit -m x", "cd src && npm test", "cd src; make test", "cd src && cargo test"],
    "globs": [
        "ls .*",
        "ls .?",
        "ls **/x",
        "cat /*",
        "cd a*",
        "find . -name *",
        "find . -name a*",
        "grep foo* a",
        "cat 'a'*",
        "ls -*",
        "cat ?x/../a",
    ],
    "redirections": [
        "ls > out.txt",
        "ls >> out.txt",
        "ls >out",
        "ls>out",
        "ls >| out",
        "ls 2> out",
        "ls &> out",
        "ls >/dev/nullx",
        "ls >/dev/null/x",
        "cat < in.txt",
        "cat <<EOF\nx\nEOF",
        "cat <<< x",
        "ls <> x",
        "ls >&3",
        "ls 3>x",
        "> /dev/null",
    ],
    "substitutions": [
        "echo $(rm -r x)",
        "echo `rm -r x`",
        'echo "$(rm -r x)"',
        'echo "`rm x`"',
        "echo $HOME",
        "echo ${a}",
        "echo $((1))",
        "echo $'a'",
        "cat <(ls)",
        "ls >(cat)",
        "ls {a,b}",
        "ls a=~",
        "ls ~root",
        'echo "!x"',
        "echo \\$x",
        'echo "\\$x"',
    ],
    "the shell's language": [
        "ls\nrm x",
        "ls\rrm x",
        "ls & rm x",
        "ls &",
        "ls |& rm",
        "ls && ",
        "ls ;; rm",
        "&& ls",
        "; ls",
        "ls || | ls",
        "(ls; ls)",
        "{ ls; }",
        "! ls",
        "if ls; then ls; fi",
        "while ls; do ls; done",
        "ls() { rm x; }",
        "alias ls=rm",
        "ls # x",
        "ls \\; rm",
        "echo 'open",
        'echo "open',
        "ls ''' x",
    ],
}


@pytest.mark.parametrize(("command",), [(command,) for commands in ONLY_ITSELF.values() for command in commands])
def test_everything_else_is_only_itself(caged: Site, command: str) -> None:
    """Also where there is a sandbox."""
    if "\r" in command:
        assert parts(command, caged) == ()
    else:
        assert parts(command, caged) == (f"{EXACTLY}{command}",)


@pytest.mark.parametrize("command", ["ls\u00a0a", "ls \u202ea", "ls\x1b[2K", "ls\u200b", "ls\u2028rm"])
def test_what_nobody_sees_is_asked_each_time(site: Site, command: str) -> None:
    need = command_need(command, site)
    assert need.pattern == ""
    assert not covers(kept_early("command", ["", command, f"{EXACTLY}{command}", f"{HARMLESS}ls"]), need, site)


@pytest.mark.parametrize("command", ["ls", "git status", "echo 'a & del b'"])
def test_nothing_is_known_of_the_words_of_another_shell(command: str) -> None:
    assert parts(command, None) == (f"{EXACTLY}{command}",)


def test_an_absolute_path_into_the_folder_is_inside(site: Site) -> None:
    assert parts(f"cat {site.folder}/src/a.py", site) == (f"{HARMLESS}cat",)
    assert parts(f"cat {site.folder}x", site)[0].startswith(EXACTLY)
    assert parts(f"cat {site.folder}/link/secret", site)[0].startswith(EXACTLY)


def test_another_open_folder_is_not_covered(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (second / "a").write_text("")
    site = make_site(first)
    both = Site(site.folder, site.search_path, (first, second), caged=False)
    for line in (f"cat {second}/a", f"cd {second} && ls", "cat ../second/a", f"pytest {second}"):
        assert parts(line, both) == (f"{EXACTLY}{line}",)


@pytest.mark.parametrize(
    ("search_path", "harmless"),
    [("/usr/bin:/bin", True), ("bin:/usr/bin", False), (".:/usr/bin", False), (":/usr/bin", False), ("{folder}/bin:/usr/bin", False)],
)
def test_a_program_of_the_workspace_is_not_the_one_of_the_system(tmp_path: Path, search_path: str, harmless: bool) -> None:
    folder = tmp_path / "work"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "cat"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    site = make_site(folder, search_path=search_path.replace("{folder}", str(folder)))
    assert command_need("cat a", site).harmless is harmless
    assert command_need("echo a", site).harmless


def test_a_link_to_a_program_of_the_workspace_is_one_of_the_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    site = make_site(folder, search_path=f"{tmp_path}/bin:/usr/bin")
    (tmp_path / "bin").mkdir()
    (folder / "evil").write_text("#!/bin/sh\n")
    (folder / "evil").chmod(0o755)
    (tmp_path / "bin" / "cat").symlink_to(folder / "evil")
    assert not command_need("cat a", site).harmless


@pytest.mark.parametrize(
    "line",
    [
        "[a" * 20_000,
        "a " * 100_000,
        "ls " + "a|" * 1_990,
        "ls " + "a/" * 1_900,
        "cat " + "*/*/*/* " * 400,
        "cat " + "a:b=c,d " * 400,
        "cd src && " * 300,
    ],
    ids=len,
)
def test_a_line_of_any_length_is_only_itself_at_once(site: Site, line: str) -> None:
    """One of them took 12 s before."""
    before = time.process_time()
    assert parts(line, site) == (f"{EXACTLY}{line}",)
    assert time.process_time() - before < 6


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("ls -s", "`ls *`"),
        ("pytest -s", "`pytest *` (runs code of this folder)"),
        ("rm -r build", "exactly `rm -r build`"),
        ("cat <<EOF\nx\nEOF", "exactly this command"),
        ("rm " + "x" * 200, "exactly this command"),
        ("echo `rm x`", "exactly this command"),
    ],
)
def test_the_user_reads_what_is_allowed(site: Site, command: str, shown: str) -> None:
    assert [shown_pattern(pattern) for pattern in parts(command, site)] == [shown]
