"""Readings from CSV, and the newest of each tank."""

import tempfile
import unittest
from datetime import datetime
from pathlib import Path

from tankgauge.readings import Reading, ReadingError, latest, of_tank, read_readings

HEADER = "taken_at,tank,dip_mm,water_mm,temperature_c,remark\n"


class ReadTest(unittest.TestCase):
    def read(self, *lines):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "readings.csv"
            path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
            return read_readings(path)

    def test_a_whole_line(self):
        (reading,) = self.read("2026-09-01T06:00,NORTH,812,4,16.5,before delivery")
        expected = Reading(datetime(2026, 9, 1, 6, 0), "NORTH", 812, 4, 16.5, "before delivery")
        self.assertEqual(reading, expected)

    def test_water_and_temperature_may_be_left_out(self):
        (reading,) = self.read("2026-09-01T06:00,NORTH,812,,,")
        self.assertEqual((reading.water_mm, reading.temperature_c), (0, 15.0))

    def test_readings_come_in_order_of_time(self):
        readings = self.read("2026-09-02T06:00,NORTH,1,,,", "2026-09-01T06:00,NORTH,2,,,")
        self.assertEqual([reading.dip_mm for reading in readings], [2, 1])

    def test_a_line_that_makes_no_sense_is_named(self):
        with self.assertRaisesRegex(ReadingError, "line 3 is not a reading"):
            self.read("2026-09-01T06:00,NORTH,812,4,16.5,", "yesterday,NORTH,812,4,16.5,")

    def test_more_water_than_everything_is_refused(self):
        with self.assertRaisesRegex(ReadingError, "line 2 has more water"):
            self.read("2026-09-01T06:00,NORTH,10,20,16.5,")


class PickTest(unittest.TestCase):
    READINGS = [
        Reading(datetime(2026, 9, 1, 6, 0), "NORTH", 800),
        Reading(datetime(2026, 9, 1, 6, 5), "SOUTH", 500),
        Reading(datetime(2026, 9, 1, 18, 0), "NORTH", 700),
    ]

    def test_the_newest_of_each_tank(self):
        newest = latest(self.READINGS)
        self.assertEqual({name: each.dip_mm for name, each in newest.items()}, {"NORTH": 700, "SOUTH": 500})

    def test_those_of_one_tank(self):
        self.assertEqual([each.dip_mm for each in of_tank(self.READINGS, "NORTH")], [800, 700])


if __name__ == "__main__":
    unittest.main()
