"""Every call and compaction as Parquet, for whoever wants to ask more than the page answers.

That needs pyarrow (`ullage[report]`), which has no types and takes long to import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

from ullage.replay.spending.spent import Call, Compacted

ROWS_AT_ONCE = 50_000
"""So many are in memory before they are written."""

Kind: TypeAlias = Literal["text", "texts", "whole", "amount", "yes or no", "time"]
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Column(Generic[_Row]):
    """A column of a table. Where `of` gives None it is null."""

    name: str
    kind: Kind
    of: Callable[[_Row], object]


CALLS: tuple[Column[Call], ...] = (
    Column("session", "text", lambda each: _text(each.session)),
    Column("at", "time", lambda each: _time(each.at)),
    Column("week", "text", lambda each: each.whose.week or None),
    Column("project", "text", lambda each: _text(each.whose.project)),
    Column("program", "text", lambda each: each.whose.program),
    Column("policy", "text", lambda each: _text(each.whose.policy)),
    Column("model", "text", lambda each: _text(each.whose.model)),
    Column("input_tokens", "whole", lambda each: each.usage.input_tokens),
    Column("output_tokens", "whole", lambda each: each.usage.output_tokens),
    Column("cache_read_tokens", "whole", lambda each: each.usage.cache_read_tokens),
    Column("cache_write_5m_tokens", "whole", lambda each: each.usage.cache_write_5m_tokens),
    Column("cache_write_1h_tokens", "whole", lambda each: each.usage.cache_write_1h_tokens),
    Column("dollars", "amount", lambda each: each.dollars.total if each.dollars is not None else None),
    Column("missed_tokens", "whole", lambda each: each.missed),
    Column("missed_dollars", "amount", lambda each: each.missed_dollars if each.dollars is not None else None),
    Column("missed_because", "texts", lambda each: list(each.reasons)),
)
"""Of the calls. Dollars are null where the prices of the model are not known."""

COMPACTIONS: tuple[Column[Compacted], ...] = (
    Column("session", "text", lambda each: _text(each.session)),
    Column("at", "time", lambda each: _time(each.at)),
    Column("week", "text", lambda each: each.whose.week or None),
    Column("project", "text", lambda each: _text(each.whose.project)),
    Column("program", "text", lambda each: each.whose.program),
    Column("policy", "text", lambda each: _text(each.whose.policy)),
    Column("model", "text", lambda each: _text(each.whose.model)),
    Column("trigger", "text", lambda each: each.trigger or None),
    Column("tokens_before", "whole", lambda each: each.tokens_before),
    Column("summary_characters", "whole", lambda each: each.summary_characters),
    Column("summary_dollars", "amount", lambda each: each.dollars),
    Column("summary_dollars_recorded", "yes or no", lambda each: each.is_recorded),
    Column("got_again_tokens", "whole", lambda each: each.again.tokens if each.again is not None else None),
    Column("got_again_requests", "whole", lambda each: each.again.requests if each.again is not None else None),
    Column("got_again_dollars", "amount", lambda each: each.again.dollars if each.again is not None else None),
    Column("got_again_at_most", "yes or no", lambda each: each.again.at_most if each.again is not None else None),
)
"""Of the compactions."""


def can_be_written() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def paths_beside(page: Path) -> tuple[Path, Path]:
    """Where the calls and the compactions stand: `report.calls.parquet` and `report.compactions.parquet` beside `report.html`."""
    return page.with_name(f"{page.stem}.calls.parquet"), page.with_name(f"{page.stem}.compactions.parquet")


class Tables:
    """Both files, written while the rows come.

    A context manager. Both stand under their names once both are whole. Where it is left by an error, those that were there before stay.
    Raises `OSError`.
    """

    def __init__(self, page: Path) -> None:
        calls, compactions = paths_beside(page)
        self._calls = _Table(calls, CALLS)
        self._compactions = _Table(compactions, COMPACTIONS)

    def add(self, calls: Iterable[Call], compactions: Iterable[Compacted]) -> None:
        """More rows."""
        self._calls.add(calls)
        self._compactions.add(compactions)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        tables = (self._calls, self._compactions)
        try:
            if error is None:
                for table in tables:
                    table.finish()
                for table in tables:
                    table.publish()
        finally:
            for table in tables:
                table.give_up()


class _Table(Generic[_Row]):
    """One file, under another name until it is published."""

    def __init__(self, path: Path, columns: Sequence[Column[_Row]]) -> None:
        pa = import_module("pyarrow")
        types: dict[Kind, Any] = {
            "text": pa.string(),
            "texts": pa.list_(pa.string()),
            "whole": pa.int64(),
            "amount": pa.float64(),
            "yes or no": pa.bool_(),
            "time": pa.timestamp("us", tz="UTC"),
        }
        self._columns = columns
        self._schema = pa.schema([(each.name, types[each.kind]) for each in columns])
        self._path, self._partial = path, path.with_name(f"{path.name}.partial")
        self._writer: Any = import_module("pyarrow.parquet").ParquetWriter(self._partial, self._schema, compression="zstd")
        self._waiting: list[dict[str, object]] = []

    def add(self, rows: Iterable[_Row]) -> None:
        self._waiting += ({column.name: column.of(row) for column in self._columns} for row in rows)
        if len(self._waiting) >= ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        self._writer.write_table(import_module("pyarrow").Table.from_pylist(self._waiting, schema=self._schema))
        self._waiting = []

    def finish(self) -> None:
        """All rows are in the file."""
        self._write()
        self._writer.close()

    def publish(self) -> None:
        """The file stands under its name."""
        self._partial.replace(self._path)

    def give_up(self) -> None:
        """Leaves nothing that is not finished."""
        self._writer.close()
        self._partial.unlink(missing_ok=True)


def _text(words: str) -> str:
    """Without halves of characters, which a transcript may have and Parquet has not."""
    return words.encode("utf-8", "replace").decode("utf-8")


def _time(at: float) -> datetime | None:
    return datetime.fromtimestamp(at, UTC) if at else None
