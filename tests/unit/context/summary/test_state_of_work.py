"""Where the work stands: commits, edits since, checks, what still runs, the plan and the issue at hand."""

from __future__ import annotations

import pytest

from tests.unit.context.work import asked, calls_of, edited, ran, read, work
from ullage.context.blocks import Json, ToolUse
from ullage.context.calls import Call
from ullage.context.entries import AssistantReply, Entry, FileTouch, Notice, ToolReturned
from ullage.context.summary.facts import facts
from ullage.context.summary.state_of_work import GuidingDocument, StateOfWork, WorkHistory
from ullage.context.summary.task_list import TaskHistory
from ullage.context.summary.wording import document_lines, state_lines

COMMIT = "[main 3bb8701] feat: read the level\n 1 file changed, 2 insertions(+)"


def state(*steps: Entry | list[Entry]) -> StateOfWork:
    return facts(work(*steps)).work


def called(tool: str, printed: str, **input: Json) -> Call:
    return Call(1, input, ToolReturned("t", tool, printed, is_error=False, characters=len(printed)))


def test_a_commit_is_known_by_what_git_printed():
    (commit,) = state(edited("a.py"), ran("git add a.py && git commit -m 'feat: read the level'", COMMIT)).commits
    assert (commit.hash, commit.subject, commit.seq) == ("3bb8701", "feat: read the level", 4)


@pytest.mark.parametrize("message", ['-m "feat: pump"', "-am 'feat: pump'", "-m \"$(cat <<'EOF'\nfeat: pump\n\nmore\nEOF\n)\""])
def test_a_quiet_commit_is_known_by_its_message(message: str):
    (commit,) = state(ran(f"git commit -q {message}", "")).commits
    assert (commit.hash, commit.subject) == ("", "feat: pump")


def test_a_commit_that_failed_is_none():
    assert state(ran("git commit -m x", "nothing to commit", failed=True)).commits == ()


@pytest.mark.parametrize("reset", ["git reset --soft HEAD~1", "git reset HEAD^ && git status", "git -C app reset --hard @~"])
def test_a_commit_that_was_taken_back_is_none(reset: str):
    commits = state(ran("git commit -m a", COMMIT), ran("git commit -m b", "[main 4cc8712] feat: b"), ran(reset, "")).commits
    assert [commit.hash for commit in commits] == ["3bb8701"]
    assert state(ran("git commit -m a", COMMIT), ran("git reset --hard HEAD~7", "")).commits == ()
    assert len(state(ran("git commit -m a", COMMIT), ran("git reset HEAD a.py", "")).commits) == 1


def test_an_amended_commit_stands_for_the_one_before():
    commits = state(ran("git commit -m a", COMMIT), ran("git commit --amend --no-edit", "[main 4cc8712] feat: read the level")).commits
    assert [commit.hash for commit in commits] == ["4cc8712"]


@pytest.mark.parametrize(
    "command",
    [
        "gh pr create --title 'fix: lint' --body \"$(cat <<'EOF'\n- `[{\"a\": 1}]` is read\n- all tests run by pytest\nEOF\n)\"",
        "git commit -m 'run pytest and ruff'",
        "git add explain.go explain_test.go",
        "ps -ef | rg 'bun test apps|tsc|vite build'",
        "grep -rn 'npm run build' docs",
        'echo "pytest is next"',
        "cat > run.sh <<EOF\npytest -q\nEOF",
    ],
)
def test_a_check_that_is_only_named_was_not_run(command: str):
    """What is told as the newest check must be one: else the real one before it is no longer told."""
    assert [check.seq for check in state(ran("pytest -q", "3 passed"), ran(command, "done")).checks] == [2]
    assert state(ran(f"{command}\npytest -q", "4 passed")).checks[-1].kind == "tests"


