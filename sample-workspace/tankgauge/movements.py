"""Deliveries and sales, read from CSV with the columns day, tank, kind, litres and document."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Iterable

KINDS = ("delivery", "sale")


class MovementError(ValueError):
    """A line of the movements that cannot be used."""


@dataclass(frozen=True)
class Movement:
    """One delivery or sale. litres is always positive; the kind says in which direction."""

    day: date
    tank: str
    kind: str
    litres: float
    document: str = ""

    @property
    def signed_litres(self) -> float:
        """Litres that the stock grows by: negative for a sale."""
        return self.litres if self.kind == "delivery" else -self.litres


def read_movements(path: Path) -> list[Movement]:
    """All movements of a file, in order of day. Raises MovementError with the file and the line."""
    with path.open(newline="", encoding="utf-8") as file:
        movements = [
            _parse(path, number, record)
            for number, record in enumerate(csv.DictReader(file), start=2)
        ]
    return sorted(movements, key=lambda movement: (movement.day, movement.tank))


def net_litres(movements: Iterable[Movement], tank: str, day: date) -> float:
    """What the stock of a tank should have grown by on a day, in litres."""
    return sum(
        movement.signed_litres
        for movement in movements
        if movement.tank == tank and movement.day == day
    )


def _parse(path: Path, number: int, record: dict[str, str]) -> Movement:
    try:
        movement = Movement(
            day=date.fromisoformat(record["day"]),
            tank=record["tank"].strip(),
            kind=record["kind"].strip(),
            litres=float(record["litres"]),
            document=(record.get("document") or "").strip(),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MovementError(f"{path}: line {number} is not a movement: {record}") from error
    if movement.kind not in KINDS:
        raise MovementError(f"{path}: line {number}: the kind is one of {KINDS}, not {movement.kind!r}")
    if movement.litres <= 0:
        raise MovementError(f"{path}: line {number}: litres are positive, not {movement.litres}")
    return movement
