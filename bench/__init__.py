"""Measurements: what is measured is a figure to look at, never an assertion of a test.

`latency.py` measures the server over its wire, `peers/` the pipeline beside others, `sessions.py` makes up what they work on.
"""
