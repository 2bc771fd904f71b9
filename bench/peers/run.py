"""All peers and Ullage in one run, on the same histories, size by size, each figure in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.environments import ROOT, NotSetUp, environment_python, find_python
from bench.peers.measuring import TURNS, Figures, Timed
from bench.sessions import generated

SIZES = (100, 1_000, 11_000)
"""Messages."""
LONGEST = 100_000
"""Messages; Ullage alone."""
PATIENCE = 600.0
"""Seconds for one process."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way of keeping a context."""

    title: str
    peer: str
    """The name of its environment, and of its package."""
    adapter: str
    variant: str
    turn: str
    """What is timed at each turn, in words for the table."""
    compaction: str
    """What is timed in a compaction."""


OWN = Row(
    "Ullage",
    "",
    "ullage",
    "pipeline",
    "append the new entries to the projection, count, compare with the line, build the request",
    "plan, write the record by program from the whole log with the fixed text as the model's part, fold and count the new view",
)
ROWS = (
    OWN,
    Row(
        "LangChain, summarization",
        "langchain",
        "langchain",
        "summarization",
        "`SummarizationMiddleware.before_model`",
        "the same; keeps 20 messages, shows the newest 4,000 tokens of the others to the model (its default)",
    ),
    Row(
        "LangChain, context editing",
        "langchain",
        "langchain",
        "context editing",
        "`ContextEditingMiddleware.wrap_model_call`: it copies all messages",
        "the same; clears results, no summary; done again at every turn (left: the messages that it did not clear)",
    ),
    Row(
        "deepagents",
        "deepagents",
        "deepagents",
        "summarization",
        "`wrap_model_call` of the middleware that `create_summarization_middleware` makes",
        "the same; sets the history aside (in memory here)",
    ),
    Row(
        "OpenHands, events",
        "openhands-sdk",
        "openhands",
        "events",
        "`View.append_event`, `prepare_llm_messages` with `LLMSummarizingCondenser`, window unknown",
        "the condensation, and the messages of the view after it",
    ),
    Row(
        "OpenHands, tokens",
        "openhands-sdk",
        "openhands",
        "tokens",
        "the same with a known window: it counts all tokens",
        "the same",
    ),
    Row(
        "Hermes",
        "hermes-agent",
        "hermes",
        "compressor",
        "`estimate_messages_tokens_rough` and the gates before `ContextCompressor.compress`",
        "`ContextCompressor.compress`; its tail is a share of the window, which the history just fills",
    ),
    Row(
        "aider",
        "aider-chat",
        "aider",
        "chat summary",
        "`ChatSummary.too_big`",
        "`ChatSummary.summarize`; done in a thread of its own",
    ),
)


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there are no figures."""

    reason: str


@dataclass(frozen=True, slots=True)
class Run:
    """All figures of one run."""

    figures: Mapping[tuple[str, int], Figures | Failed]
    """By the row's title and the number of messages."""
    sizes: Sequence[int]
    load: tuple[float, float]
    """Processes that waited for a core, by the system's average over a minute: before and after."""


def run(sizes: Sequence[int], longest: int) -> Run:
    """Sets up what is missing, and measures. A peer that cannot be measured has its reason in place of figures."""
    python = _found_python()
    interpreters = _interpreters(python)
    before = _load()
    figures: dict[tuple[str, int], Figures | Failed] = {}
    with tempfile.TemporaryDirectory() as temporary:
        history = Path(temporary) / "history.jsonl"
        with history.open("w", encoding="utf-8") as lines:
            for message in generated(max(*sizes, longest) + 2 * TURNS + 2):
                lines.write(json.dumps(message, ensure_ascii=False) + "\n")
        for row, size in [*((row, size) for size in sizes for row in ROWS), (OWN, longest)]:
            interpreter = interpreters[row.peer]
            told = interpreter if isinstance(interpreter, Failed) else measure(row, interpreter, history, size, Path(temporary))
            figures[row.title, size] = told
            said = told.reason if isinstance(told, Failed) else f"{told.turn.median:.3f} ms, {told.compaction.median:.1f} ms"
            sys.stdout.write(f"{row.title}, {size:,} messages: {said}\n")
    return Run(figures, sizes, (before, _load()))


def measure(row: Row, interpreter: Path | str, history: Path, size: int, home: Path) -> Figures | Failed:
    """One row at one size. The peer sees a home of its own, so that it neither reads nor writes the user's."""
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": ""}
    if row is OWN:
        environment["PYTHONPATH"] = str(ROOT / "server")
    command = [str(interpreter), "-m", f"bench.peers.adapters.{row.adapter}", row.variant, str(history), str(size)]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return Failed(f"not done after {PATIENCE:.0f} s")
    last = done.stdout.strip().splitlines()[-1:] or [""]
    if done.returncode != 0 or not last[0].startswith("{"):
        return Failed((done.stderr.strip().splitlines() or ["it ended without figures"])[-1][:200])
    return read(last[0])


def read(line: str) -> Figures:
    """What `measuring.main` printed."""
    told: dict[str, Any] = json.loads(line)
    timings: dict[str, Any] = {name: Timed(**told[name]) for name in ("turn", "compaction")}
    return Figures(**{**told, **timings})


def _found_python() -> str | Failed:
    try:
        return find_python()
    except NotSetUp as error:
        return Failed(str(error))


def _interpreters(python: str | Failed) -> dict[str, Path | str | Failed]:
    """By peer. Ullage runs on the Python that the environments were made with, so that all rows have the same."""
    found: dict[str, Path | str | Failed] = {OWN.peer: sys.executable if isinstance(python, Failed) else python}
    for row in ROWS:
        if row.peer in found:
            continue
        if isinstance(python, Failed):
            found[row.peer] = python
            continue
        try:
            found[row.peer] = environment_python(row.peer, python)
        except NotSetUp as error:
            found[row.peer] = Failed(f"not installed: {error}")
    return found


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
