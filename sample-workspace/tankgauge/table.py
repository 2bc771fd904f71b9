"""Strapping tables: how many litres lie below a given depth of a tank.

A surveyor measures a tank once and hands over a table of depths and volumes. Between two rows of it
the volume is interpolated linearly, which is what the survey certificate prescribes (see
docs/survey-notes.md, "Between the rows"). Outside the table there is no answer: a dip above the last
row is an error, not an estimate.

What lives here: the rows, their validation, dip to volume, volume to dip. What does not: capacity
limits, water, temperature (tank.py) and where the files are (catalogue.py).
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Sequence


class TableError(ValueError):
    """A strapping table that cannot be used, or a question that it cannot answer."""


@dataclass(frozen=True)
class StrappingRow:
    """One line of a strapping table.

    dip_mm is the depth in millimetres above the datum plate, volume_l the litres below that depth.
    """

    dip_mm: int
    volume_l: float


class StrappingTable:
    """The strapping table of one tank, checked and ready to be asked.

    The rows must begin at 0 mm, and both depth and volume must grow from row to row. The volume of
    the first row need not be zero: below the datum plate there may be a dead stock that no dip sees.
    """

    def __init__(self, rows: Iterable[StrappingRow]) -> None:
        """Check the rows and keep them in order of depth.

        Raises TableError if there are fewer than two rows, if the first is not at 0 mm, or if depth
        or volume does not grow.
        """
        ordered = sorted(rows, key=lambda row: row.dip_mm)
        _check_rows(ordered)
        self._rows: tuple[StrappingRow, ...] = tuple(ordered)
        self._dips: list[int] = [row.dip_mm for row in ordered]
        self._volumes: list[float] = [row.volume_l for row in ordered]

    @classmethod
    def from_csv(cls, path: Path) -> StrappingTable:
        """Read a table from a CSV file with the columns dip_mm and volume_l.

        Lines that begin with # are remarks of the surveyor and are skipped. Raises TableError, with
        the file and the line in the message, for a number that is none.
        """
        return cls(_read_rows(path))

    @property
    def rows(self) -> tuple[StrappingRow, ...]:
        """All rows, the shallowest first."""
        return self._rows

    @property
    def highest_dip_mm(self) -> int:
        """The depth of the last row: the deepest dip that the table can answer for."""
        return self._dips[-1]

    @property
    def capacity_l(self) -> float:
        """The litres at the last row: all that the tank holds."""
        return self._volumes[-1]

    @property
    def dead_stock_l(self) -> float:
        """The litres below the datum plate, which no dip sees and no pump reaches."""
        return self._volumes[0]

    def volume_at(self, dip_mm: float) -> float:
        """The litres below a depth, interpolated linearly between the two rows around it.

        Raises TableError if the depth is negative or above the last row.
        """
        self._require_depth(dip_mm)
        index = bisect_left(self._dips, dip_mm)
        upper = self._rows[index]
        if upper.dip_mm == dip_mm:
            return upper.volume_l
        lower = self._rows[index - 1]
        fraction = (upper.dip_mm - dip_mm) / (upper.dip_mm - lower.dip_mm)
        return lower.volume_l + fraction * (upper.volume_l - lower.volume_l)

    def dip_at(self, volume_l: float) -> float:
        """The depth at which the tank holds a volume: the inverse of volume_at.

        Used to tell a driver at which mark to stop pumping. Raises TableError if the volume is below
        the dead stock or above the capacity.
        """
        self._require_volume(volume_l)
        index = bisect_left(self._volumes, volume_l)
        upper = self._rows[index]
        if upper.volume_l == volume_l:
            return float(upper.dip_mm)
        lower = self._rows[index - 1]
        fraction = (volume_l - lower.volume_l) / (upper.volume_l - lower.volume_l)
        return lower.dip_mm + fraction * (upper.dip_mm - lower.dip_mm)

    def litres_per_mm(self, dip_mm: float) -> float:
        """How many litres one millimetre is worth at a depth: the slope of the table there.

        The reading error of a dipstick is about 2 mm, so twice this number is what a single dip may
        be wrong by. At a row of the table the slope of the segment below it is given, at 0 mm that of
        the first segment. Raises TableError outside the table.
        """
        self._require_depth(dip_mm)
        index = max(1, bisect_left(self._dips, dip_mm))
        lower, upper = self._rows[index - 1], self._rows[index]
        return (upper.volume_l - lower.volume_l) / (upper.dip_mm - lower.dip_mm)

    def steepest_segment(self) -> tuple[StrappingRow, StrappingRow]:
        """The two neighbouring rows between which one millimetre is worth most.

        In a lying cylinder that is the middle; anywhere else it points to a row that was typed wrong.
        """
        pairs = list(zip(self._rows, self._rows[1:]))
        return max(pairs, key=lambda pair: _slope(*pair))

    def uneven_rows(self, tolerance: float = 0.25) -> list[StrappingRow]:
        """Rows at which the slope jumps by more than a share of the slope before it.

        A survey is smooth, so a jump is nearly always a slip of the pen: two digits exchanged, or a
        row left out. The tolerance is a share, 0.25 is a quarter. The first and the last two segments
        are let off, because a lying cylinder widens and narrows in real jumps there.
        """
        uneven: list[StrappingRow] = []
        last = len(self._rows) - 3
        for index in range(2, last):
            before = _slope(self._rows[index - 1], self._rows[index])
            after = _slope(self._rows[index], self._rows[index + 1])
            if abs(after - before) > tolerance * before:
                uneven.append(self._rows[index])
        return uneven

    def resampled(self, step_mm: int) -> StrappingTable:
        """The same tank with a row every step_mm, as it is printed on the card beside the tank.

        The last row is kept even where it does not fall on a step. Raises TableError if the step is
        not positive.
        """
        if step_mm <= 0:
            raise TableError(f"the step must be positive, not {step_mm} mm")
        depths = list(range(0, self.highest_dip_mm, step_mm)) + [self.highest_dip_mm]
        return StrappingTable(StrappingRow(depth, self.volume_at(depth)) for depth in depths)

    def to_csv(self, path: Path) -> None:
        """Write the table in the form that from_csv reads, volumes to a tenth of a litre."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["dip_mm", "volume_l"])
            for row in self._rows:
                writer.writerow([row.dip_mm, f"{row.volume_l:.1f}"])

    def describe(self) -> str:
        """One line for people: rows, depth and capacity."""
        return (
            f"{len(self._rows)} rows, 0 to {self.highest_dip_mm} mm, "
            f"{self.capacity_l:,.0f} l, of which {self.dead_stock_l:,.0f} l dead stock"
        )

    def _require_depth(self, dip_mm: float) -> None:
        if dip_mm < 0:
            raise TableError(f"a dip cannot be negative: {dip_mm} mm")
        if dip_mm > self.highest_dip_mm:
            raise TableError(
                f"a dip of {dip_mm} mm is above the table, which ends at {self.highest_dip_mm} mm"
            )

    def _require_volume(self, volume_l: float) -> None:
        if volume_l < self.dead_stock_l:
            raise TableError(
                f"{volume_l:.1f} l is less than the dead stock of {self.dead_stock_l:.1f} l"
            )
        if volume_l > self.capacity_l:
            raise TableError(
                f"{volume_l:.1f} l is more than the tank holds, which is {self.capacity_l:.1f} l"
            )


