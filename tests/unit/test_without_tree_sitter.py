"""Where tree-sitter cannot be had (`without` in scripts/lib/wheels.py), the server asks more often, and outlines go by looks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from ullage.context.compaction.outline import outline
from ullage.context.symbols import symbols
from ullage.tools.command_lines.parsing import NotFollowed, ParsedLine, follow

SOURCE = """\
class Tank:
    def fill(self):
        return 1

    def empty(self):
        return 0

def run():
    pass
"""


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    symbols.has_grammars.cache_clear()
    yield
    symbols.has_grammars.cache_clear()


@pytest.mark.usefixtures("without")
def test_no_command_line_is_followed_and_the_reason_is_said() -> None:
    read = follow("git status")
    assert isinstance(read, NotFollowed)
    assert "tree-sitter, is not installed" in read.reason


@pytest.mark.usefixtures("without")
def test_an_outline_goes_by_the_look_of_the_lines() -> None:
    assert symbols.symbols("tank.py", SOURCE) is None
    shown = outline("tank.py", SOURCE, 200)
    assert "class Tank" in str(shown)


def test_with_it_both_readers_follow() -> None:
    assert isinstance(follow("git status"), ParsedLine)
    assert symbols.symbols("tank.py", SOURCE) is not None


def test_the_server_starts_without_it() -> None:
    """Nothing but these two asks for it."""
    program = "import sys; sys.modules['tree_sitter'] = None; import ullage.lsp.server, ullage.acp.agent, ullage.session.session"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
