"""Which files are read again after a compaction, by what the log, the editor and git show."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from tests.deep import diagonal, sampled
from tests.fake_api import Call, Say, counting
from tests.unit.session.filling import WINDOW, fill, summaries
from tests.unit.session.harness import OpenEditor, Stage, compactions, stage
from ullage.context.counting.tokens import estimate_text
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.workspace.files import Diagnostic

NAMES = tuple(f"part{number}.py" for number in range(7))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    for name in NAMES:
        (made / name).write_text(f"NAME = {name!r}\n")
    (made / "readings.csv").write_text("\n".join(f"{n},{n * 7919 % 1000}" for n in range(400)))
    return made


class WithProblems(OpenEditor):
    """An editor whose language server reports an error in one file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        return [Diagnostic(self._path, 1, "error", "pyright", "NAME is not defined")]


async def read_all_then_compact(here: Stage) -> Session:
    here.fake.add_rules(summaries())
    session = await here.new()
    for name in NAMES:
        here.fake.enqueue([Call("read_file", {"path": name})], Say("Seen."))
        await here.say(session, f"Look at {name}")
    await fill(here, session, 2)
    session.compact()
    await here.idle(session)
    return session


def restored(session: Session) -> list[str]:
    [card] = compactions(session)
    return [file.path for file in card.restored]


async def test_unsaved_text_in_the_editor_comes_first(folder: Path) -> None:
    editor = OpenEditor()
    editor.texts[folder / NAMES[0]] = "NAME = 'not saved'\n"
    async with stage(folder, window=WINDOW, editor=editor) as here:
        paths = restored(await read_all_then_compact(here))
    assert paths[0] == NAMES[0]
    assert set(NAMES) < set(paths)  # these are so short that all of them are worth their tokens


async def test_a_file_with_errors_is_read_again_before_one_without(folder: Path) -> None:
    async with stage(folder, window=WINDOW, editor=WithProblems(folder / NAMES[1])) as here:
        paths = restored(await read_all_then_compact(here))
    assert paths.index(NAMES[1]) < paths.index(NAMES[2])


async def test_a_pinned_file_is_read_again_before_all(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        session.history.pin_file(NAMES[3], pinned=True)
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
    assert restored(session)[0] == NAMES[3]


async def test_in_a_small_window_they_do_not_fill_what_was_freed(folder: Path) -> None:
    for name in NAMES:
        (folder / name).write_text("\n".join(f"{name}_{number} = {number * 7919 % 1000}" for number in range(250)))
    async with stage(folder, window=WINDOW + 12_000) as here:
        session = await read_all_then_compact(here)
        [made] = here.made(session)
        gauge = session.snapshot().gauge
        files = sum(estimate_text(file.text) for file in made.restored)
        assert 0 < files < (gauge.threshold - gauge.used + files) * 0.6  # half, and a line for each that is only named


async def test_a_file_that_commands_name_in_several_ways_is_read_again_once(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        command = f"cat ./{NAMES[0]} && cat {folder}/{NAMES[0]} && cat {NAMES[0]}"
        here.fake.enqueue([Call("shell", {"command": command})], Say("Seen."))
        await here.say(session, "Look")
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
    assert [path for path in restored(session) if path.endswith(NAMES[0])] == [NAMES[0]]


@pytest.mark.parametrize("restarted", [False, True])
async def test_of_a_long_file_the_part_near_the_agents_edit_is_read_again(folder: Path, restarted: bool) -> None:
    (folder / NAMES[0]).write_text("\n".join(f"value_{number} = {number * 7919 % 1000}" for number in range(3_000)))
    edit = {"path": NAMES[0], "old_text": "value_2500 = ", "new_text": "value_2500 = 1 + "}
    async with stage(folder, window=4 * WINDOW) as here:
        session = await here.new()
        here.fake.enqueue(Call("read_file", {"path": NAMES[0], "offset": 2_490, "limit": 20}), Call("edit_file", edit), Say("Done."))
        await session.prompt("Edit it")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        if not restarted:
            assert "value_2500 = 1 + " in await read_again(here, session)
    if restarted:
        async with stage(folder, window=4 * WINDOW) as here:
            assert "value_2500 = 1 + " in await read_again(here, await here.sessions.open(None))


async def read_again(here: Stage, session: Session) -> str:
    """What a compaction by click reads again of the long file."""
    here.fake.add_rules(summaries())
    await fill(here, session, 6)
    session.compact()
    await here.idle(session)
    [made] = here.made(session)
    return next(file.text for file in made.restored if file.path == NAMES[0])


WINDOWS, POLICIES = [32_000, 48_000, 100_000], ["ullage", "token-prune"]


@sampled(("window", "policy"), product(WINDOWS, POLICIES), keep=diagonal(WINDOWS, POLICIES).__contains__)
async def test_files_read_again_fit_though_the_endpoint_counts_three_times_what_is_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int, policy: str
) -> None:
    plain = counting.count_text

    def thrice(text: str) -> int:
        return plain(text) * (3 if "read again now" in text else 1)

    monkeypatch.setattr(counting, "count_text", thrice)
    folder = tmp_path / "project"
    folder.mkdir()
    names = [f"part{number}.py" for number in range(6)]
    for name in names:
        (folder / name).write_text("\n".join(f"def function_{n}(level): return level + {n}" for n in range(220)))
    async with stage(folder, window=window, settings=Settings(policy_name=policy, summary_engine="digest")) as here:
        session = await here.new()
        for name in names * 6:
            if not compactions(session):
                here.fake.enqueue([Call("read_file", {"path": name})], Say("Seen."))
                await here.say(session, f"Look at {name}")
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "One more thing")
        assert not here.refused()
        assert compactions(session)[0].status == "completed"


async def test_files_that_grew_since_give_way_until_the_compaction_makes_the_context_smaller(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        for name in NAMES:
            here.fake.enqueue([Call("read_file", {"path": name})], Say("Seen."))
            await here.say(session, f"Look at {name}")
        await fill(here, session, 1)
        for number, name in enumerate(NAMES):
            (folder / name).write_text("\n".join(f"WORD_{number}_{line} = {line * 7919 % 1000}" for line in range(170)))
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.status == "completed"
        assert 0 < len(card.restored) < len(NAMES)
        assert card.tokens_after == session.snapshot().gauge.used < card.tokens_before


async def test_files_that_were_only_seen_in_a_listing_are_told_of_by_name(folder: Path) -> None:
    (folder / "pumps").mkdir()
    for number in range(60):  # more than a summary names
        (folder / "pumps" / f"valve{number}.py").write_text("OPEN = True\n")
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        here.fake.enqueue([Call("list_files", {"path": "pumps"})], Say("Seen."))
        await here.say(session, "What is there?")
        await fill(here, session, 4)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert [line.partition(": ")[0] for line in card.nearby] == ["pumps/"]
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Go on")
        sent = json.dumps(here.fake.requests[-1].body, ensure_ascii=False)
        assert json.dumps(card.nearby[0], ensure_ascii=False)[1:-1] in sent
