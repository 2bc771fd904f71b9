"""What holds for all tests: whose home it is, where sessions are kept, how many random examples a property is tried on, and how long one
may take (on a busy machine longer than Hypothesis thinks, and that is no failure)."""

from __future__ import annotations

import atexit
import gc
import itertools
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.deep import DEEP, many

# No test reads the home of whoever runs it: their own rules and skills would be in its requests.
_HOME = tempfile.mkdtemp(prefix="ullage-home-")
os.environ["HOME"] = os.environ["USERPROFILE"] = _HOME
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)

# No test writes into the home of whoever runs it, the processes that tests start included.
_STORE = tempfile.mkdtemp(prefix="ullage-store-")
os.environ["ULLAGE_STORE_LOCATION"] = _STORE
atexit.register(shutil.rmtree, _STORE, ignore_errors=True)

# `npm test` is the same for everyone: a property is tried on the same examples each time, so that a change is refused for what it does,
# not for its luck. `npm run test:deep` looks for new ones.
settings.register_profile(
    "ullage",
    max_examples=many(15, deep=500),
    derandomize=not DEEP,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ullage")

# Ten thousand tests and what they import stay to the end. Python would look through all of it again and again for what is left over.
gc.disable()


def pytest_collection_finish() -> None:
    """What is there by now is no longer looked through; what tests leave is found as ever."""
    gc.freeze()
    gc.set_threshold(60_000)  # objects; so few as Python does by itself (700) are made and let go of with every request
    gc.enable()


_numbers = itertools.count(1)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a test, and around it another one, for what a test puts beside it. Where there is a number still free for it, pytest's
    own looks for among the folders of all the tests before it, which are thousands."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / str(next(_numbers)) / name
    folder.mkdir(parents=True)
    return folder
