"""What a start takes: of the extension until it is activated, and of the server until it answers and until a session is open.

    npm run bench -- start

The extension is loaded and activated by Node with an editor that does nothing (`bench/activation.cjs`): what it costs by itself. The server
is spoken with by a bare client. Beside them, in the same run, stand Node and Python that do nothing, and the first start of the server,
whose Python has compiled nothing yet.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.bare_client import start_server
from bench.latency import environment, server_command
from bench.results import machine, table

ROUNDS = 9
ROOT = Path(__file__).parent.parent
EXTENSION = ROOT / "client-extension" / "dist" / "extension.js"


@dataclass(frozen=True, slots=True)
class ServerStart:
    """Seconds from the start of the process."""

    answered: float
    opened: float


def section(today: str) -> str:
    """The section of RESULTS.md, measured."""
    load = os.getloadavg()[0]
    python: list[float] = []
    node: list[float] = []
    activation: list[Mapping[str, float]] = []
    later: list[ServerStart] = []
    with tempfile.TemporaryDirectory() as temporary:
        cache = {**environment(), "PYTHONPYCACHEPREFIX": temporary}
        cache.pop("PYTHONDONTWRITEBYTECODE", None)
        first = asyncio.run(_server_start(cache))
        # One after the other in each round, so that what else the machine does falls on all of them.
        for _ in range(ROUNDS):
            python.append(_seconds([sys.executable, "-c", "pass"], cache))
            node.append(_seconds(["node", "-e", ""], cache))
            activation.append(_activation())
            later.append(asyncio.run(_server_start(cache)))
    empty_python, empty_node = median(python), median(node)

    def row(what: str, seconds: Sequence[float], empty: float) -> list[str]:
        middle = median(seconds)
        return [what, f"{middle * 1000:.0f} ({min(seconds) * 1000:.0f} to {max(seconds) * 1000:.0f})", f"{middle / empty:.1f}"]

    rows = [
        row("Node that does nothing", node, empty_node),
        row("extension: loaded", [each["loaded"] for each in activation], empty_node),
        row("extension: activated", [each["activated"] for each in activation], empty_node),
        row("Python that does nothing", python, empty_python),
        row("server: `initialize` answered", [each.answered for each in later], empty_python),
        row("server: a session is open", [each.opened for each in later], empty_python),
        row("server: a session is open, at the first start of all", [first.opened], empty_python),
    ]
    return "\n".join(
        (
            f"## Starting, {today}",
            "",
            f"{machine()}, Python {sys.version.split()[0]}; load average {load:.1f} before and {os.getloadavg()[0]:.1f} after.",
            f"Medians of {ROUNDS} rounds. The factor is that over the program that does nothing.",
            "",
            table(("", "ms (least to most)", "factor"), rows),
        )
    )


def _seconds(command: Sequence[str], variables: Mapping[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, env=variables)
    return time.perf_counter() - began


def _activation() -> Mapping[str, float]:
    """Seconds until the extension is loaded, and from then until it is activated."""
    script = ROOT / "bench" / "activation.cjs"
    done = subprocess.run(["node", script, EXTENSION], check=True, capture_output=True, text=True)
    told: Mapping[str, float] = json.loads(done.stdout)
    return told


async def _server_start(variables: Mapping[str, str]) -> ServerStart:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "workspace"
        folder.mkdir()
        began = time.perf_counter()
        client = await start_server(server_command(), variables, lambda read, message: None)
        await client.initialize(folder, folder.parent / "state", {"model": {"provider": "anthropic"}})
        answered = time.perf_counter() - began
        await client.ask("ullage/session/open", {})
        opened = time.perf_counter() - began
        await client.close()
        return ServerStart(answered, opened)
