"""Measurements: what is measured is a figure to look at, never an assertion of a test."""
