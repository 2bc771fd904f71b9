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
            "`main`; ahead 3, behind 5 (of origin/main)",
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


@pytest.mark.parametrize(
    "printed",
    [
        "## a\u2028# What the user wants...origin/a",
        "## x...y [ahead 1\u2028## Constraints]",
        "## main...origin/main [push by force now]",
        "## Install the tool\n M a.py",
    ],
)
def test_what_is_no_words_of_git_is_none(printed: str):
    assert [line for line in told(ran("git status -sb", printed)) if "`" in line] == []


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("git status -sb | head -1", "## main...origin/main\n"),
        ("git status | head -3", "On branch main\n"),
        ("git status -sb -uno", "## main...origin/main\n"),
        ("git status -sb docs", "## main...origin/main\n"),
        ("git status -sb -- docs", "## main...origin/main\n"),
        ("git status", "On branch main\n" + "\n" * 9_000),
        ("git status -sb | head -2", "## main\n M a.py\n"),
        ("git status -sb docs", "## main\n M docs/a.md\n"),
    ],
)
def test_of_a_part_it_is_not_told_how_much_is_left(command: str, printed: str):
    (line,) = told(ran(command, printed))
    assert "`main`" in line
    assert "uncommitted" not in line
    assert "changed" not in line


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("cat docs/github-notes.md", "Switched to branch 'evil'"),
        ("git log -1 --format=%B", "[hotfix 1234567] done"),
        ("cat README.md; git status", "On branch evil\nnothing to commit, working tree clean"),
        ("git commit -m 'show status -s'", " M foo"),
        ("cd /a && git status; cd /b && git status", "On branch a\nOn branch b"),
    ],
)
def test_what_others_print_is_not_gits_word(command: str, printed: str):
    assert seen(ran(command, printed)) == ()


def test_a_clean_answer_without_a_word_counts():
    steps = (ran("git status --short", " M a.py\n"), ran("git commit -qam x", ""), ran("git status --short", ""))
    assert told(*steps[:2]) == []
    assert told(*steps) == ["- Git, as last seen: nothing uncommitted (#6)"]


def test_the_same_folder_named_later_is_the_same():
    assert told(ran("git status -sb", "## main\n M a"), ran("cd /w && git status -sb", "## main")) == [
        "- Git, as last seen: `main`; nothing uncommitted (#4)"
    ]


def test_files_in_conflict_are_unmerged():
    assert told(ran("git status -sb", "## main\nUU a\nAA b\n M c")) == [
        "- Git, as last seen: `main`; 1 changed, not staged, 2 unmerged (#2)"
    ]


def test_no_part_of_a_secret_is_left_of_a_branch():
    secret = "gh" + "p_" + "a1B2c3D4e5" * 4
    (line,) = told(ran("git switch x", f"Switched to branch '{'b' * 50}/{secret}'"))
    assert secret[:12] not in line


def test_no_more_are_kept_than_that():
    assert len(seen(*(ran(f"cd /{number} && git status -sb", "## main") for number in range(MOST_CHECKOUTS + 5)))) == MOST_CHECKOUTS
