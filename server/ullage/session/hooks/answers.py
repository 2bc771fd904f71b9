"""What a hook says by the way it ends, its output and its errors, as Claude Code's hooks say it.

An exit code of 2 blocks, with the errors as the reason. Else an output that is a JSON object says more. Any other exit code is a fault of
the hook, which is told, and changes nothing. Who wrote a hook is unknown: what it says is bounded, and it allows nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from ullage.context.quoting import visible_line
from ullage.session.hooks.declared import Event
from ullage.tools.process import Finished

TOLD_CHARACTERS = 10_000
"""Most characters of what one hook says to the agent, about 2,500 tokens: it may say so after every call."""

TROUBLE_CHARACTERS = 300
"""Most characters of what a hook says that stand in a sentence for the user."""

BLOCKED = 2
"""The exit code that blocks."""

SPOKEN: frozenset[Event] = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events of which an output that is no JSON is told to the agent as it is."""

BLOCKING: frozenset[Event] = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "PreCompact"})
"""Events of which a hook may say no."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What one hook said of one event."""

    blocks: str | None = None
    """Why the hook says no; None if it does not. After a call: what it has to say of the result."""
    context: str = ""
    """What the hook tells the agent besides."""
    asks: str | None = None
    """Why the user has to be asked about the call, however it is allowed; None if nothing is said of that."""
    ends: str | None = None
    """Why the hook wants the turn to end; None if it does not."""
    to_user: str = ""
    """What the hook tells the user."""
    trouble: str = ""
    """What went wrong with the hook, in words for the user; empty if nothing did."""


def said_by(event: Event, finished: Finished, seconds: float) -> HookAnswer:
    """What a hook that has run says. `seconds` is how long it was given."""
    if finished.ended == "by timeout":
        return HookAnswer(trouble=f"it took longer than {seconds:g} seconds and was ended")
    if finished.exit_code == BLOCKED:
        if event not in BLOCKING:
            return HookAnswer(trouble="it ended with exit code 2, which blocks nothing at this event")
        return HookAnswer(blocks=_cut(finished.errors.strip()))
    if finished.exit_code != 0:
        return HookAnswer(trouble=_failed(finished))
    output = finished.output.strip()
    if not output.startswith("{"):
        return HookAnswer(context=_cut(output)) if event in SPOKEN else HookAnswer()
    try:
        value: object = json.loads(output)
    except (ValueError, RecursionError):
        return HookAnswer(trouble="its output begins as JSON and is none, so it was not used")
    return _of_json(event, cast("Mapping[str, object]", value) if isinstance(value, dict) else {})


def _failed(finished: Finished) -> str:
    errors = for_the_user(finished.errors.strip() or finished.output.strip())
    code = finished.exit_code
    if code < 0:
        return f"it was ended by signal {-code}"
    return f"it ended with exit code {code}: {errors}" if errors else f"it ended with exit code {code}"


def _of_json(event: Event, value: Mapping[str, object]) -> HookAnswer:
    inner = value.get("hookSpecificOutput")
    own: Mapping[str, object] = cast("Mapping[str, object]", inner) if isinstance(inner, dict) else {}
    reason = _text(value, "reason")
    blocks = reason if value.get("decision") == "block" and event in BLOCKING else None
    asks: str | None = None
    if event == "PreToolUse":
        decision, why = own.get("permissionDecision"), _text(own, "permissionDecisionReason")
        blocks = why if decision == "deny" else blocks
        asks = why if decision == "ask" else None
    return HookAnswer(
        blocks=None if blocks is None else _cut(blocks),
        context=_cut(_text(own, "additionalContext") or _text(value, "additionalContext")),
        asks=asks,
        ends=_cut(_text(value, "stopReason")) if value.get("continue") is False else None,
        to_user=for_the_user(_text(value, "systemMessage")),
        trouble="it wants the call to have another input, which Ullage does not give it" if "updatedInput" in own else "",
    )


def _text(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    return found.strip() if isinstance(found, str) else ""


def for_the_user(text: str) -> str:
    """What the user is told of what a hook says: a line, in which no other sentence of Ullage can seem to stand."""
    line = " ".join(text[: 10 * TROUBLE_CHARACTERS].split())
    return visible_line(line if len(line) <= TROUBLE_CHARACTERS else f"{line[:TROUBLE_CHARACTERS]} …")


def _cut(text: str) -> str:
    """The text as the agent is told it: `TOLD_CHARACTERS` at most, and no half characters."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    return text if len(text) <= TOLD_CHARACTERS else f"{text[:TOLD_CHARACTERS]}\n[cut: the hook said {len(text):,} characters]"
