"""Dip readings, as the yard writes them down, read from CSV.

The file has the columns taken_at, tank, dip_mm, water_mm, temperature_c and remark.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Iterable


class ReadingError(ValueError):
    """A line of the readings that cannot be used."""


@dataclass(frozen=True)
class Reading:
    """One dip: when, which tank, depth and free water in millimetres, temperature in degrees Celsius."""

    taken_at: datetime
    tank: str
    dip_mm: int
    water_mm: int = 0
    temperature_c: float = 15.0
    remark: str = ""


def read_readings(path: Path) -> list[Reading]:
    """All readings of a file, in order of time.

    Raises ReadingError, with the file and the line in the message, for a line that makes no sense.
    """
    with path.open(newline="", encoding="utf-8") as file:
        readings = [
            _parse(path, number, record)
            for number, record in enumerate(csv.DictReader(file), start=2)
        ]
    return sorted(readings, key=lambda reading: (reading.taken_at, reading.tank))


def of_tank(readings: Iterable[Reading], tank: str) -> list[Reading]:
    """The readings of one tank, in the order in which they come."""
    return [reading for reading in readings if reading.tank == tank]


def latest(readings: Iterable[Reading]) -> dict[str, Reading]:
    """The newest reading of each tank."""
    newest: dict[str, Reading] = {}
    for reading in readings:
        known = newest.get(reading.tank)
        if known is None or reading.taken_at >= known.taken_at:
            newest[reading.tank] = reading
    return newest


def _parse(path: Path, number: int, record: dict[str, str]) -> Reading:
    try:
        reading = Reading(
            taken_at=datetime.fromisoformat(record["taken_at"]),
            tank=record["tank"].strip(),
            dip_mm=int(record["dip_mm"]),
            water_mm=int(record["water_mm"] or 0),
            temperature_c=float(record["temperature_c"] or 15.0),
            remark=(record.get("remark") or "").strip(),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ReadingError(f"{path}: line {number} is not a reading: {record}") from error
    if reading.water_mm > reading.dip_mm:
        raise ReadingError(f"{path}: line {number} has more water than product and water together")
    return reading
