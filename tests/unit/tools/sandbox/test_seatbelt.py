"""The profile for macOS, as text: what it lets a command read, write and reach. No Mac was ever asked; a small reader decides as Seatbelt
is said to."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tools.sandbox.seatbelt_rules import Expression, Kind, Quoted, allows, parse, problems
from tests.unit.tools.sandbox.test_network import get, server
from tests.unit.tools.workplace import Workplace
from ullage.tools.sandbox import sandbox, seatbelt
from ullage.tools.sandbox.confinement import ConfinedView, Confinement, Confiner, NoSandbox, OwnFolders
from ullage.tools.sandbox.guarded import Guarded
from ullage.tools.sandbox.known_places import MACOS
from ullage.tools.sandbox.seatbelt import LONGEST_STRING, Seatbelt, Unquotable, find_seatbelt, profile, quoted

__all__ = ["server"]

HOME, WORK = Path("/Users/me"), Path("/Users/me/code/tank")
OWN = OwnFolders(Path("/private/var/folders/zz/T/ullage-tmp-1"), Path("/Users/me/Library/Caches/ullage/sandbox/a/home"))
VIEW = ConfinedView(
    empty=tuple(map(Path, MACOS.empty)),
    shown=((HOME / ".nvm", HOME / ".nvm"), (HOME / "dotfiles/gitconfig", HOME / ".gitconfig")),
    masked=(Path("/Library/Keychains"), Path("/private/etc/sudoers"), WORK / "vault/.ssh"),
)
GUARD = Guarded((WORK / ".vscode", WORK / ".git/hooks", WORK / ".git/config", WORK / "sub/.envrc"), (WORK / ".git",))


def rules(*, writable: bool = True, port: int | None = 4242) -> list[Expression]:
    own = OWN if writable else OwnFolders()
    return parse(profile(Confinement((WORK,), VIEW, GUARD if writable else Guarded(), own, HOME, writable=writable), port))


@pytest.mark.parametrize(
    ("operation", "path", "may"),
    [
        ("file-read-data", "/usr/bin/git", True),
        ("file-read-data", "/Library/Developer/CommandLineTools/usr/bin/clang", True),
        ("file-read-data", "/Library/Keychains/System.keychain", False),
        ("file-read-data", "/private/etc/sudoers", False),
        ("file-read-data", "/private/etc/hosts", True),
        ("file-read-data", "/Users/me/.ssh/id_ed25519", False),
        ("file-read-data", "/Users/me/Library/Cookies/Cookies.binarycookies", False),
        ("file-read-data", "/Users/me/code/other/secret.txt", False),
        ("file-read-data", "/Users/me/code/tank2/secret.txt", False),
        ("file-read-data", "/Users/other/a", False),
        ("file-read-data", "/Volumes/Backup/a", False),
        ("file-read-data", "/System/Volumes/Data/Users/me/.ssh/id_ed25519", False),
        ("file-read-data", "/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/dyld_shared_cache_arm64e", True),
        ("file-read-data", "/private/tmp/other.sock", False),
        ("file-read-data", "/private/var/folders/zz/T/other", False),
        ("file-read-data", "/Users/me/.nvm/versions/node", True),
        ("file-read-data", "/Users/me/dotfiles/gitconfig", True),
        ("file-read-data", "/Users/me/dotfiles/other", False),
        ("file-read-metadata", "/Users/me/.gitconfig", True),
        ("file-read-data", "/dev/urandom", True),
        ("file-read-data", "/dev/disk0", False),
        ("file-read-data", "/dev/ttys001", False),
        ("file-write-data", "/dev/null", True),
        ("file-write-data", "/dev/disk0", False),
        ("file-read-data", f"{WORK}/src/a.py", True),
        ("file-write-create", f"{WORK}/src/new.py", True),
        ("file-write-unlink", f"{WORK}/src/a.py", True),
        ("file-write-data", "/usr/local/bin/git", False),
        ("file-write-create", "/Users/me/.zshrc", False),
        ("file-write-create", "/Users/me/.nvm/versions/x", False),
        ("file-write-create", "/private/tmp/x", False),
        ("file-write-create", "/private/var/folders/zz/T/ullage-tmp-1/x", True),
        ("file-write-create", "/Users/me/Library/Caches/ullage/sandbox/a/home/.cache/pip/x", True),
        ("file-write-create", "/Users/me/Library/Caches/ullage/sandbox/a/taken-back/x", False),
        ("file-read-data", f"{WORK}/.vscode/tasks.json", True),
        ("file-write-data", f"{WORK}/.vscode/tasks.json", False),
        ("file-write-create", f"{WORK}/.vscode/new.json", False),
        ("file-write-unlink", f"{WORK}/.vscode", False),
        ("file-write-data", f"{WORK}/.git/config", False),
        ("file-write-create", f"{WORK}/.git/hooks/pre-commit", False),
        ("file-write-create", f"{WORK}/.git/index.lock", True),
        ("file-write-unlink", f"{WORK}/.git", False),
        ("file-write-unlink", f"{WORK}/.git/index.lock", True),
        ("file-write-unlink", f"{WORK}/sub", False),
        ("file-write-create", f"{WORK}/sub", False),
        ("file-write-create", f"{WORK}/.git", False),
        ("file-write-create", f"{WORK}/sub/a", True),
        ("file-read-data", f"{WORK}/vault/.ssh/id", False),
        ("file-write-create", f"{WORK}/vault/.ssh/id", False),
        ("file-write-unlink", f"{WORK}/vault", False),
        ("file-link", f"{WORK}/src/a.py", False),
        ("mach-lookup", "com.apple.system.opendirectoryd.libinfo", True),
        ("mach-lookup", "com.apple.SecurityServer", False),
        ("mach-lookup", "com.apple.coreservices.launchservicesd", False),
        ("appleevent-send", "", False),
        ("lsopen", "", False),
        ("sysctl-read", "kern.procargs2", False),
        ("sysctl-read", "net.routetable.0.0.6.0", True),
        ("sysctl-read", "net.inet.tcp.pcblist", False),
        ("iokit-open", "", False),
        ("job-creation", "", False),
        ("system-socket", "", False),
        ("process-exec", "/usr/bin/git", True),
    ],
)
def test_what_the_profile_lets_a_command_do(operation: str, path: str, may: bool) -> None:
    assert allows(rules(), operation, path) is may


@pytest.mark.parametrize(("path", "kind", "may"), [("/Users/me", "directory", True), ("/Users/me/.netrc", "file", False)])
def test_a_path_through_hidden_folders_can_be_resolved(path: str, kind: Kind, may: bool) -> None:
    assert allows(rules(), "file-read-metadata", path, kind) is may
    assert not allows(rules(), "file-read-data", path, kind)


@pytest.mark.parametrize(
    "operation", ["file-write-data", "file-write-create", "file-write-unlink", "file-write-mode", "file-write-xattr", "file-link"]
)
def test_what_only_reads_can_write_nowhere(operation: str) -> None:
    reading = rules(writable=False, port=None)
    assert allows(reading, "file-read-data", f"{WORK}/a")
    for path in (f"{WORK}/a", f"{OWN.temporary}/a", "/private/tmp/a", str(HOME)):
        assert not allows(reading, operation, path)


@pytest.mark.parametrize(
    ("operation", "remote", "may"),
    [
        ("network-outbound", "localhost:4242", True),
        ("network-outbound", "localhost:5432", False),
        ("network-outbound", "*:443", False),
        ("network-outbound", "/private/var/run/docker.sock", False),
        ("network-outbound", "", False),
        ("network-bind", "localhost:4242", False),
        ("network-inbound", "localhost:4242", False),
    ],
)
def test_the_proxy_is_all_that_is_reached_and_no_socket_of_unix(operation: str, remote: str, may: bool) -> None:
    assert allows(rules(), operation, remote, remote=remote) is may
    assert not allows(rules(port=None), operation, remote, remote=remote)


HOSTILE = [
    'a"b',
    "a\\",
    '") (allow default) ("',
    "a\nb",
    "a\tb\r",
    "(subpath",
    ";x",
    "#|",
    "a b",
    "ü\u202e",
    "\x07",
    "\\x41",
    '\\"',
    "'",
    "`$(id)`",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_a_name(name: str) -> None:
    check_name(name)


@given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40))
def test_any_name_is_a_name(name: str) -> None:
    check_name(name)


def check_name(name: str) -> None:
    """It changes no other rule, and what the rules name is the very path."""
    root = WORK / f"x{name}"
    written = parse(profile(Confinement((root,), VIEW, Guarded((root / name,), (root / name,)), OWN, HOME), 1))
    plain = parse(profile(Confinement((WORK / "x",), VIEW, Guarded((WORK / "x/y",), (WORK / "x/y",)), OWN, HOME), 1))
    assert shape(written) == shape(plain)
    assert allows(written, "file-write-create", f"{root}/new")
    assert not allows(written, "file-write-data", f"{root}/{name}")
    assert not allows(written, "file-read-data", "/Users/me/.ssh/id")


@pytest.mark.parametrize(
    "confinement",
    [
        Confinement((WORK,), VIEW, GUARD, OWN, HOME),
        Confinement((WORK, Path("/opt/data")), VIEW, GUARD, OWN, HOME),
        Confinement((WORK,), VIEW, Guarded(), OwnFolders(), HOME, writable=False),
        Confinement((Path("/usr"),), ConfinedView(), Guarded(), OwnFolders(), HOME, writable=False),
        Confinement((), ConfinedView(), Guarded(), OwnFolders(), HOME),
    ],
)
@pytest.mark.parametrize("port", [None, 1, 65_535])
def test_the_profile_is_of_the_language(confinement: Confinement, port: int | None) -> None:
    assert problems(profile(confinement, port)) == []


@pytest.mark.parametrize("name", [*HOSTILE, "a" * 900])
def test_a_profile_with_hostile_names_is_of_the_language(name: str) -> None:
    root = Path("/w") / name.replace("/", "_")
    assert problems(profile(Confinement((root,), VIEW, Guarded((root / "a",), (root,)), OWN, HOME), 1)) == []


BEGIN = "(version 1)\n(deny default)\n"


@pytest.mark.parametrize(
    "text",
    [
        "(deny default)\n(version 1)",
        BEGIN + '(allow file-reed* (subpath "/a"))',
        BEGIN + '(allow file-read* (subpaht "/a"))',
        BEGIN + '(allow file-read* (subpath "a"))',
        BEGIN + '(allow file-read* (subpath "/a/"))',
        BEGIN + "(allow file-read* (subpath /a))",
        BEGIN + '(allow "file-read*")',
        BEGIN + '(allow (subpath "/a") file-read*)',
        BEGIN + "(allow)",
        BEGIN + '(allow mach-lookup (subpath "/a"))',
        BEGIN + '(allow signal (target "self"))',
        BEGIN + '(allow network-outbound (remote ip "127.0.0.1:80"))',
        BEGIN + '(allow network-outbound (remote ip "localhost:0"))',
        BEGIN + '(allow file-read* (vnode-type "DIRECTORY"))',
        BEGIN + f'(allow file-read* (literal "/{"a" * 1_025}"))',
        BEGIN + "file-read*",
    ],
)
def test_what_is_not_of_the_language_is_noticed(text: str) -> None:
    assert problems(text) != []


@pytest.mark.parametrize("text", ["(version 1", "(version 1))", '(version "1)', ")("])
def test_brackets_and_quotation_marks_have_to_match(text: str) -> None:
    with pytest.raises(ValueError, match=r"bracket|expression"):
        parse(text)


def shape(expression: Expression) -> object:
    return "…" if isinstance(expression, Quoted) else [shape(each) for each in expression] if isinstance(expression, list) else expression


@pytest.mark.parametrize("name", ["a" * (LONGEST_STRING + 1), "\udcff", "a\0b"])
def test_what_cannot_be_named_is_left_to_no_chance(name: str) -> None:
    with pytest.raises(Unquotable):
        quoted(name)


def test_a_rule_without_paths_is_none() -> None:
    assert not allows(parse(profile(Confinement((), ConfinedView(), Guarded(), OwnFolders(), HOME), None)), "file-write-data", "/a")


async def test_a_mac_without_it_says_so() -> None:
    found = await find_seatbelt([])
    if Path(seatbelt.PROGRAM).exists():
        assert isinstance(found, Seatbelt)
    else:
        assert str(found) == "/usr/bin/sandbox-exec is not there. It belongs to macOS: look whether the system is whole."


STAND_IN = '#!/bin/sh\nprintf %s "$2" > {folder}/profile\nshift 2\nexec "$@"\n'
"""Keeps the profile and confines nothing."""


async def test_a_command_is_started_with_its_profile_and_reaches_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: tuple[int, list[str]]
) -> None:
    program = tmp_path / "sandbox-exec"
    program.write_text(STAND_IN.format(folder=tmp_path))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))

    async def find(not_in: object) -> Confiner | NoSandbox:
        return Seatbelt(str(program))

    monkeypatch.setattr(sandbox, "SYSTEMS", {"linux": sandbox.SystemSandbox(find, MACOS), "darwin": sandbox.SystemSandbox(find, MACOS)})
    root = tmp_path / "work"
    (root / ".vscode").mkdir(parents=True)
    port, _ = server
    workplace = Workplace(root, sandbox="required")
    outcome = await workplace.call("bash", command=f'echo "$TMPDIR"; mkdir .husky; {get(port)}', network=[f"127.0.0.1:{port}"])
    temporary = outcome.content.splitlines()[0]
    assert "hello" in outcome.content
    assert "It made .husky, which was taken back" in outcome.content
    written = parse((tmp_path / "profile").read_text())
    assert allows(written, "file-write-create", f"{temporary}/a")
    assert allows(written, "file-write-create", f"{root}/a")
    assert not allows(written, "file-write-create", f"{root}/.vscode/a")
    assert not allows(written, "network-outbound", remote=f"localhost:{port}")
