"""What the model is told after a command: its output, how it ended, and what the sandbox kept from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.tools.process import Finished
from ullage.tools.sandbox.taken_back import TakenBack
from ullage.tools.tool import ToolOutcome

BLOCKED_NOTE = (
    "(The sandbox blocked a write. Commands can write to the workspace folders, /tmp and ~/.cache only, and not to what runs programs "
    "or steers tools later (the config and hooks of git, .vscode, CI files). If it has to be, name those files in `steering_files`: "
    "the user is asked.)"
)


@dataclass(frozen=True, slots=True)
class Kept:
    """What the sandbox kept a command from. All empty without one."""

    blocked: Sequence[str] = ()
    """What programs say when the sandbox does not let them write."""
    refused_hosts: Sequence[str] = ()
    taken_back: Sequence[TakenBack] = ()
    over_limit: Sequence[str] = ()
    not_compared: Sequence[str] = ()
    """Where nobody looked for what it made that starts by itself."""


def outcome(finished: Finished, timeout: float, kept: Kept, show: Callable[[Path], str]) -> ToolOutcome:
    """The result; an error where the command failed. `show` gives a path as the model sees it."""
    output = finished.output.rstrip()
    parts = [output] if output else ["(no output)"]
    if finished.had_leftovers:
        parts.append("(Processes that it left in the background were ended: nothing outlives a call.)")
    if any(said in output.casefold() for said in kept.blocked):
        parts.append(BLOCKED_NOTE)
    if kept.refused_hosts:
        parts.append(
            f"(The sandbox blocked connections to {', '.join(kept.refused_hosts)}. If they are needed, run it again with these hosts in "
            "`network`: the user is asked.)"
        )
    parts += [
        f"(It made {show(taken.path)}, which was taken back, because {taken.reason}. It lies in {taken.to}. If the user wants it, "
        "run it again and name it in `steering_files`: the user is asked.)"
        for taken in kept.taken_back
    ]
    parts += [f"({reason}.)" for reason in kept.not_compared]
    parts += [f"(The sandbox ended it, because {reason}.)" for reason in kept.over_limit]
    if finished.ended == "by timeout":
        parts.append(f"(Ended after {timeout:g} seconds, with everything that it had started.)")
    elif finished.exit_code < 0:
        parts.append(f"(Ended by signal {-finished.exit_code}.)")
    elif finished.exit_code:
        parts.append(f"(exit code {finished.exit_code})")
    failed = finished.ended == "by timeout" or finished.exit_code != 0
    return ToolOutcome("\n".join(parts), is_error=failed, complete=not finished.dropped)