@pytest.mark.parametrize(
    ("adding", "left"),
    [
        ("git add src/a.py", ("src/b.py", "lib/c.py")),
        ("git add src", ("lib/c.py",)),
        ("git add -A", ()),
        ("git add .", ()),
        ("true", ()),
    ],
)
def test_what_is_edited_and_not_committed(adding: str, left: tuple[str, ...]):
    found = state(edited("src/a.py"), edited("src/b.py"), edited("lib/c.py"), ran(f"{adding} && git commit -m x", COMMIT))
    assert found.uncommitted == left
    assert state(edited("src/a.py"), ran("git commit -am x", COMMIT), edited("src/a.py")).uncommitted == ("src/a.py",)


def test_where_git_is_not_used_nothing_is_said_of_commits():
    assert state(edited("a.py")).uncommitted == ()


def test_the_newest_check_of_each_kind_with_what_it_says():
    found = state(
        ran("pytest -q", "1 failed, 2 passed", failed=True),
        ran("ruff check .", "All checks passed!"),
        ran("cd src && pytest -q 2>&1 | tail -3", "....\n3 passed in 0.1s"),
        ran("npm run build", "built"),
    )
    assert [(check.kind, check.ended, check.told) for check in found.checks] == [
        ("lint", "ok", "All checks passed!"),
        ("tests", "ran", "3 passed in 0.1s"),
        ("build", "ok", "built"),
    ]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("mix test test/tank_test.exs", "tests"),
        ("mise run test", "tests"),
        ("bun run test 2>&1", "tests"),
        ("cargo test --all", "tests"),
        ("bun run typecheck", "types"),
        ("npx tsc --noEmit", "types"),
        ("mix credo --strict", "lint"),
        ("go build ./...", "build"),
        ("mix compile --warnings-as-errors", "build"),
        ("git checkout test", ""),
        ("grep -rn test src", ""),
        ("cat tests/test_tank.py", ""),
    ],
)
def test_what_is_a_check(command: str, kind: str):
    assert [check.kind for check in state(ran(command)).checks] == ([kind] if kind else [])


def test_edits_after_the_last_check_are_unchecked_and_plain_text_needs_no_check():
    assert state(ran("pytest"), edited("a.py")).is_unchecked
    assert not state(edited("a.py"), ran("pytest")).is_unchecked
    assert not state(ran("pytest"), edited("notes.md")).is_unchecked


def test_a_check_in_the_background_ends_where_its_end_is_seen():
    history = WorkHistory()
    history.add(called("bash", "Command running in background with ID: b0be39e.", command="mix test"))
    assert history.state().running == ((1, "mix test"),)
    history.add(called("TaskOutput", "<retrieval_status>timeout</retrieval_status>", task_id="b0be39e"))
    assert history.state().checks == ()
    history.add(called("TaskOutput", "<status>completed</status>\n43 tests, 0 failures", task_id="b0be39e"))
    assert history.state().running == ()
    assert [check.told for check in history.state().checks] == ["43 tests, 0 failures"]


def test_a_notice_tells_that_something_in_the_background_is_over():
    history = WorkHistory()
    history.add(called("bash", "Process running with session ID 42", cmd="make all"))
    history.add_notice(Notice("rules", "42 completed"))
    assert history.state().running == ()


def test_the_plan_is_what_was_written_as_one_last():
    history = WorkHistory()
    history.add(called("ExitPlanMode", "Approved", plan="1. Read the level"))
    history.add(called("write_file", "Created", path="docs/plans/tank.md", content="# Plan\n1. Paint the gauge"))
    history.add(called("write_file", "Created", path="src/plan.py", content="no plan"))
    found = history.state().plan
    assert found is not None
    assert (found.name, found.text) == ("docs/plans/tank.md", "# Plan\n1. Paint the gauge")


