"""What holds for all tests: where sessions are kept, and how long a random example may take (on a busy machine longer than Hypothesis
thinks, and that is no failure)."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from hypothesis import HealthCheck, settings

# No test writes into the home of whoever runs it, the processes that tests start included.
_STORE = tempfile.mkdtemp(prefix="ullage-store-")
os.environ["ULLAGE_STORE_LOCATION"] = _STORE
atexit.register(shutil.rmtree, _STORE, ignore_errors=True)

settings.register_profile("ullage", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ullage")
