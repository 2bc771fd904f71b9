"""Book stock against measured stock."""

import unittest
from datetime import date, datetime

from tankgauge.movements import Movement, MovementError, net_litres
from tankgauge.readings import Reading
from tankgauge.reconcile import reconcile, unexplained
from tankgauge.report import balance_report, stock_report
from tankgauge.table import StrappingRow, StrappingTable
from tankgauge.tank import Tank

TABLE = StrappingTable(StrappingRow(dip, 10.0 * dip) for dip in range(0, 1001, 100))
TANK = Tank("T", "diesel", TABLE)


def reading(day, hour, dip_mm):
    return Reading(datetime(2026, 9, day, hour, 0), "T", dip_mm)


def movement(day, kind, litres):
    return Movement(date(2026, 9, day), "T", kind, litres)


class MovementTest(unittest.TestCase):
    def test_a_sale_makes_the_stock_smaller(self):
        moved = [movement(1, "delivery", 500.0), movement(1, "sale", 200.0), movement(2, "sale", 9.0)]
        self.assertEqual(net_litres(moved, "T", date(2026, 9, 1)), 300.0)

    def test_other_tanks_do_not_count(self):
        other = Movement(date(2026, 9, 1), "U", "delivery", 500.0)
        self.assertEqual(net_litres([other], "T", date(2026, 9, 1)), 0)

    def test_the_error_is_a_value_error(self):
        self.assertTrue(issubclass(MovementError, ValueError))


class ReconcileTest(unittest.TestCase):
    def test_a_day_that_agrees(self):
        (balance,) = reconcile(TANK, [reading(1, 18, 600), reading(2, 18, 500)], [movement(2, "sale", 1000.0)])
        self.assertEqual((balance.book_l, balance.measured_l, balance.difference_l), (5000.0, 5000.0, 0.0))

    def test_the_last_reading_of_a_day_closes_it(self):
        readings = [reading(1, 18, 600), reading(2, 6, 900), reading(2, 18, 500)]
        (balance,) = reconcile(TANK, readings, [movement(2, "sale", 1000.0)])
        self.assertEqual(balance.measured_l, 5000.0)

    def test_a_loss_over_the_tolerance_is_unexplained(self):
        balances = reconcile(TANK, [reading(1, 18, 600), reading(2, 18, 500)], [])
        self.assertEqual([balance.day for balance in unexplained(balances)], [date(2026, 9, 2)])

    def test_what_moved_on_a_day_without_reading_counts_with_the_next(self):
        moved = [movement(2, "sale", 400.0), movement(3, "sale", 600.0)]
        (balance,) = reconcile(TANK, [reading(1, 18, 600), reading(3, 18, 500)], moved)
        self.assertEqual(balance.moved_l, -1000.0)

    def test_what_moved_on_the_first_day_is_in_its_reading_already(self):
        moved = [movement(1, "sale", 400.0), movement(2, "sale", 1000.0)]
        (balance,) = reconcile(TANK, [reading(1, 18, 600), reading(2, 18, 500)], moved)
        self.assertTrue(balance.is_explained)


class ReportTest(unittest.TestCase):
    def test_a_stock_line_has_product_and_ullage(self):
        report = stock_report({"T": TANK}, {"T": reading(1, 18, 600)})
        self.assertIn("     6,000       0     4,000     3,700    60%", report)

    def test_a_tank_without_reading_says_so(self):
        self.assertIn("no reading", stock_report({"T": TANK}, {}))

    def test_an_unexplained_day_is_marked(self):
        balances = reconcile(TANK, [reading(1, 18, 600), reading(2, 18, 500)], [])
        self.assertIn("<-- unexplained", balance_report(balances))


if __name__ == "__main__":
    unittest.main()
