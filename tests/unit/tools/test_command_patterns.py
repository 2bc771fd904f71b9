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
        ("python3.12 script.py", ["python3.12 script.py"]),
        ("python3.12 -m pytest", ["python3.12 -m pytest *"]),
        ("python -m pip install left-pad", ["python -m pip install left-pad"]),
        ("python -m pip list", ["python -m pip list *"]),
        ("python -m timeit -n 1 x", ["python -m timeit -n 1 x"]),
        ("perl5.36 x", ["perl5.36 x"]),
        ("nodejs x.js", ["nodejs x.js"]),
        ("tar xf a.tar", ["tar xf a.tar"]),
        ("vim x", ["vim x"]),
        ("printf -v PATH .", ["printf -v PATH ."]),
        ("git config core.pager less", ["git config core.pager less"]),
        ("git push origin main", ["git push origin main"]),
        ("git grep -Ox y", ["git grep -Ox y"]),
        ("git diff --stat", ["git diff *"]),
        ("npm config set x y", ["npm config set x y"]),
        ("npm exec tsx a.ts", ["npm exec tsx a.ts"]),
        ("make CC=x all", ["make CC=x all"]),
        ("pytest *.py && rm old", ["pytest *.py && rm old"]),
        ("python3.12.exe x.py", ["python3.12.exe x.py"]),
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
        "rm '*.pyc'",
        "rm *.pyc",
        "rm -r ~",
        "rm -r '~'",
        "rm {a,b}",
        "rm 'a >/dev/null b'",
        'pytest && rm "a  b"',
        "'PATH=.' pytest",
        "",
    ],
)
def test_everything_else_is_only_itself(command: str) -> None:
    expected = ["ls *"] if command == "ls && " else [command.strip()]
    assert list(command_patterns(command)) == expected
