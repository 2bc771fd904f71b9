"""What stands for the text that a model would have written for a summary, and what writing it would have cost in output."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.context.counting.tokens import estimate_text
from ullage.context.moves.plan import Asked
from ullage.replay.runs import Summaries

USUAL_SUMMARY_TOKENS = 3_300
"""By our estimate: the median of the summaries in recorded sessions of Claude Code, which are some 11,500 characters long. What a model
would have written where the record has no summary of it."""

_BLANK_LINE = "A blank line of a summary that is not there, since only its size counts here.\n"
BLANK = _BLANK_LINE * round(USUAL_SUMMARY_TOKENS / estimate_text(_BLANK_LINE))
"""A summary that holds nothing, of the usual size."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """`text` is None where the program's digest stands in; `what` is its name in `CompactionPoint.stood_in`. `tokens` by our estimate."""

    text: str | None
    what: str
    tokens: int


def stand_in(summaries: Summaries, recorded: str, asked: Asked) -> StandIn:
    """What stands for the answer to `asked`. `recorded` is the summary that the transcript has at this place, empty where none."""
    if summaries == "recorded" and recorded:
        return StandIn(recorded, "recorded", estimate_text(recorded))
    usual = min(USUAL_SUMMARY_TOKENS, asked.output_tokens)
    if summaries == "none":
        return StandIn(BLANK, "blank", usual)
    return StandIn(None, "digest", usual)
