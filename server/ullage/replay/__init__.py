"""Recorded sessions as data.

They are read where they lie (`readers/`), priced as the prompt cache would have it (`cost.py`, `cache.py`), carried through other
policies (`simulating/`), asked what was needed later (`retention.py`, `retaining.py`), and reported (`figures.py`, `report_*.py`).
"""
