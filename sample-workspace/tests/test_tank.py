"""Product, water, ullage, safe room and alarms of one tank."""

import unittest
from datetime import datetime

from tankgauge.readings import Reading
from tankgauge.table import StrappingRow, StrappingTable, TableError
from tankgauge.tank import Alarm, Tank

TABLE = StrappingTable(StrappingRow(dip, 10.0 * dip) for dip in range(0, 1001, 100))


def tank(**changes):
    return Tank(**{"name": "T", "product": "diesel", "table": TABLE, "low_stock_l": 1500.0, **changes})


def reading(dip_mm, water_mm=0, temperature_c=15.0):
    return Reading(datetime(2026, 9, 1, 6, 0), "T", dip_mm, water_mm, temperature_c)


class VolumesTest(unittest.TestCase):
    def test_product_is_what_is_above_the_water(self):
        self.assertEqual(tank().product_l(reading(600, water_mm=100)), 5000.0)

    def test_no_water_means_none(self):
        self.assertEqual(tank().water_l(reading(600)), 0.0)

    def test_ullage_is_the_empty_space_up_to_the_brim(self):
        self.assertEqual(tank().ullage_l(reading(600)), 4000.0)

    def test_a_full_tank_has_no_ullage(self):
        self.assertEqual(tank().ullage_l(reading(1000)), 0.0)

    def test_water_takes_room_like_product(self):
        self.assertEqual(tank().ullage_l(reading(600, water_mm=100)), 4000.0)

    def test_the_safe_room_ends_at_the_safe_fill(self):
        self.assertAlmostEqual(tank(safe_fill=0.9).safe_room_l(reading(600)), 3000.0)

    def test_over_the_safe_fill_there_is_no_room(self):
        self.assertEqual(tank(safe_fill=0.9).safe_room_l(reading(1000)), 0.0)

    def test_how_full_is_a_share_of_the_capacity(self):
        self.assertAlmostEqual(tank().fill_share(reading(300)), 0.3)


class TemperatureTest(unittest.TestCase):
    def test_at_fifteen_degrees_nothing_changes(self):
        self.assertEqual(tank().standard_product_l(reading(500)), 5000.0)

    def test_warm_product_is_traded_as_less(self):
        self.assertLess(tank().standard_product_l(reading(500, temperature_c=25.0)), 5000.0)

    def test_cold_product_is_traded_as_more(self):
        self.assertGreater(tank().standard_product_l(reading(500, temperature_c=5.0)), 5000.0)


class DeliveryTest(unittest.TestCase):
    def test_the_stop_mark_is_where_the_delivery_ends(self):
        self.assertEqual(tank().stop_mark_mm(reading(200), 2500.0), 450)

    def test_a_delivery_that_does_not_fit_is_refused_with_the_room_there_is(self):
        with self.assertRaisesRegex(TableError, "safe room for 1,700 l"):
            tank().stop_mark_mm(reading(800), 2000.0)


class AlarmTest(unittest.TestCase):
    CASES = [
        ("nothing", reading(500), Alarm.NONE),
        ("low", reading(100), Alarm.LOW),
        ("water", reading(500, water_mm=100), Alarm.WATER),
        ("too full", reading(1000), Alarm.HIGH),
        ("too full comes before water", reading(1000, water_mm=100), Alarm.HIGH),
    ]

    def test_the_most_pressing_alarm_is_given(self):
        for name, taken, expected in self.CASES:
            with self.subTest(name):
                self.assertIs(tank().alarm(taken), expected)

    def test_a_safe_fill_over_the_brim_is_refused(self):
        with self.assertRaisesRegex(TableError, "share of 1, not 1.2"):
            tank(safe_fill=1.2)


if __name__ == "__main__":
    unittest.main()
