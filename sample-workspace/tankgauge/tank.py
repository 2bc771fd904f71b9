"""One tank: its strapping table, its limits, and what a reading means for it.

What lives here: product, water, ullage, safe room and the alarms. What does not: interpolation
(table.py), reading files (readings.py, catalogue.py), comparing days (reconcile.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tankgauge.readings import Reading
from tankgauge.table import StrappingTable, TableError

REFERENCE_TEMPERATURE_C = 15.0
"""Volumes are traded as if the product had this temperature."""


class Alarm(Enum):
    """What somebody should be told about a tank."""

    NONE = "none"
    LOW = "low stock"
    HIGH = "over the safe fill"
    WATER = "too much water"


@dataclass(frozen=True)
class Tank:
    """A tank and its limits.

    safe_fill is the share of the capacity that may be filled (0.97 leaves 3 % for expansion),
    low_stock_l the product in litres below which it is time to order, water_limit_mm the depth of
    free water that calls for draining, expansion_per_c the share by which the product grows with
    each degree.
    """

    name: str
    product: str
    table: StrappingTable
    safe_fill: float = 0.97
    low_stock_l: float = 0.0
    water_limit_mm: int = 30
    expansion_per_c: float = 0.00083

    def __post_init__(self) -> None:
        if not 0 < self.safe_fill <= 1:
            raise TableError(f"{self.name}: the safe fill is a share of 1, not {self.safe_fill}")

    @property
    def capacity_l(self) -> float:
        """All that the tank holds, in litres."""
        return self.table.capacity_l

    @property
    def safe_capacity_l(self) -> float:
        """What may be in the tank, in litres."""
        return self.capacity_l * self.safe_fill

    def total_l(self, reading: Reading) -> float:
        """Everything below the surface, product and water, in litres."""
        return self.table.volume_at(reading.dip_mm)

    def water_l(self, reading: Reading) -> float:
        """The free water at the bottom, in litres. No water means none, not the dead stock."""
        if reading.water_mm == 0:
            return 0.0
        return self.table.volume_at(reading.water_mm)

    def product_l(self, reading: Reading) -> float:
        """The product as it lies in the tank, in litres at its own temperature."""
        return self.total_l(reading) - self.water_l(reading)

    def standard_product_l(self, reading: Reading) -> float:
        """The product as it is traded: in litres at 15 degrees."""
        difference = reading.temperature_c - REFERENCE_TEMPERATURE_C
        return self.product_l(reading) / (1 + self.expansion_per_c * difference)

    def ullage_l(self, reading: Reading) -> float:
        """The empty space above the surface, in litres, up to the brim."""
        return self.capacity_l - self.total_l(reading)

    def safe_room_l(self, reading: Reading) -> float:
        """What may still be pumped in, in litres. Zero, never less, once over the safe fill."""
        return max(0.0, self.safe_capacity_l - self.total_l(reading))

    def fill_share(self, reading: Reading) -> float:
        """How full the tank is, from 0 to 1 of its capacity."""
        return self.total_l(reading) / self.capacity_l

    def stop_mark_mm(self, reading: Reading, delivery_l: float) -> int:
        """The dip at which a driver has to stop for a delivery, rounded down to a millimetre.

        Raises TableError if the delivery does not fit into the safe room.
        """
        room = self.safe_room_l(reading)
        if delivery_l > room:
            raise TableError(
                f"{self.name}: {delivery_l:,.0f} l do not fit, there is safe room for {room:,.0f} l"
            )
        return int(self.table.dip_at(self.total_l(reading) + delivery_l))

    def reading_error_l(self, reading: Reading, error_mm: float = 2.0) -> float:
        """What a dip may be wrong by, in litres, when the stick is read to error_mm."""
        return error_mm * self.table.litres_per_mm(reading.dip_mm)

    def alarm(self, reading: Reading) -> Alarm:
        """The most pressing alarm: too full, then too much water, then low stock."""
        if self.total_l(reading) > self.safe_capacity_l:
            return Alarm.HIGH
        if reading.water_mm > self.water_limit_mm:
            return Alarm.WATER
        if self.product_l(reading) < self.low_stock_l:
            return Alarm.LOW
        return Alarm.NONE
