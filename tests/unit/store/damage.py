"""A small log with everything that a log can hold, and looking at what is left of it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ullage.context.entries import Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.store.log_store import LogStore

SESSIONS = 3
ENTRIES = 40


def entry(number: int) -> Entry:
    """Short ones, long ones, and some that take several pages."""
    chance = random.Random(number)
    text = " ".join(chance.choices(["dip", "stick", "tank", "ülläge", "日本", "\\n\n", '"volume"'], k=chance.choice([3, 30, 300, 3_000])))
    match number % 3:
        case 0:
            return UserPrompt(f"p{number}", text)
        case 1:
            return Notice("rules", text)
        case _:
            return ToolReturned(f"t{number}", "bash", text, is_error=False, characters=len(text))


@dataclass(frozen=True)
class Written:
    """What was acknowledged."""

    titles: dict[str, str]
    entries: dict[str, list[Logged]]
    prompts: dict[str, list[UserPrompt]]


def write(folder: Path, *, into_wal: Path | None = None) -> Written:
    """Writes the log. With `into_wal` the files are copied there while the log is open: the half of it is in the write-ahead log."""
    store = LogStore.open(folder)
    records = [store.create_session(f"Session number {number}", 1.0 + number) for number in range(SESSIONS)]
    written = Written({each.id: each.title for each in records}, {each.id: [] for each in records}, {each.id: [] for each in records})

    def add(first: int, last: int) -> None:
        for number in range(first, last):
            for place, each in enumerate(records):
                written.entries[each.id].append(store.append(each.id, entry(number * SESSIONS + place), 10.0 + number))

    add(0, ENTRIES // 2)
    if into_wal is not None:
        store.close()
        store = LogStore.open(folder)
    add(ENTRIES // 2, ENTRIES)
    for each in records[:2]:
        prompt = UserPrompt(f"q{each.id}", f"I wait in {each.title}")
        store.prompts.add(each.id, prompt)
        written.prompts[each.id].append(prompt)
    store.remember("model", "practice")
    if into_wal is not None:
        shutil.copytree(folder, into_wal, dirs_exist_ok=True)
    store.close()
    return written


@dataclass
class Verdict:
    """What became of one flipped bit."""

    wrong: int = 0
    """Texts that are not what was written, and nobody says so."""
    lost: int = 0
    """Entries, titles and prompts that are not there."""
    unnamed: int = 0
    """Those of them that nobody speaks of."""


def look(folder: Path, written: Written) -> Verdict:
    """Opens the log and holds it against what was written."""
    verdict = Verdict()
    told: list[str] = []
    store = LogStore.open(folder)
    store.tell_of(told.append)
    if store.set_aside is not None:
        told.append(store.set_aside.reason)
    titles = {record.id: record.title for record in store.sessions()}
    for session_id, wanted in written.entries.items():
        title = titles.get(session_id)
        if title is None:
            verdict.lost += len(wanted)
            verdict.unnamed += 0 if told else len(wanted)
            continue
        if title != written.titles[session_id]:
            verdict.lost += 1
            verdict.wrong += "damaged" not in title
        there = {logged.seq: logged for logged in store.load(session_id)}
        named = {row.seq for row in store.damaged(session_id)}
        for logged in wanted:
            if logged.seq not in there:
                verdict.lost += 1
                verdict.unnamed += logged.seq not in named
            elif there[logged.seq] != logged:
                verdict.wrong += 1
        verdict.wrong += len(there.keys() - {logged.seq for logged in wanted})
        waiting = {prompt.id: prompt for prompt in store.prompts.of(session_id)}
        for prompt in written.prompts[session_id]:
            found = waiting.pop(prompt.id, None)
            if found is None:
                verdict.lost += 1
                verdict.unnamed += not told and not any("damaged" in other.text for other in waiting.values())
            elif found != prompt:
                verdict.lost += 1
                verdict.wrong += "damaged" not in found.text
        verdict.wrong += sum("damaged" not in other.text for other in waiting.values())
        seq = store.append(session_id, UserPrompt("after", "It goes on"), 99.0).seq
        verdict.wrong += seq <= wanted[-1].seq
    store.close()
    return verdict


def flip(path: Path, bit: int) -> None:
    """Turns one bit of a file."""
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def flips(count: int, seed: int, choose: Callable[[random.Random], int]) -> list[int]:
    """Which bits to turn."""
    chance = random.Random(seed)
    return [choose(chance) for _ in range(count)]
