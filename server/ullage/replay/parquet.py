"""Tables of what was found as Parquet, by pyarrow (the extra `report`), which has no types and takes long to import."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

ROWS_AT_ONCE = 50_000
"""How many rows are in memory before they are written."""

Kind: TypeAlias = Literal["text", "texts", "whole", "amount", "yes or no", "time"]
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class TableColumn(Generic[_Row]):
    """A column of a table. Where `of` gives None it is null."""

    name: str
    kind: Kind
    of: Callable[[_Row], object]


def can_be_written() -> bool:
    """Whether tables can be written as Parquet: whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


@contextmanager
def published(tables: Sequence[Table[Any]]) -> Generator[None]:
    """Lets all tables stand under their names once all are whole. Left by an error, those that were there before stay. Raises `OSError`."""
    try:
        yield
        for table in tables:
            table.finish()
        for table in tables:
            table.publish()
    finally:
        for table in tables:
            table.give_up()


class Table(Generic[_Row]):
    """A table as one file, which has another name until it is published."""

    def __init__(self, path: Path, columns: Sequence[TableColumn[_Row]]) -> None:
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
        self._partial.unlink(missing_ok=True)  # of a run that was killed; where it is a link, what it leads to stays
        self._file = self._partial.open("xb")
        self._writer: Any = import_module("pyarrow.parquet").ParquetWriter(self._file, self._schema, compression="zstd")
        self._waiting: list[dict[str, object]] = []

    def add(self, rows: Iterable[_Row]) -> None:
        """Adds rows. They are written once enough wait."""
        self._waiting += ({column.name: column.of(row) for column in self._columns} for row in rows)
        if len(self._waiting) >= ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        self._writer.write_table(import_module("pyarrow").Table.from_pylist(self._waiting, schema=self._schema))
        self._waiting = []

    def finish(self) -> None:
        """Writes the rows that still wait, and closes the file."""
        self._write()
        self._close()

    def _close(self) -> None:
        self._writer.close()
        self._file.close()

    def publish(self) -> None:
        """Gives the finished file its name."""
        self._partial.replace(self._path)

    def give_up(self) -> None:
        """Removes what is not finished."""
        self._close()
        self._partial.unlink(missing_ok=True)


def text(words: str) -> str:
    """The words without halves of characters, which a transcript may have and Parquet has not."""
    return words.encode("utf-8", "replace").decode("utf-8")


def time(at: float) -> datetime | None:
    """The date of a time in Unix seconds; None if the time is not known (0)."""
    return datetime.fromtimestamp(at, UTC) if at else None
