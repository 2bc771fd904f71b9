"""python3 -m tankgauge [TANK]: the stock of all tanks, or the reconciliation of one."""

from __future__ import annotations

import sys

from tankgauge.catalogue import DATA, load_tanks
from tankgauge.movements import read_movements
from tankgauge.readings import latest, of_tank, read_readings
from tankgauge.reconcile import reconcile
from tankgauge.report import balance_report, stock_report


def main(arguments: list[str]) -> int:
    """Print the report that was asked for. Gives the exit code."""
    tanks = load_tanks()
    readings = read_readings(DATA / "readings.csv")
    if not arguments:
        print(stock_report(tanks, latest(readings)))
        return 0
    name = arguments[0].upper()
    if name not in tanks:
        print(f"there is no tank {name}; there are {', '.join(sorted(tanks))}", file=sys.stderr)
        return 2
    movements = read_movements(DATA / "movements.csv")
    print(balance_report(reconcile(tanks[name], of_tank(readings, name), movements)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
