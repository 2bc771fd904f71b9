"""What a policy is: one way of compacting, as data. Numbers with their sources, where the context counts as full, and an engine.

The rows are in `policies/`, how a policy is carried out in `engines/`, the moves that use the numbers in `moves/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ullage.context.engines.engine import Engine

Measure: TypeAlias = Literal["usage", "messages", "characters / 4"]
"""What a policy compares with its threshold (tokens): what the model reported and an estimate of what came since, with system and tools;
our estimate of the messages alone; or a quarter of the messages' characters."""


@dataclass(frozen=True, slots=True)
class ClipOptions:
    """The limits beyond which a tool result is too long to be sent whole (characters)."""

    result_characters: int | None = 30_000
    """Characters beyond which a single result goes to a file (learn-claude-code s08); None: no result is too long by itself."""
    message_characters: int | None = 200_000
    """Characters of all results of one message together (Claude Code's tool-result budget); None: there may be any number."""
    preview_characters: int = 2_000
    """Characters that stay of a clipped result: head and tail together (learn-claude-code s08)."""
    tail_share: float = 1 / 3
    """The tail's share of these. Commands say at the end how they went; what comes first says what it is."""
    smallest_characters: int = 0
    """Characters up to which a result stays whole, also where all results of a message are too long together."""


@dataclass(frozen=True, slots=True)
class RepeatOptions:
    """The limits within which a result that stands in view already gives way to a reference. Ullage's own numbers, not fitted to any
    sessions."""

    smallest_characters: int | None = 600
    """Characters below which a result comes as it is: a reference takes about 150. None: every result does."""
    changed_share: float = 0.25
    """Share of the result's lines that may differ, in one place."""
    longest_share: float = 0.5
    """Share of the result's characters that the reference may take, with what differs."""


@dataclass(frozen=True, slots=True)
class ClearOptions:
    """The conditions under which an old result becomes a placeholder."""

    keep_results: int = 3
    """The number of newest results that stay (the default of the API's own `clear_tool_uses`)."""
    minimum_characters: int = 120
    """Characters up to which a result stays: a placeholder would save nothing (learn-claude-code s08)."""
    answered_only: bool = True
    """Whether a result that the model has not answered yet stays in any case."""
    spares_newest_reads: bool = True
    """Whether the newest read of each file stays."""
    spared_tools: frozenset[str] = frozenset()
    """Tools whose results always stay."""
    spared_messages: int = 0
    """The number of newest messages whose results stay."""
    spared_turns: int = 0
    """The number of the user's newest turns whose results stay."""
    keep_tokens: int = 0
    """Tokens. The newest results stay that together take no more."""
    minimum_gain: int = 0
    """Tokens. Where fewer would be freed, nothing is cleared."""
    kept_lines: int = 0
    """Lines of the end of a cleared result that stay in the placeholder."""
    placeholder: str = ""
    """The text in the place of a cleared result, with `{tool}` for the tool's name; empty: a line that also says how to get it back."""
    counts_answered: bool = False
    """Whether `keep_results` counts only results that the model has answered."""


@dataclass(frozen=True, slots=True)
class SnipOptions:
    """The messages that stay when the middle of a long conversation is cut out."""

    keep_first: int = 3
    keep_last: int = 47
    """Last messages that stay. The middle goes if there are more than both together (learn-claude-code s08: 50 = 3 + 47)."""


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """What is kept beside a summary and in it (tokens)."""

    tail_tokens: int = 5_000
    """Tokens of the newest messages that stay as they are ... Cline and Pi keep 20,000. The summary holds the facts of all before, and
    every token that stays is paid for with every request: over recorded sessions 4,000 to 8,000 kept more of what was needed than 12,000 or
    20,000 did, and cost less."""
    tail_share: float = 0.2
    """... but no more than this share of the threshold (Hermes)."""
    user_message_tokens: int = 20_000
    """Tokens of the user's own words that stand verbatim in the summary, newest first (Codex) ..."""
    message_tokens: int = 800
    """... but of one message no more than this, its beginning and its end: what is longer was mostly pasted, and `recall` opens it. At 41
    recorded compactions two of such texts took 90,000 characters."""
    output_tokens: int = 12_000
    """Tokens that a model may write for a summary (Hermes; Cline's 1,024 proved too small)."""
    reactive_keep_messages: int = 5
    """The number of messages that stay after the API refused the prompt as too long (learn-claude-code s08)."""


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """Which files are read again after a summary, and how much of them (files, tokens; Claude Code)."""

    files: int = 5
    """The number of files. The model is told of each, also where there is no room for its text."""
    more_files: int = 0
    """The number of files after these, where there is room for some of their text."""
    file_tokens: int = 5_000
    total_tokens: int = 50_000
    by: Literal["evidence", "last edited"] = "evidence"
    """Which files: those with the most signs of being in use, or those that were edited last, as Claude Code takes them."""
    tests_share: float = 1.0
    """How much a file of tests counts against another with the same signs of use."""
    nearby_share: float = 0.0
    """Share of the tokens of all files together, for the names of files near the work that are not read again, and of what they define."""
    room_share: float | None = None
    """Share of what is free below the threshold without the files that all of them together may take; None: no such limit. In a small
    window they would else fill what the compaction has just freed."""


