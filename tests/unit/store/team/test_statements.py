"""How many statements it takes until what was said is in the database: each is a round trip, which a turn waits for."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Postgres
from tests.unit.store.team.here import Machine, turn
from ullage.context.entries import UserPrompt
from ullage.store.team import passing
from ullage.store.team.address import Address, read_address
from ullage.store.team.following import Following
from ullage.store.team.postgres import PostgresStore


class Noting(PostgresStore):
    """Notes what it asks the database."""

    def __init__(self, address: Address, workspace: str, holder: str, *, durable: bool) -> None:
        super().__init__(address, workspace, holder, durable=durable)
        self.asked: list[str] = []

    def _ask(self, statement: str, given: Iterable[object]) -> list[tuple[Any, ...]]:
        self.asked.append(statement)
        return super()._ask(statement, given)


class Sender:
    """A machine that sends when it is told to."""

    def __init__(self, machine: Machine, writes: Noting, reads: Noting) -> None:
        self.log, self.writes, self.reads = machine.log, writes, reads
        self.following = Following(machine.here, writes, reads, machine.log.claim, machine.log.release)
        machine.log.keep_elsewhere(self.following)

    def send(self) -> list[str]:
        """What is asked for that."""
        self.writes.asked.clear()
        self.following.send_all()
        return self.writes.asked


@pytest.fixture
def sender(tmp_path: Path, postgres: Postgres, workspace: str) -> Generator[Sender]:
    with closing(Machine(tmp_path / "project", tmp_path / "kept")) as machine:
        address, holder = read_address(postgres.url("ann"), "test"), machine.log.identity()
        made = Sender(machine, *(Noting(address, workspace, holder, durable=durable) for durable in (True, False)))
        yield made
        made.following.close()


def begun(sender: Sender) -> str:
    session = sender.log.create_session("A session", 1.0).id
    sender.following.open(session)
    sender.send()
    return session


def test_an_entry_and_what_goes_along_with_its_session_take_one_statement(sender: Sender) -> None:
    session = begun(sender)
    for number, entry in enumerate(turn(1)):
        sender.log.append(session, entry, 2.0)
        sender.log.rename(session, f"Title {number}")
        sender.log.prompts.add(session, UserPrompt(f"waits{number}", "I wait"))
        assert len(sender.send()) == 1
        there = sender.reads.heads(session)
        assert there is not None and there.session.title == f"Title {number}".encode() and len(there.prompts) == number + 1
        assert [row.seq for row in sender.reads.since(session, number, 9)] == [number + 1]
    assert sender.send() == [], "nothing is new"
    sender.log.rename(session, "Without an entry")
    assert len(sender.send()) == 1


def test_nothing_of_a_turn_waits_for_what_reads(sender: Sender) -> None:
    session = begun(sender)
    sender.reads.asked.clear()
    for entry in turn(1):
        sender.log.append(session, entry, 2.0)
        sender.send()
        settled = sender.log.settled(session)
        assert settled is None
    assert sender.reads.asked == []


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6])
def test_a_prompt_that_has_become_an_entry_is_never_lost_in_between(sender: Sender, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """It leaves the list of those that wait with the last of many entries, not before."""
    monkeypatch.setattr(passing, "PAGE_ROWS", rows)
    session = begun(sender)
    prompt = UserPrompt("p1", "I wait")
    sender.log.prompts.add(session, prompt)
    sender.send()
    entries = [*turn(2), prompt]
    sender.log.append_many(session, entries[:-1], 2.0)
    sender.log.prompts.start(session, prompt.id, 2.0)
    append = sender.writes.append

    def looked_at(session_id: str, after: int, batch: Any, heads: Any = None) -> None:
        append(session_id, after, batch, heads)
        there = sender.reads.heads(session)
        assert there is not None and (there.prompts or len(sender.reads.since(session, 0, 99)) == len(entries))

    monkeypatch.setattr(sender.writes, "append", looked_at)
    sender.send()
    there = sender.reads.heads(session)
    assert there is not None and list(there.prompts) == [] and len(sender.reads.since(session, 0, 99)) == len(entries)
