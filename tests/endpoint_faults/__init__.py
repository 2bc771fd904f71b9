"""Faults of an endpoint as data, byte for byte, and the endpoint that commits them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tests.endpoint_faults.endpoint import FaultyEndpoint, Raw
from tests.endpoint_faults.fault import WELL, Fault
from tests.endpoint_faults.of_connection import of_connection
from tests.endpoint_faults.of_content import of_content
from tests.endpoint_faults.of_status import of_status

__all__ = ["WELL", "Fault", "FaultyEndpoint", "Raw", "every_fault"]


@cache
def every_fault() -> Sequence[Fault]:
    """All of them. Made when somebody asks, since it takes seconds."""
    return (*of_status(), *of_connection(), *of_content())
