"""Every call and compaction as Parquet, for whoever wants to ask more than the page answers."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from ullage.replay.parquet import Table, TableColumn, published, text, time
from ullage.replay.spending.spent import Compacted, CountedRequest

CALLS: tuple[TableColumn[CountedRequest], ...] = (
    TableColumn("session", "text", lambda each: text(each.session)),
    TableColumn("at", "time", lambda each: time(each.at)),
    TableColumn("week", "text", lambda each: each.whose.week or None),
    TableColumn("project", "text", lambda each: text(each.whose.project)),
    TableColumn("program", "text", lambda each: each.whose.program),
    TableColumn("policy", "text", lambda each: text(each.whose.policy)),
    TableColumn("model", "text", lambda each: text(each.whose.model)),
    TableColumn("input_tokens", "whole", lambda each: each.usage.input_tokens),
    TableColumn("output_tokens", "whole", lambda each: each.usage.output_tokens),
    TableColumn("cache_read_tokens", "whole", lambda each: each.usage.cache_read_tokens),
    TableColumn("cache_write_5m_tokens", "whole", lambda each: each.usage.cache_write_5m_tokens),
    TableColumn("cache_write_1h_tokens", "whole", lambda each: each.usage.cache_write_1h_tokens),
    TableColumn("dollars", "amount", lambda each: each.dollars.total if each.dollars is not None else None),
    TableColumn("missed_tokens", "whole", lambda each: each.missed),
    TableColumn("missed_dollars", "amount", lambda each: each.missed_dollars if each.dollars is not None else None),
    TableColumn("missed_because", "texts", lambda each: list(each.reasons)),
)
"""The columns of the table of calls. Dollars are null where the prices of the model are not known."""

COMPACTIONS: tuple[TableColumn[Compacted], ...] = (
    TableColumn("session", "text", lambda each: text(each.session)),
    TableColumn("at", "time", lambda each: time(each.at)),
    TableColumn("week", "text", lambda each: each.whose.week or None),
    TableColumn("project", "text", lambda each: text(each.whose.project)),
    TableColumn("program", "text", lambda each: each.whose.program),
    TableColumn("policy", "text", lambda each: text(each.whose.policy)),
    TableColumn("model", "text", lambda each: text(each.whose.model)),
    TableColumn("trigger", "text", lambda each: each.trigger or None),
    TableColumn("tokens_before", "whole", lambda each: each.tokens_before),
    TableColumn("summary_characters", "whole", lambda each: each.summary_characters),
    TableColumn("summary_dollars", "amount", lambda each: each.dollars),
    TableColumn("summary_dollars_recorded", "yes or no", lambda each: each.is_recorded),
    TableColumn("got_again_tokens", "whole", lambda each: each.again.tokens if each.again is not None else None),
    TableColumn("got_again_requests", "whole", lambda each: each.again.requests if each.again is not None else None),
    TableColumn("got_again_dollars", "amount", lambda each: each.again.dollars if each.again is not None else None),
    TableColumn("got_again_at_most", "yes or no", lambda each: each.again.at_most if each.again is not None else None),
)
"""The columns of the table of compactions."""


def paths_beside(page: Path) -> tuple[Path, Path]:
    """The paths of the tables of calls and compactions: `report.calls.parquet` and `report.compactions.parquet` beside `report.html`."""
    return page.with_name(f"{page.stem}.calls.parquet"), page.with_name(f"{page.stem}.compactions.parquet")


class Tables:
    """The tables of calls and compactions as files, written while the rows come.

    A context manager. Both stand under their names once both are whole. Where it is left by an error, those that were there before stay.
    Raises `OSError`.
    """

    def __init__(self, page: Path) -> None:
        calls, compactions = paths_beside(page)
        self._calls = Table(calls, CALLS)
        self._compactions = Table(compactions, COMPACTIONS)
        self._published: AbstractContextManager[None, bool | None] = published((self._calls, self._compactions))

    def add(self, calls: Iterable[CountedRequest], compactions: Iterable[Compacted]) -> None:
        """Adds rows to both tables."""
        self._calls.add(calls)
        self._compactions.add(compactions)

    def __enter__(self) -> Self:
        self._published.__enter__()
        return self

    def __exit__(self, error: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._published.__exit__(error, value, trace)
