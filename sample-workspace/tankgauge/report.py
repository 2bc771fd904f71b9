"""The text that the command prints: fixed columns, one line a tank or a day."""

from __future__ import annotations

from typing import Iterable, Mapping

from tankgauge.readings import Reading
from tankgauge.reconcile import DayBalance
from tankgauge.tank import Alarm, Tank


def stock_report(tanks: Mapping[str, Tank], newest: Mapping[str, Reading]) -> str:
    """A line for each tank: product, water, ullage, safe room, how full it is, and its alarm."""
    lines = [f"{'tank':<8}{'product':<10}{'litres':>10}{'water':>8}{'ullage':>10}{'room':>10}{'full':>7}  alarm"]
    for name, tank in sorted(tanks.items()):
        reading = newest.get(name)
        if reading is None:
            lines.append(f"{name:<8}{tank.product:<10}{'no reading':>10}")
            continue
        lines.append(_stock_line(tank, reading))
    return "\n".join(lines)


def balance_report(balances: Iterable[DayBalance]) -> str:
    """A line for each day: opening, moved, book, measured, difference, and a mark where unexplained."""
    lines = [f"{'day':<12}{'opening':>10}{'moved':>10}{'book':>10}{'measured':>10}{'difference':>12}"]
    for balance in balances:
        mark = "" if balance.is_explained else "  <-- unexplained"
        lines.append(
            f"{balance.day.isoformat():<12}{balance.opening_l:>10,.0f}{balance.moved_l:>10,.0f}"
            f"{balance.book_l:>10,.0f}{balance.measured_l:>10,.0f}{balance.difference_l:>12,.0f}{mark}"
        )
    return "\n".join(lines)


def _stock_line(tank: Tank, reading: Reading) -> str:
    alarm = tank.alarm(reading)
    shown = "" if alarm is Alarm.NONE else alarm.value
    return (
        f"{tank.name:<8}{tank.product:<10}{tank.product_l(reading):>10,.0f}{tank.water_l(reading):>8,.0f}"
        f"{tank.ullage_l(reading):>10,.0f}{tank.safe_room_l(reading):>10,.0f}"
        f"{tank.fill_share(reading):>7.0%}  {shown}"
    ).rstrip()
