"""Strapping tables: interpolation, its inverse, validation, and reading from CSV."""

import tempfile
import unittest
from pathlib import Path

from tankgauge.table import StrappingRow, StrappingTable, TableError


def table(*rows):
    return StrappingTable(StrappingRow(dip, volume) for dip, volume in rows)


SIMPLE = table((0, 0.0), (100, 1000.0), (200, 3000.0), (300, 4000.0))


class VolumeAtTest(unittest.TestCase):
    """Dip to volume."""

    def test_at_a_row_the_volume_is_that_of_the_row(self):
        self.assertEqual(SIMPLE.volume_at(200), 3000.0)

    def test_at_the_bottom_the_volume_is_the_dead_stock(self):
        self.assertEqual(table((0, 80.0), (10, 100.0)).volume_at(0), 80.0)

    def test_at_the_top_the_volume_is_the_capacity(self):
        self.assertEqual(SIMPLE.volume_at(300), SIMPLE.capacity_l)

    def test_halfway_between_two_rows_is_the_mean_of_them(self):
        self.assertAlmostEqual(SIMPLE.volume_at(150), 2000.0)

    def test_a_quarter_of_the_way_up_adds_a_quarter_of_the_difference(self):
        self.assertAlmostEqual(SIMPLE.volume_at(125), 1500.0)

    def test_a_negative_dip_is_refused(self):
        with self.assertRaisesRegex(TableError, "cannot be negative"):
            SIMPLE.volume_at(-1)

    def test_a_dip_above_the_table_is_refused(self):
        with self.assertRaisesRegex(TableError, "above the table, which ends at 300 mm"):
            SIMPLE.volume_at(301)


class DipAtTest(unittest.TestCase):
    """Volume to dip."""

    def test_at_a_row_the_dip_is_that_of_the_row(self):
        self.assertEqual(SIMPLE.dip_at(3000.0), 200)

    def test_between_two_rows_the_dip_is_interpolated(self):
        self.assertAlmostEqual(SIMPLE.dip_at(1500.0), 125.0)

    def test_it_undoes_volume_at_for_every_row(self):
        for row in SIMPLE.rows:
            with self.subTest(dip_mm=row.dip_mm):
                self.assertAlmostEqual(SIMPLE.dip_at(SIMPLE.volume_at(row.dip_mm)), row.dip_mm)

    def test_less_than_the_dead_stock_is_refused(self):
        with self.assertRaisesRegex(TableError, "less than the dead stock"):
            table((0, 80.0), (10, 100.0)).dip_at(79.0)

    def test_more_than_the_capacity_is_refused(self):
        with self.assertRaisesRegex(TableError, "more than the tank holds"):
            SIMPLE.dip_at(4000.5)


class SlopeTest(unittest.TestCase):
    """What a millimetre is worth."""

    def test_within_a_segment(self):
        self.assertAlmostEqual(SIMPLE.litres_per_mm(150), 20.0)

    def test_at_a_row_the_segment_below_counts(self):
        self.assertAlmostEqual(SIMPLE.litres_per_mm(200), 20.0)

    def test_at_the_bottom_the_first_segment_counts(self):
        self.assertAlmostEqual(SIMPLE.litres_per_mm(0), 10.0)

    def test_the_steepest_segment_is_found(self):
        lower, upper = SIMPLE.steepest_segment()
        self.assertEqual((lower.dip_mm, upper.dip_mm), (100, 200))

    def test_an_exchanged_digit_shows_as_an_uneven_row(self):
        rows = [(dip, 10.0 * dip) for dip in range(0, 1000, 100)]
        rows[5] = (500, 5900.0)
        self.assertIn(500, [row.dip_mm for row in table(*rows).uneven_rows()])

    def test_a_smooth_table_has_no_uneven_row(self):
        rows = [(dip, 10.0 * dip) for dip in range(0, 1000, 100)]
        self.assertEqual(table(*rows).uneven_rows(), [])


class ValidationTest(unittest.TestCase):
    """Tables that cannot be used."""

    def test_one_row_is_not_a_table(self):
        with self.assertRaisesRegex(TableError, "at least two rows, not 1"):
            table((0, 0.0))

    def test_a_table_begins_at_zero(self):
        with self.assertRaisesRegex(TableError, "begins at 0 mm, not at 10 mm"):
            table((10, 0.0), (20, 5.0))

    def test_a_depth_is_there_once(self):
        with self.assertRaisesRegex(TableError, "10 mm is there twice"):
            table((0, 0.0), (10, 5.0), (10, 6.0))

    def test_the_volume_grows(self):
        with self.assertRaisesRegex(TableError, "does not grow from 10 mm"):
            table((0, 0.0), (10, 5.0), (20, 5.0))

    def test_rows_may_come_in_any_order(self):
        self.assertEqual(table((20, 9.0), (0, 0.0), (10, 5.0)).highest_dip_mm, 20)


class CsvTest(unittest.TestCase):
    """Reading and writing."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "table.csv"

    def test_remarks_and_empty_lines_are_skipped(self):
        self.path.write_text("# surveyed 2019\ndip_mm,volume_l\n0,0\n\n10,55.5\n", encoding="utf-8")
        self.assertEqual(StrappingTable.from_csv(self.path).capacity_l, 55.5)

    def test_a_number_that_is_none_is_named_with_its_row(self):
        self.path.write_text("dip_mm,volume_l\n0,0\n10,many\n", encoding="utf-8")
        with self.assertRaisesRegex(TableError, "row 3 is not a depth and a volume"):
            StrappingTable.from_csv(self.path)

    def test_what_is_written_is_read_again(self):
        SIMPLE.to_csv(self.path)
        self.assertEqual(StrappingTable.from_csv(self.path).rows, SIMPLE.rows)

    def test_resampling_keeps_the_last_row(self):
        self.assertEqual([row.dip_mm for row in SIMPLE.resampled(200).rows], [0, 200, 300])

    def test_resampling_needs_a_positive_step(self):
        with self.assertRaisesRegex(TableError, "must be positive, not 0 mm"):
            SIMPLE.resampled(0)


if __name__ == "__main__":
    unittest.main()
