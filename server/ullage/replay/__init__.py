"""Recorded sessions as data.

They are read where they lie (`readers/`), priced as the prompt cache would have it (`pricing/`), carried through other policies
(`simulating/`), asked what was needed later (`measuring/`), and reported (`reporting/`).
"""
