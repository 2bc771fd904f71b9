"""Every way out in `ways_out.py` is tried in the real sandbox, as this user and, where this user is root, as another one. None works."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.unit.tools.sandbox.outside import Outside, outside
from tests.unit.tools.sandbox.ways_out import ALL, CANARY
from ullage.tools.process import sandbox_environment, tool_environment
from ullage.tools.sandbox.bubblewrap import Bubblewrap, filter_file, sandboxed
from ullage.tools.sandbox.confinement import Confinement, OwnFolders, view
from ullage.tools.sandbox.guarded import Guarded, guarded

ANOTHER_USER = 12_345
USERS = [None, ANOTHER_USER] if hasattr(os, "getuid") and os.getuid() == 0 else [None]

INHERITED = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "DATABASE_URL": f"postgres://{CANARY}",
    "SSH_AUTH_SOCK": "/tmp/ullage-canary.sock",
    "TMUX": "/tmp/ullage-canary.sock,1,0",
}


def run(bubblewrap: Bubblewrap, world: Outside, script: str, *, writable: bool = True) -> str:
    """What the script says, run in the sandbox as the user whose world it is."""
    environment = sandbox_environment(tool_environment(INHERITED | {"HOME": str(world.home)}))
    environment |= {"WORK": str(world.work), "HOST_PID": str(world.victim), "TCP": str(world.port)}
    guard = guarded([world.work]) if writable else Guarded()
    found = view(world.home, [world.work], environment)
    confinement = Confinement((world.work,), found, guard, OwnFolders(), world.home, writable=writable)
    return confined(bubblewrap, world, script, confinement, environment)


def confined(
    bubblewrap: Bubblewrap, world: Outside, script: str, confinement: Confinement, environment: Mapping[str, str] | None = None
) -> str:
    """The same in that confinement."""
    environment = environment or sandbox_environment(tool_environment(INHERITED | {"HOME": str(world.home)}))
    with filter_file() as descriptor:
        ended = subprocess.run(
            sandboxed(bubblewrap, ["/bin/bash", "-c", script], confinement, descriptor),
            pass_fds=(descriptor,),
            cwd=confinement.roots[0],
            env=environment,
            user=world.user,
            group=world.user,
            extra_groups=None if world.user is None else [],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            timeout=2 * PATIENCE,
            check=False,
        )
    return ended.stdout.decode(errors="replace")


def one_after_the_other() -> str:
    """All of them in one shell, a mark before each; each with its own process group and few seconds."""
    parts = [f"echo; echo '=== {number}'; timeout 4 bash -c {quoted(way)} 2>&1" for number, (_, way) in enumerate(ALL)]
    return "\n".join([*parts, "echo; echo '=== end'"])


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.mark.parametrize("user", USERS)
def test_no_way_leads_out(bubblewrap: Bubblewrap, user: int | None) -> None:
    assert len(ALL) >= 60
    with outside(user) as world:
        before = world.state()
        output = run(bubblewrap, world, one_after_the_other())
        said = dict(re.findall(r"^=== (\d+)\n(.*?)(?=^=== )", output, re.MULTILINE | re.DOTALL))
        assert len(said) == len(ALL), output[-2000:]
        out = {ALL[int(number)][0]: text for number, text in said.items() if "OUT" in text or CANARY in text}
        assert not out
        assert world.unlike(before) == []
        assert world.reached == []
        assert world.runs_as_owner() == []
        assert still_there("ullage-outlives") == []


ESCAPES_OF_AN_OPEN_HOME = (
    "echo forged > ~/.local/state/ullage/allowed.json",
    "rm -rf ~/.local/state/ullage",
    "mv ~/.local/state/ullage ~/away",
    "mv ~/.local/state ~/.local/away && mkdir -p ~/.local/state/ullage && echo forged > ~/.local/state/ullage/allowed.json",
    "mv ~/.local ~/away && mkdir -p ~/.local/state/ullage && echo forged > ~/.local/state/ullage/allowed.json",
    "ln -sfn ~/away ~/.local/state",
    "mv ~/.ssh ~/away; mv ~/.aws ~/away; mv ~/.config ~/away; mv ~/.config/gh ~/away",
)
"""In a home folder that was opened as a workspace: what was allowed would be forged, or secrets be had by the next command."""


@pytest.mark.parametrize("user", USERS)
def test_in_an_open_home_folder_nothing_is_forged_and_no_secret_seen(bubblewrap: Bubblewrap, user: int | None) -> None:
    """What is hidden in a folder that can be written to stays hidden, and at its place, although it is guarded, too."""
    with outside(user) as world:
        state = world.home / ".local/state/ullage/allowed.json"
        state.parent.mkdir(parents=True, exist_ok=True)
        state.write_text(CANARY)
        for path in (*state.parents[:3], state):
            os.chown(path, -1 if user is None else user, -1)
        before = {path: path.read_bytes() for path in sorted(world.home.rglob("*")) if path.is_file() and not path.is_symlink()}
        found = view(world.home, [world.home], {}, [state.parent])
        assert {state.parent, world.home / ".ssh"} <= set(found.masked)
        script = "\n".join([*ESCAPES_OF_AN_OPEN_HOME, *(f"cat {path} {path}/*" for path in found.masked), "echo all was tried"])
        confinement = Confinement((world.home,), found, guarded([world.home]), OwnFolders(), world.home)
        output = confined(bubblewrap, world, script, confinement)
        assert output.splitlines()[-1] == "all was tried"
        assert CANARY not in output
        after = {path: path.read_bytes() for path in sorted(world.home.rglob("*")) if path.is_file() and not path.is_symlink()}
        assert after == before


def still_there(name: str) -> list[str]:
    """The processes of that name."""
    lines = [(path, path.read_bytes()) for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return [str(path) for path, line in lines if name.encode() in line]


@pytest.mark.parametrize("user", USERS)
def test_what_tools_need_is_there(bubblewrap: Bubblewrap, user: int | None) -> None:
    """Writing in the workspace, temporary files, caches, pipes, connected sockets, the loopback device, git."""
    script = """set -e
    echo a > src/b.txt; mkdir -p build/x; mv src/b.txt build/x; rm -r build
    echo t > /tmp/t; test "$(cat $TMPDIR/t)" = t; echo c > ~/.cache/c; echo here <<< word | cat
    perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or die; syswrite(A,"x"); sysread(B,$x,1); die if $x ne "x"'
    perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); bind(S,sockaddr_in(0,INADDR_LOOPBACK)) or die; listen(S,1) or die;
      socket(C,AF_INET,SOCK_STREAM,0); connect(C,getsockname(S)) or die'
    git init -q /tmp/r && cd /tmp/r && git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m a && git log --format=%s
    sh -c 'kill -TERM $$' || test $? = 143
    echo all well"""
    with outside(user) as world:
        assert run(bubblewrap, world, script).splitlines()[-1] == "all well"


@pytest.mark.parametrize("user", USERS)
def test_what_only_reads_can_write_nowhere(bubblewrap: Bubblewrap, user: int | None) -> None:
    with outside(user) as world:
        before = {path: path.lstat().st_mtime_ns for path in sorted(world.work.rglob("*"))}
        output = run(bubblewrap, world, "cat src/a.txt; touch src/a.txt new src/new; echo x > src/a.txt; rm src/a.txt", writable=False)
        assert output.startswith("a")
        assert output.count("Read-only file system") == 5
        assert {path: path.lstat().st_mtime_ns for path in sorted(world.work.rglob("*"))} == before
