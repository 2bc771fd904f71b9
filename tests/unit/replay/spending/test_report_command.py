"""`ullage report`: the page, the tables beside it, its exit code, and what it says of what cannot be read."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.unit.context.logs import PRELUDE, prompt
from tests.unit.recorded.readers.recorded import written
from tests.unit.replay.recorded import reply
from tests.unit.replay.reporting.html.test_page import HOSTILE, check
from tests.unit.replay.test_command import compacted_session, counted, plain_session, text
from ullage.cli import main
from ullage.replay.spending.command import NO_PYARROW
from ullage.replay.spending.tables import CALLS, COMPACTIONS
from ullage.store.log_store import LogStore


def rows(path: Path) -> list[dict[str, Any]]:
    """What a table holds."""
    return import_module("pyarrow.parquet").read_table(path).to_pylist()


def test_the_page_and_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    written(tmp_path, compacted_session().lines, "a.jsonl")
    page = tmp_path / "out" / "costs.html"
    page.parent.mkdir()
    assert main(["report", str(tmp_path), "--out", str(page), "--policy", "ullage,claude-code"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert str(page) in output.out
    told = check(page.read_text(encoding="utf-8")).text
    for words in (
        "By week",
        "claude-opus-4-5",
        "Claude Code: its own",
        "Why requests missed the cache",
        "as recorded",
        "ullage",
        "claude-code",
    ):
        assert words in told
    calls, compactions = rows(page.parent / "costs.calls.parquet"), rows(page.parent / "costs.compactions.parquet")
    assert [tuple(each) for each in calls[:1]] == [tuple(column.name for column in CALLS)]
    assert [tuple(each) for each in compactions] == [tuple(column.name for column in COMPACTIONS)]
    assert len(calls) == 4
    # as in the test of `ullage replay` for the same session
    assert sum(each["dollars"] for each in calls) == pytest.approx(0.01 + 0.01 + 0.025 + 0.21875)
    assert sorted(path.name for path in page.parent.iterdir()) == ["costs.calls.parquet", "costs.compactions.parquet", "costs.html"]


def test_without_names_the_own_sessions_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    kept = {tmp_path / "project": tmp_path}

    def workspaces(location: Path) -> dict[Path, Path]:
        return kept

    monkeypatch.setattr("ullage.replay.spending.command.workspaces_in", workspaces)
    store = LogStore.open(tmp_path)
    session = store.create_session("Looking", 5.0)
    for entry in (PRELUDE, prompt("Look"), reply(1_000)):
        store.append(session.id, entry, 1_767_571_200.0)
    store.close()
    assert main(["report", "--out", str(tmp_path / "r.html")]) == 0
    assert "2026-01-05" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nowhere",), 1, "nowhere does not exist"),
        (("a.jsonl", "--policy", "best"), 2, "there is no policy 'best'; there are"),
        (("a.jsonl", "--out", "none/r.html"), 1, "cannot be written"),
        (("a.jsonl", "broken.jsonl"), 0, "broken.jsonl"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    said: str,
):
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.jsonl"):
        written(tmp_path, plain_session().lines, name)
    Path("broken.jsonl").write_bytes(b"\x00\xff nothing of the kind")
    assert main(["report", "--out", "r.html", *arguments]) == code
    assert said in capsys.readouterr().err


def test_what_two_files_hold_counts_once(tmp_path: Path):
    short, whole = plain_session(), plain_session()
    counted(whole, (2_000, 100, 0, 0, 0), text("And more."))
    written(tmp_path, short.lines, "a.jsonl")
    written(tmp_path, whole.lines, "b.jsonl")
    page = tmp_path / "r.html"
    assert main(["report", str(tmp_path), "--out", str(page), "--policy", "ullage"]) == 0
    assert [each["input_tokens"] for each in rows(tmp_path / "r.calls.parquet")] == [1_000, 2_000]
    assert "1 conversation, each as a whole" in check(page.read_text(encoding="utf-8")).text


def test_a_failure_leaves_the_tables_as_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = written(tmp_path, plain_session().lines)
    page = tmp_path / "r.html"
    assert main(["report", str(path), "--out", str(page)]) == 0
    before = {each.name: each.read_bytes() for each in tmp_path.glob("*.parquet")}
    page.unlink()
    page.mkdir()
    assert main(["report", str(path), "--out", str(page)]) == 1
    assert {each.name: each.read_bytes() for each in tmp_path.glob("*.parquet*")} == before
    assert "cannot be written" in capsys.readouterr().err


def test_without_pyarrow_there_is_the_page_and_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = written(tmp_path, plain_session().lines)
    assert main(["report", str(path), "--out", str(tmp_path / "r.html")]) == 0
    assert NO_PYARROW in capsys.readouterr().err
    assert (tmp_path / "r.html").exists()
    assert not list(tmp_path.glob("*.parquet"))


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_markup(tmp_path: Path, name: str):
    session = plain_session(model=name, cwd=f"/work/{name}")
    counted(session, (10, 10, 0, 0, 0), text("Hi."), model=f"{name} too")
    path = written(tmp_path, session.lines)
    main(["report", str(path), "--out", str(tmp_path / "r.html")])
    check((tmp_path / "r.html").read_text(encoding="utf-8"))


def test_the_help_says_that_no_model_is_asked(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    assert "asks no model and sends nothing anywhere" in " ".join(capsys.readouterr().out.split())