LARGEST_HEADROOM_SHARE = 0.5
"""Share of the window that reserve and margin take at most: they are meant for windows of 200,000 tokens and more. Of a local model's
16,000 or 32,000 they would leave nothing."""


@dataclass(frozen=True, slots=True)
class BelowWindow:
    """A threshold at the window less `reserve` and `margin`, and never above `cap` (tokens; None: no cap). The figures are Claude
    Code's."""

    reserve: int = 20_000
    margin: int = 13_000
    cap: int | None = None


@dataclass(frozen=True, slots=True)
class ShareOfWindow:
    """A threshold at a share of the window, never above `at_most` (tokens; None: no ceiling) and never below `at_least`."""

    share: float
    at_most: int | None = None
    at_least: int = 0


@dataclass(frozen=True, slots=True)
class FixedTokens:
    """A threshold at a number of tokens, whatever the window."""

    tokens: int


@dataclass(frozen=True, slots=True)
class FixedCharacters:
    """A threshold at a number of characters, whatever the window: for the measure `characters / 4`."""

    characters: int


@dataclass(frozen=True, slots=True)
class Never:
    """No threshold: a compaction is made only when somebody asks for it."""


FullAt: TypeAlias = BelowWindow | ShareOfWindow | FixedTokens | FixedCharacters | Never


USUAL_CAP = 200_000
"""Tokens of the cap, unless the user says otherwise (`ullage.compaction.cap`). Cost grows with what is carried, however large the window
is."""


@dataclass(frozen=True, slots=True)
class ThresholdOptions:
    """The threshold at which the context counts as full, and where the gauge changes before that."""

    full_at: FullAt = BelowWindow(cap=USUAL_CAP)
    warn_share: float = 0.75
    """Share of the threshold from which on the gauge warns (Copilot)."""
    error_share: float = 0.95
    hold_share: float = 0.98
    """Share of the window from which on model calls are held where compaction is off or its breaker is open."""


GOAL_SHARE = 0.0
"""Share of the threshold. Cheap moves alone suffice only if they bring the context down to it. Never, that is: the program summary costs
nothing either, and of what was needed after recorded compactions it kept nearly all, where clearing and snipping alone lost a third of the
paths' and names' places and most hashes. Where somebody else's numbers say otherwise, their share is above zero."""


@dataclass(frozen=True, slots=True)
class UllageOptions:
    """The numbers of the moves that Ullage itself makes: cheap before dear."""

    clip: ClipOptions = ClipOptions()
    repeat: RepeatOptions = RepeatOptions()
    clear: ClearOptions = ClearOptions()
    snip: SnipOptions = SnipOptions()
    summary: SummaryOptions = SummaryOptions()
    goal_share: float = GOAL_SHARE


@dataclass(frozen=True, slots=True)
class Policy:
    """One way of compacting, with its numbers and its engine."""

    name: str
    title: str
    """What the policy does, in one sentence."""
    sources: tuple[str, ...]
    """The sources of its numbers and of its order of steps."""
    engine: Engine
    """The engine that carries it out, with the numbers of its moves."""
    threshold: ThresholdOptions = ThresholdOptions()
    measure: Measure = "usage"
    saves: bool = False
    """Whether it also compacts before its threshold where that costs less than carrying on (`compaction/economy.py`); how much so is the
    user's choice."""
    restore: RestoreOptions | None = None
    """How files are read again after a summary; None: none are, and nothing is said on how to go on."""
    tail_tokens: int = 20_000
    """About how many tokens stay as they are beside a summary, for the gauge's guess. Most systems keep about as many."""
    has_stand_in: bool = True
    """Whether Ullage's own policy stands in where this one fails, or finds nothing to do though the window is full. Ullage's own has
    none."""
    drafts_ahead: bool = False
    """Whether a summary that no model writes may be drafted before the threshold. Other policies decide by what there is at the
    threshold."""
    waits_for_gain: bool = False
    """Whether it waits until there is something to free, where the newest summary left much. Other systems do not."""
    proves: bool = False
    """Whether what a summary leaves is checked against what the newest messages needed, and completed (`compaction/proof.py`)."""
    api_summaries: bool = False
    """Whether the API may write the summary itself. The program's part must complete it then."""

    @property
    def never(self) -> bool:
        """Whether it has no threshold: it compacts only when somebody asks for it."""
        return isinstance(self.threshold.full_at, Never)
