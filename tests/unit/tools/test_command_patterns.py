"""What a command would be remembered as."""

from __future__ import annotations

import pytest

from ullage.tools.command_patterns import command_patterns


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("pytest", ["pytest *"]),
        ("pytest -q tests/unit", ["pytest *"]),
        ("  ls   -la src ", ["ls *"]),
        ("ls *.py", ["ls *"]),
        ("git status --short", ["git status *"]),
        ("git -c core.pager=x status", ["git -c core.pager=x status"]),
        ("npm", ["npm"]),
        ("npm test", ["npm test *"]),
        ("npm run build -- --watch", ["npm run build *"]),
        ("npm run", ["npm run"]),
        ("uv run pytest -q", ["uv run pytest *"]),
        ("uv run python x.py", ["uv run python x.py"]),
        ("python -m pytest -q", ["python -m pytest *"]),
        ("python script.py", ["python script.py"]),
        ("python -c 'import os'", ["python -c 'import os'"]),
        ("rm -r build", ["rm -r build"]),
        ("sudo pytest", ["sudo pytest"]),
        ("./run.sh all", ["./run.sh all"]),
        ("PATH=. pytest", ["PATH=. pytest"]),
        ("cd src && pytest -q", ["cd *", "pytest *"]),
        ("pytest -q; pytest -x", ["pytest *"]),
        ("cat a | grep b || ls", ["cat *", "grep *", "ls *"]),
        ("pytest & rm x", ["pytest *", "rm x"]),
        ("pytest 2>&1 | tail -5", ["pytest *", "tail *"]),
        ("pytest >/dev/null 2>&1", ["pytest *"]),
        ('grep "a; b && c" x', ["grep *"]),
    ],
)
def test_plain_commands(command: str, patterns: list[str]) -> None:
    assert list(command_patterns(command)) == patterns


@pytest.mark.parametrize(
    "command",
    [
        "echo $(rm -r x)",
        "echo `rm -r x`",
        'echo "$(rm -r x)"',
        "echo $HOME",
        "ls > out.txt",
        "ls >> out.txt",
        "ls >/dev/nullx",
        "cat < in.txt",
        "cat <<EOF\nx\nEOF",
        "ls\nrm x",
        "(ls; rm x)",
        "if rm x; then ls; fi",
        "while rm x; do ls; done",
        "! rm x",
        "{ rm x; }",
        "ls \\; rm",
        "echo 'open",
        "ls && ",
        "ls ;; rm",
        "ls |& rm",
        "&& ls",
        "",
    ],
)
def test_everything_else_is_only_itself(command: str) -> None:
    expected = ["ls *"] if command == "ls && " else [command.strip()]
    assert list(command_patterns(command)) == expected
