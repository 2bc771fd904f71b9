"""Who asks the database may find different things; the user hears of one outage once."""

from __future__ import annotations

from ullage.store.team.faults import Away, LinkLost, TeamStoreRefused
from ullage.store.team.outages import Outages


def test_what_two_find_is_told_once_and_is_over_when_it_is_over_for_both() -> None:
    told: list[str] = []
    outages = Outages(told.append, lambda: told.append("back"))
    outages.answered("looking")
    outages.failed("looking", LinkLost("lost"))
    outages.failed("sending", LinkLost("lost, too"))
    assert told == ["lost"] and outages.is_away
    outages.failed("sending", Away("down"))
    outages.failed("looking", Away("down"))
    outages.failed("sending", LinkLost("lost"))
    assert told == ["lost", "down"]
    outages.answered("looking")
    assert told == ["lost", "down"] and outages.is_away
    outages.answered("sending")
    assert told == ["lost", "down", "back"] and not outages.is_away


def test_something_else_is_told_beside_it() -> None:
    told: list[str] = []
    outages = Outages(told.append, lambda: told.append("back"))
    outages.failed("sending", Away("it can only be read"))
    outages.failed("looking", TeamStoreRefused("the password is wrong"))
    assert told == ["it can only be read", "the password is wrong"]


def test_one_who_cannot_be_told_keeps_nobody_from_going_on() -> None:
    def fails(text: str) -> None:
        raise RuntimeError(text)

    outages = Outages(fails, lambda: fails("back"))
    outages.failed("sending", Away("down"))
    outages.answered("sending")
    assert not outages.is_away
