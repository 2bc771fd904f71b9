"""Sessions that are too large for memory: what is set aside in a file, and that no figure depends on it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from errno import ENOSPC
from itertools import islice
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import cluster
from bench.cluster import lines, with_compactions, with_files
from bench.sessions import Generated
from ullage.context.compaction.economy import Economy
from ullage.context.entries import Logged, Notice
from ullage.context.policies.table import BUILT_IN
from ullage.recorded.readers import read
from ullage.recorded.transcript import Transcript
from ullage.replay.file_work import FileWork, ReplayOptions, file_work
from ullage.replay.measuring.runs import Places, Summaries
from ullage.replay.simulating.optimum import OPTIMUM
from ullage.store import set_aside
from ullage.store.set_aside import EntriesAside


@contextmanager
def held(characters: int) -> Generator[None]:
    """So many characters of a session may be in memory, and pages are so small that most are in the file."""
    with pytest.MonkeyPatch.context() as patch:
        for reader in ("entries", "claude_code"):
            patch.setattr(f"ullage.recorded.readers.{reader}.MOST_IN_MEMORY", characters)
        for name, value in (("PAGE", 3), ("NEWEST", 2), ("CACHED", 1)):
            patch.setattr(set_aside, name, value)
        patch.setattr("ullage.recorded.retention.BLOCKS_AT_ONCE", 10)
        patch.setattr("ullage.replay.measuring.retaining.MOST_HITS", 30)
        yield


@st.composite
def transcripts(draw: st.DrawFn) -> str:
    """Lines of a generated session: with screenshots or without, compacted or not; some may be lost, doubled or out of place."""
    messages = Generated(draw(st.integers(1, 50))).messages()
    if draw(st.booleans()):
        messages = with_files(messages, screenshots=draw(st.booleans()))
    if draw(st.booleans()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster, "COMPACTED_AT", draw(st.integers(8_000, 20_000)))
            told = list(lines(islice(with_compactions(messages), draw(st.integers(1, 90))), "s"))
    else:
        told = list(lines(islice(messages, draw(st.integers(1, 90))), "s"))
    for _ in range(draw(st.integers(0, 3))):
        place, other = draw(st.integers(0, len(told) - 1)), draw(st.integers(0, len(told) - 1))
        match draw(st.sampled_from(["lost", "doubled", "moved"])):
            case "lost" if len(told) > 1:
                del told[place]
            case "doubled":
                told.insert(place, told[other])
            case _:
                told[place], told[other] = told[other], told[place]
    return "".join(told)


def worked(path: Path, options: ReplayOptions) -> FileWork:
    """How long a policy took differs from run to run."""
    work = file_work(path, options)
    return replace(work, runs=tuple(replace(run, seconds=0.0) for run in work.runs))


@given(
    transcripts(),
    st.lists(st.sampled_from([*BUILT_IN, OPTIMUM]), min_size=1, max_size=2, unique=True),
    st.sampled_from(get_args(Places)),
    st.sampled_from(get_args(Summaries)),
    st.sampled_from([None, "claude-sonnet-4-5"]),
    st.sampled_from([None, 12_000, 40_000]),
    st.sampled_from(get_args(Economy)),
    st.sampled_from([0, 3_000]),
)
def test_no_figure_depends_on_what_is_in_memory(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    policies: Sequence[str],
    at: Places,
    summary: Summaries,
    as_model: str | None,
    window: int | None,
    economy: Economy,
    characters: int,
):
    path = tmp_path_factory.mktemp("session") / "s.jsonl"
    path.write_text(text, encoding="utf-8")
    options = ReplayOptions(policies=tuple(policies), at=at, summary=summary, as_model=as_model, window=window, economy=economy)
    expected = worked(path, options)
    with held(characters):
        assert worked(path, options) == expected


@given(transcripts(), st.sampled_from([0, 3_000]))
def test_what_is_read_is_the_same(tmp_path_factory: pytest.TempPathFactory, text: str, characters: int):
    path = tmp_path_factory.mktemp("session") / "s.jsonl"
    path.write_text(text, encoding="utf-8")
    expected = read(path)
    with held(characters):
        found = read(path)
        assert [_in_memory(each) for each in found] == [_in_memory(each) for each in expected]
        assert characters or all(isinstance(each.entries, EntriesAside) for each in found if each.entries)


def _in_memory(transcript: Transcript) -> Transcript:
    return replace(transcript, entries=tuple(transcript.entries))


def test_what_is_nested_too_deeply_to_be_packed_stays_in_memory():
    nested: list[object] = []
    for _ in range(5_000):
        nested = [nested]
    assert set_aside.Shelf(0).hold(nested, 1).get() is nested


def test_entries_that_a_full_disk_did_not_take_are_written_with_the_next(monkeypatch: pytest.MonkeyPatch):
    entries = [Logged(number, 0.0, Notice("hook", f"said {number}")) for number in range(1, 3 * set_aside.PAGE + set_aside.NEWEST)]
    put, full = set_aside.Aside.put, iter([True, True])

    def put_or_fail(aside: set_aside.Aside, value: object) -> int:
        if next(full, False):
            raise OSError(ENOSPC, "the disk is full")
        return put(aside, value)

    monkeypatch.setattr(set_aside.Aside, "put", put_or_fail)
    log = EntriesAside()
    failed = 0
    for entry in entries:
        try:
            log.append(entry)
        except OSError:
            failed += 1
    assert failed == 2
    log.let_go(((1, 2 * set_aside.PAGE),))
    assert list(log) == entries
