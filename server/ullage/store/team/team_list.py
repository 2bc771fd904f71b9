"""The list of sessions in the team's store, as it was seen last, and what of it goes into the list of this machine."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ullage.store.session_rows import Heads, SessionRows
from ullage.store.team.passing import can_go
from ullage.store.team.store import Listed, TeamStore


class TeamList:
    """That of one workspace. `look` is for one thread, the rest for any."""

    def __init__(self) -> None:
        self._listed: dict[str, Listed] = {}
        self.is_known = False
        """Whether it was looked at."""

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that another machine writes."""
        listed = self._listed
        return frozenset(each for each in session_ids if each in listed and listed[each].held_by)

    def look(self, team: TeamStore, rows: SessionRows, followed: AbstractSet[str]) -> bool:
        """Looks at it, and puts what is new of sessions that are not `followed` into the list here; whether anything is new. One
        that was deleted there, and of which nothing is here, leaves the list."""
        listed = {each.session.id.decode("utf-8", "replace"): each for each in team.sessions()}
        before, self._listed = self._listed, {session_id: each for session_id, each in listed.items() if can_go(session_id)}
        self.is_known = True
        news = {session_id: each for session_id, each in self._listed.items() if before.get(session_id) != each}
        strange = [(Heads(each.session, each.values), each.last_seq) for session_id, each in news.items() if session_id not in followed]
        if strange:
            rows.put_listed(strange)
        gone = [each for each in rows.listed_alone() if each not in listed and each not in followed]
        if gone:
            rows.take_off_list(gone)
        return bool(news or gone)

    def behind(self, rows: SessionRows) -> list[str]:
        """The sessions here of which the store did not have all."""
        listed = self._listed
        return [each for each in rows.ids() if rows.last(each) > (listed[each].last_seq if each in listed else 0)]
