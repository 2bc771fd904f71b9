"""Ullage: a coding agent whose context never overflows. Holds the version and nothing else."""

__version__ = "0.1.0"