def _check_rows(rows: Sequence[StrappingRow]) -> None:
    if len(rows) < 2:
        raise TableError(f"a strapping table needs at least two rows, not {len(rows)}")
    if rows[0].dip_mm != 0:
        raise TableError(f"a strapping table begins at 0 mm, not at {rows[0].dip_mm} mm")
    for lower, upper in zip(rows, rows[1:]):
        if upper.dip_mm == lower.dip_mm:
            raise TableError(f"the depth {upper.dip_mm} mm is there twice")
        if upper.volume_l <= lower.volume_l:
            raise TableError(
                f"the volume does not grow from {lower.dip_mm} mm ({lower.volume_l} l) "
                f"to {upper.dip_mm} mm ({upper.volume_l} l)"
            )


def _read_rows(path: Path) -> list[StrappingRow]:
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    rows: list[StrappingRow] = []
    for number, record in enumerate(csv.DictReader(lines), start=2):
        try:
            rows.append(StrappingRow(int(record["dip_mm"]), float(record["volume_l"])))
        except (KeyError, TypeError, ValueError) as error:
            raise TableError(f"{path}: row {number} is not a depth and a volume: {record}") from error
    return rows


def _slope(lower: StrappingRow, upper: StrappingRow) -> float:
    return (upper.volume_l - lower.volume_l) / (upper.dip_mm - lower.dip_mm)
