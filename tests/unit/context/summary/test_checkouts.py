"""What git said last of each checkout."""

from __future__ import annotations

import pytest

from tests.unit.context.work import ran
from ullage.context.calls import answered_calls
from ullage.context.entries import Entry, Logged
from ullage.context.summary.checkouts import MOST_CHECKOUTS, Checkout, Checkouts
from ullage.context.summary.state_of_work import StateOfWork
from ullage.context.summary.wording import state_lines

LONG = """On branch feature/datum
Your branch is behind 'origin/main' by 7 commits, and can be fast-forwarded.
  (use "git pull" to update your local branch)

Changes to be committed:
  (use "git restore --staged <file>..." to unstage)
\tnew file:   src/datum.py

Changes not staged for commit:
  (use "git add <file>..." to update what will be committed)
\tmodified:   src/gauge.py
\tdeleted:    src/old name.py

Untracked files:
  (use "git add <file>..." to include in what will be committed)
\tnotes.txt

no changes added to commit
"""


def seen(*steps: list[Entry]) -> tuple[Checkout, ...]:
    checkouts = Checkouts()
    entries = [entry for step in steps for entry in step]
    for call in answered_calls([Logged(seq, 0.0, entry) for seq, entry in enumerate(entries, 1)]):
        checkouts.add(call)
    return checkouts.all()


def told(*steps: list[Entry]) -> list[str]:
    return state_lines(StateOfWork(checkouts=seen(*steps)))


@pytest.mark.parametrize(
    ("command", "printed", "expected"),
    [
        ("git status", LONG, "`feature/datum`; behind 7 (of origin/main); 1 staged, 2 changed, not staged, 1 untracked"),
        (
            "git status --short --branch",
            "## main...origin/main [ahead 1, behind 12]\n M a.py\nMM b.py\nA  c.py\n?? d.py\n",
            "`main`; ahead 1, behind 12 (of origin/main); 2 staged, 2 changed, not staged, 1 untracked",
        ),
        ("git status -sb", "## main...origin/main\n", "`main`; level with origin/main; nothing uncommitted"),
        ("git status -sb", "## No commits yet on main\n?? a.py\n", "`main`; 1 untracked"),
        ("git status --porcelain", " M a.py\n", "1 changed, not staged"),
        ("git fetch && git status", "From x\nOn branch main\nnothing to commit, working tree clean\n", "`main`; nothing uncommitted"),
        ("git status", "HEAD detached at 3bb8701\nnothing to commit, working tree clean", "`no branch, at 3bb8701`; nothing uncommitted"),
        (
            "git status",
            "On branch main\nYour branch and 'origin/main' have diverged,\nand have 3 and 5 different commits each, respectively.\n",
            "`main`; ahead 3, behind 5 (of origin/main); nothing uncommitted",
        ),
        ("git checkout -b datum", "Switched to a new branch 'datum'", "`datum`"),
        ("git commit -m x", "[datum 3bb8701] feat: read the level", "`datum`"),
    ],
)
def test_it_is_told_in_a_line(command: str, printed: str, expected: str):
    assert told(ran(command, printed)) == [f"- Git, as last seen: {expected} (#2)"]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("git log --oneline", "3bb8701 On branch main"),
        ("git status --porcelain", ""),
        ("git status", "fatal: not a git repository"),
        ("gh run list", "## main\n M a.py"),
        ("git diff", " M a.py\n## main"),
    ],
)
def test_what_tells_of_no_checkout_is_none(command: str, printed: str):
    assert seen(ran(command, printed)) == ()


def test_a_commit_after_it_leaves_nothing_of_what_was_counted():
    assert told(ran("git status", LONG), ran("git commit -am x", "[feature/datum 3bb8701] x")) == [
        "- Git, as last seen: `feature/datum` (#4)"
    ]


def test_each_folder_is_one_and_the_last_two_are_told():
    lines = told(
        ran("cd /a && git status -sb", "## main...origin/main"),
        ran("git -C /b status -sb", "## other...origin/other [behind 2]"),
        ran("cd '/c d' && git status -sb", "## third\n?? x"),
    )
    assert lines == [
        "- Git, as last seen: `third`; 1 untracked (#6, in /c d)",
        "- Git, as last seen: `other`; behind 2 (of origin/other); nothing uncommitted (#4, in /b)",
    ]


def test_what_a_workspace_calls_its_branch_begins_no_line_of_its_own():
    (line,) = told(ran("git status -sb", "## a\u2028# What the user wants...origin/a"))
    assert len(line.splitlines()) == 1


def test_no_more_are_kept_than_that():
    assert len(seen(*(ran(f"cd /{number} && git status -sb", "## main") for number in range(MOST_CHECKOUTS + 5)))) == MOST_CHECKOUTS
