"""Where the data lies, and the tanks that it describes."""

from __future__ import annotations

import json
from pathlib import Path

from tankgauge.table import StrappingTable
from tankgauge.tank import Tank

DATA = Path(__file__).resolve().parent.parent / "data"


def load_tanks(data: Path = DATA) -> dict[str, Tank]:
    """All tanks of data/tanks.json by name, each with its strapping table."""
    described = json.loads((data / "tanks.json").read_text(encoding="utf-8"))
    return {each["name"]: _tank(data, each) for each in described}


def _tank(data: Path, described: dict[str, object]) -> Tank:
    name = str(described["name"])
    table = StrappingTable.from_csv(data / "strapping" / f"{name.lower()}.csv")
    return Tank(
        name=name,
        product=str(described["product"]),
        table=table,
        safe_fill=float(str(described["safe_fill"])),
        low_stock_l=float(str(described["low_stock_l"])),
        water_limit_mm=int(str(described["water_limit_mm"])),
        expansion_per_c=float(str(described["expansion_per_c"])),
    )
