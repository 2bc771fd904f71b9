"""Book stock against measured stock, day by day.

The book says: yesterday's measured stock, plus deliveries, less sales. The dipstick says what is
there. The difference is a gain or a loss; over the tolerance it has to be explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Iterable, Sequence

from tankgauge.movements import Movement, net_litres
from tankgauge.readings import Reading
from tankgauge.tank import Tank

TOLERANCE_SHARE = 0.005
"""A day may be off by half a percent of what moved, on top of the error of the dip itself."""


@dataclass(frozen=True)
class DayBalance:
    """One day of one tank, all in litres."""

    day: date
    opening_l: float
    moved_l: float
    measured_l: float
    tolerance_l: float

    @property
    def book_l(self) -> float:
        """The stock that the documents lead to."""
        return self.opening_l + self.moved_l

    @property
    def difference_l(self) -> float:
        """Measured less book: a gain is positive, a loss negative."""
        return self.measured_l - self.book_l

    @property
    def is_explained(self) -> bool:
        """Whether the difference is within the tolerance."""
        return abs(self.difference_l) <= self.tolerance_l


def reconcile(
    tank: Tank, readings: Sequence[Reading], movements: Iterable[Movement]
) -> list[DayBalance]:
    """A balance for each day that has a closing reading and one on an earlier day.

    The closing reading of a day is its last one. Days without any reading are skipped, and what
    moved on them is counted with the next day that has one.
    """
    moved = list(movements)
    closing = _closing_readings(readings)
    days = sorted(closing)
    balances: list[DayBalance] = []
    for before, day in zip(days, days[1:]):
        between = [each for each in moved if before < each.day <= day]
        net = sum(net_litres(between, tank.name, each) for each in {m.day for m in between})
        turnover = sum(each.litres for each in between if each.tank == tank.name)
        balances.append(
            DayBalance(
                day=day,
                opening_l=tank.product_l(closing[before]),
                moved_l=net,
                measured_l=tank.product_l(closing[day]),
                tolerance_l=TOLERANCE_SHARE * turnover + 2 * tank.reading_error_l(closing[day]),
            )
        )
    return balances


def unexplained(balances: Iterable[DayBalance]) -> list[DayBalance]:
    """The days that somebody has to look into."""
    return [balance for balance in balances if not balance.is_explained]


def _closing_readings(readings: Sequence[Reading]) -> dict[date, Reading]:
    closing: dict[date, Reading] = {}
    for reading in sorted(readings, key=lambda each: each.taken_at):
        closing[reading.taken_at.date()] = reading
    return closing
