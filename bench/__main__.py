"""`python -m bench [MESSAGES …]`: latency of the server. `python -m bench peers`: the pipeline beside peers. `python -m bench policies`."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from bench import latency
from bench.peers.report import section
from bench.peers.run import LONGEST, SIZES, run
from bench.results import FILE, write_section


def peers() -> None:
    """Measures all of them, and writes the section of RESULTS.md."""
    write_section("peers", section(run(SIZES, LONGEST), datetime.now(UTC).date().isoformat()))
    sys.stdout.write(f"{FILE.name} is written\n")


def main(words: list[str]) -> int:
    """Gives the exit code."""
    if words == ["peers"]:
        peers()
        return 0
    asyncio.run(latency.main([int(each) for each in words] or [100, 1_000, 10_000]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
