"""How long a test waits for what has to come. It is no measure of speed: on a machine that does ten things at once all takes ten times as
long, and a test that gives up early then fails for nothing. It only ends a hang, with a trace of where it waited."""

from __future__ import annotations

PATIENCE = 120.0
"""Seconds after which something that does not come counts as never coming."""