ACCEPTED = "The user accepted this plan. They changed it first. Carry it out as it stands here:\n\n1. Read the dip\n2. Paint it red"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("1. Read the dip\n2. Paint it", ACCEPTED, False)], ("", "1. Read the dip\n2. Paint it red")),
        ([("1. Read it", "The user does not accept this plan yet. They said: twice", True)], ("that is not accepted", "1. Read it")),
        ([("1. Read it", ACCEPTED, False), ("2. Write it", "The user does not accept it", True)], ("", "1. Read the dip\n2. Paint it red")),
    ],
    ids=["as the user left it", "refused", "the accepted one outlives one that is refused"],
)
def test_an_accepted_plan_is_told_as_the_user_left_it(calls: list[tuple[str, str, bool]], expected: tuple[str, str]):
    history = WorkHistory()
    for plan, answer, is_error in calls:
        history.add(Call(1, {"plan": plan}, ToolReturned("t", "propose_plan", answer, is_error=is_error, characters=len(answer))))
    found = history.state().plan
    assert found is not None
    assert (found.name, found.text) == expected


def test_of_an_issue_the_part_is_shown_that_was_named_last():
    issue = "tank-1 · Read the level\nWith care.\ntank-2 · Paint the gauge\nIn red."
    found = state(ran("bd show tank-1; bd show tank-2", issue), ran("bd update tank-2 --status in_progress"))
    assert found.issue is not None
    assert document_lines(found.issue, "Opened with", 500, found.claimed) == [
        "- Opened with `bd show tank-1; bd show tank-2` (#2):",
        "  > tank-2 · Paint the gauge",
        "  > In red.",
    ]


def test_of_a_plan_that_is_too_long_the_lines_that_say_why_are_shown():
    why = "Litres, because the dip counts them."
    document = GuidingDocument(4, "plan.md", "\n".join(["# Plan", *["Read one more tank."] * 20, why, *["Paint one more tank."] * 20]))
    lines = document_lines(document, "Plan", 300)
    assert lines[:2] == ["- Plan `plan.md` (#4):", "  > # Plan"]
    assert lines[lines.index(f"  > {why}") - 1] == "  > […]"
    assert lines[-1].endswith("more lines: `recall` #4)")
    assert sum(map(len, lines)) < 450


def test_of_an_issue_in_json_the_lines_of_its_texts_are_shown():
    printed = 'Chunk ID: 1\nWall time: 1.0 seconds\nOutput:\n{"body":"Read the level.\\n- in litres\\n- twice"}'
    assert document_lines(GuidingDocument(4, "", printed), "Opened with", 500) == [
        "- Opened with (#4):",
        '  > {"body":"Read the level.',
        "  > - in litres",
        '  > - twice"}',
    ]
    assert document_lines(GuidingDocument(4, "", "Output:\n"), "Opened with", 500) == []


def test_what_a_tracker_puts_before_the_text_makes_way():
    printed = "title:\tRead the level\nstate:\tOPEN\nlabels:\t\nnumber:\t7\nadditions:\t12\n--\nIn litres.\nnumber: of tanks"
    assert document_lines(GuidingDocument(4, "", printed), "Opened with", 500) == [
        "- Opened with (#4):",
        "  > title:\tRead the level".replace("\t", " "),
        "  > state: OPEN",
        "  > In litres.",
        "  > number: of tanks",
    ]


BODY = "The datum plate of the east tank is read once a day. " * 6


@pytest.mark.parametrize(
    "command",
    [
        f'gh issue create --title "Datum" --body "{BODY}"',
        f"bd create 'Datum' --description '{BODY}' --priority 1",
        f"gh pr create --title Datum --body \"$(cat <<'EOF'\n{BODY}\nEOF\n)\"",
        f"cd app && gh issue comment 7 --body-file - <<'EOF'\n{BODY}\nEOF",
    ],
)
def test_a_text_that_the_agent_wrote_for_others_is_kept(command: str):
    (written,) = state(ran(command, "https://example.org/issues/7")).written
    assert written.text.strip() == BODY.strip()


@pytest.mark.parametrize(
    "step",
    [
        ran(f'gh issue create --title "Datum" --body "{BODY}"', "HTTP 401", failed=True),
        ran("gh issue create --title Datum --body 'Read it once a day.'", "done"),
        ran(f"cat > notes.md <<'EOF'\ngh issue create\n{BODY}\nEOF", ""),
        ran(f'git commit -m "{BODY}"', COMMIT),
        ran(f"cat > a.py <<'EOF'\n{BODY}\nEOF\ngh pr create --body 'Short.'", ""),
        ran(f"make --lib-d '{BODY}'; gh issue comment 3 --body ok", ""),
        ran(f"gh issue comment 3 --lib-d '{BODY}' --body ok", ""),
    ],
)
def test_what_is_short_failed_or_for_nobody_is_not(step: list[Entry]):
    assert state(step).written == ()


