"""How long a random example may take: on a busy machine longer than Hypothesis thinks, and that is no failure."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("ullage", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ullage")
