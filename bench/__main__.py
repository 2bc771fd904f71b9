"""What is measured: the server's latency, what a session costs as it grows, the pipeline beside peers, what policies cost and keep.

python -m bench [MESSAGES …]
python -m bench growth [MESSAGES …]
python -m bench memory [TURNS]
python -m bench stalls [SCENARIO …]
python -m bench peers
python -m bench policies [POLICY …]
python -m bench scans [FILES]
python -m bench start
python -m bench team
python -m bench cluster [SESSIONS]
python -m bench scale [measure]
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from bench import cluster, growth, latency, memory, policies, scale, scans, stalls, start
from bench.peers.report import section
from bench.peers.run import LONGEST, SIZES, run
from bench.results import FILE, write_section


def main(words: list[str]) -> int:
    """Gives the exit code."""
    today = datetime.now(UTC).date().isoformat()
    try:
        match words:
            case ["peers"]:
                write_section("peers", section(run(SIZES, LONGEST), today))
            case ["policies", *names]:
                write_section("policies", policies.section(today, names))
            case ["scans", *number] if all(each.isdecimal() for each in number):
                write_section("scans", scans.section(today, int(number[0]) if number else scans.FILES))
            case ["start"]:
                write_section("start", start.section(today))
            case ["team"]:
                from bench import team  # needs a PostgreSQL

                write_section("team", team.section(today))
            case ["cluster", *number] if all(each.isdecimal() for each in number):
                write_section("cluster", cluster.section(today, int(number[0]) if number else cluster.SESSIONS))
            case ["scale"] | ["scale", "measure"]:
                scale.main(words[1:])
                return 0
            case ["growth", *sizes] if all(each.isdecimal() for each in sizes):
                asyncio.run(growth.main([int(each) for each in sizes] or growth.SIZES))
                return 0
            case ["memory", *turns] if all(each.isdecimal() for each in turns):
                asyncio.run(memory.main(int(turns[0]) if turns else memory.TURNS))
                return 0
            case ["stalls", *names] if all(each in stalls.SCENARIOS for each in names):
                asyncio.run(stalls.main(names, today))
                return 0
            case _ if all(each.isdecimal() for each in words):
                asyncio.run(latency.main([int(each) for each in words] or [100, 1_000, 10_000]))
                return 0
            case _:
                sys.stderr.write(f"There is nothing to measure of that name.\n\n{__doc__}")
                return 2
    except policies.NoReport as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{FILE.name} is written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
