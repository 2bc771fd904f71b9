"""Faults of an endpoint as data, byte for byte, and the endpoint that commits them."""

from __future__ import annotations

from tests.endpoint_faults.endpoint import FaultyEndpoint, Raw
from tests.endpoint_faults.fault import WELL, Fault

__all__ = ["WELL", "Fault", "FaultyEndpoint", "Raw"]
