"""Dip readings of storage tanks, turned into litres and into the room that is left."""

__version__ = "1.8.0"