def test_the_newest_of_them_each_once():
    texts = [f"{number} {BODY}" for number in (1, 2, 3, 4, 2)]
    written = state(*(ran(f'bd create x --description "{text}"') for text in texts)).written
    assert [document.text[0] for document in written] == ["3", "4", "2"]


def test_how_it_reads():
    lines = state_lines(
        state(
            asked("Go"),
            edited("src/a.py"),
            ran("pytest", "3 passed"),
            ran("git commit -am x", COMMIT),
            ran("git push"),
            edited("src/b.py"),
            read("src/a.py"),
        )
    )
    assert lines == [
        "- Committed: 3bb8701 feat: read the level (#7)",
        "- Pushed (#9), the last commit too",
        "- Git, as last seen: `main` (#7)",
        "- Edited since the last commit: b.py",
        "- Tests: `pytest` ok: 3 passed (#5); files were edited since",
        "- **The last edits are not checked yet**",
    ]


def test_that_no_commit_was_made_is_said_where_something_was_changed():
    assert state_lines(state(edited("a.py"))) == ["- No commit was made", "- **Nothing was checked yet**"]
    assert state_lines(state(edited("notes.md"))) == []


def test_a_refused_call_did_nothing():
    call, returned = ran("git commit -m x", COMMIT)
    assert isinstance(returned, ToolReturned)
    refused = ToolReturned(returned.tool_use_id, "bash", COMMIT, is_error=True, characters=9, refusal="No")
    assert state([call, refused]).commits == ()


def test_what_is_copied_goes_on_by_itself():
    history = WorkHistory()
    for call in calls_of(edited("a.py"), ran("git status")):
        history.add(call)
    other = history.copy()
    history.add(Call(9, {}, ToolReturned("t", "edit", "", False, 0, touched=(FileTouch("b.py", "edited", ""),))))
    assert (history.state().uncommitted, other.state().uncommitted) == (("a.py", "b.py"), ("a.py",))


def tasks(*calls: Call) -> list[tuple[str, str]]:
    history = TaskHistory()
    for call in calls:
        history.add_reply(AssistantReply("r", (ToolUse("t", call.returned.tool, call.input),), "m", "tool_use", None))
        history.add(call)
    return [(task.content, task.status) for task in history.copy().tasks]


@pytest.mark.parametrize(
    ("tool", "input"),
    [
        ("todo", {"todos": [{"content": "Read", "status": "completed"}, {"content": "Paint", "status": "pending"}]}),
        ("TodoWrite", {"todos": [{"content": "Read", "status": "completed"}, {"content": "Paint", "status": "pending"}]}),
        ("update_plan", {"plan": [{"step": "Read", "status": "completed"}, {"step": "Paint", "status": "pending"}]}),
    ],
)
def test_a_list_that_is_written_at_once(tool: str, input: dict[str, Json]):
    assert tasks(called(tool, "Noted.", **input)) == [("Read", "completed"), ("Paint", "pending")]


def test_a_list_that_is_written_task_by_task():
    written = [
        called("TaskCreate", "Task #1 created successfully: Read", subject="Read"),
        called("TaskCreate", "Task #2 created successfully: Paint", subject="Paint"),
        called("TaskCreate", "Task #3 created successfully: Sell", subject="Sell"),
        called("TaskUpdate", "Updated task #1", taskId="1", status="completed"),
        called("TaskUpdate", "Deleted task #3", taskId="3", status="deleted"),
    ]
    assert tasks(*written) == [("Read", "completed"), ("Paint", "pending")]
    assert tasks(*written, called("TaskList", "#2 [completed] Paint")) == [("Read", "completed"), ("Paint", "completed")]
