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
    """When a tool result is too long to be sent whole (characters)."""

    result_characters: int | None = 30_000
    """A longer single result goes to a file (learn-claude-code s08); None: no result is too long by itself."""
    message_characters: int | None = 200_000
    """All results of one message together (Claude Code's tool-result budget); None: there may be any number."""
    preview_characters: int = 2_000
    """What stays of a clipped result: head and tail together (learn-claude-code s08)."""
    tail_share: float = 1 / 3
    """Of the preview. Commands say at the end how they went; what comes first says what it is."""
    smallest_characters: int = 0
    """Shorter results stay whole, also where all results of a message are too long together."""


@dataclass(frozen=True, slots=True)
class RepeatOptions:
    """When a result that stands in view already gives way to a reference. Ullage's own numbers, not fitted to any sessions."""

    smallest_characters: int | None = 600
    """A shorter result comes as it is: a reference takes about 150 characters; None: every result does."""
    changed_share: float = 0.25
    """Of its lines may differ, in one place."""
    longest_share: float = 0.5
    """Of its characters may the reference take, with what differs."""


@dataclass(frozen=True, slots=True)
class ClearOptions:
    """When an old result becomes a placeholder."""

    keep_results: int = 3
    """The newest results stay (the default of the API's own `clear_tool_uses`)."""
    minimum_characters: int = 120
    """Shorter results stay: a placeholder would save nothing (learn-claude-code s08)."""
    answered_only: bool = True
    """Whether a result that the model has not answered yet stays in any case."""
    spares_newest_reads: bool = True
    """Whether the newest read of each file stays."""
    spared_tools: frozenset[str] = frozenset()
    """Results of these tools always stay."""
    spared_messages: int = 0
    """Results in the newest messages stay."""
    spared_turns: int = 0
    """Results of the newest turns of the user stay."""
    keep_tokens: int = 0
    """The newest results stay as long as all of them together take no more than this."""
    minimum_gain: int = 0
    """Tokens. Where less than this would be freed nothing is cleared."""
    kept_lines: int = 0
    """So many lines of the end of a cleared result stay in the placeholder."""
    placeholder: str = ""
    """What stands for a cleared result, with `{tool}` for the tool's name; empty: a line that also says how to get it back."""
    counts_answered: bool = False
    """Whether `keep_results` counts only results that the model has answered."""


@dataclass(frozen=True, slots=True)
class SnipOptions:
    """When the middle of a long conversation is cut out (messages)."""

    keep_first: int = 3
    keep_last: int = 47
    """More than their sum, and the middle goes (learn-claude-code s08: 50 = 3 + 47)."""


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """What a summary keeps beside it (tokens)."""

    tail_tokens: int = 5_000
    """The newest messages stay as they are ... Cline and Pi keep 20,000. The summary holds the facts of all before, and every token that
    stays is paid for with every request: over recorded sessions 4,000 to 8,000 kept more of what was needed than 12,000 or 20,000 did, and
    cost less."""
    tail_share: float = 0.2
    """... but no more than this share of the threshold (Hermes)."""
    user_message_tokens: int = 20_000
    """The user's own words stand verbatim in the summary, newest first (Codex) ..."""
    message_tokens: int = 800
    """... but of one message no more than that, its beginning and its end: what is longer was mostly pasted, and `recall` opens it. At 41
    recorded compactions two of such texts took 90,000 characters."""
    output_tokens: int = 12_000
    """Ceiling of a model-written summary (Hermes; Cline's 1,024 proved too small)."""
    reactive_keep_messages: int = 5
    """What stays after the API refused the prompt as too long (learn-claude-code s08)."""


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """What is read again after a summary, and how much of it (files, tokens; Claude Code)."""

    files: int = 5
    """Each is told of, also where there is no room for its text."""
    more_files: int = 0
    """After these, where there is room for some of their text."""
    file_tokens: int = 5_000
    total_tokens: int = 50_000
    by: Literal["evidence", "last edited"] = "evidence"
    """The files with the most signs of being in use, or those that were edited last, as Claude Code takes them."""
    tests_share: float = 1.0
    """What a file of tests counts beside another with the same signs of use."""
    nearby_share: float = 0.0
    """Of the room of all together: for the names of files near the work that are not read again, and of what they define."""
    room_share: float | None = None
    """All together take at most this share of what is free below the threshold without them; None: they take what they take. In a small
    window they would else fill what the compaction has just freed."""


LARGEST_HEADROOM_SHARE = 0.5
"""Reserve and margin take at most this share of the window: they are meant for windows of 200,000 tokens and more. Of a local model's
16,000 or 32,000 they would leave nothing."""


@dataclass(frozen=True, slots=True)
class BelowWindow:
    """The window less `reserve` and `margin`, and never above `cap` (tokens; None: no cap). The figures are Claude Code's."""

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
    """No threshold: nothing is compacted before it is asked for."""


FullAt: TypeAlias = BelowWindow | ShareOfWindow | FixedTokens | FixedCharacters | Never


USUAL_CAP = 200_000
"""Tokens, unless the user says otherwise (`ullage.compaction.cap`). Cost grows with what is carried, however large the window is."""


@dataclass(frozen=True, slots=True)
class ThresholdOptions:
    """Where the context counts as full, and what is done on the way there."""

    full_at: FullAt = BelowWindow(cap=USUAL_CAP)
    warn_share: float = 0.75
    """From here the gauge warns (Copilot)."""
    error_share: float = 0.95
    hold_share: float = 0.98
    """Of the window: where compaction is off or its breaker is open, model calls are held from here."""


GOAL_SHARE = 0.0
"""Cheap moves alone suffice only if they bring the context down to this share of the threshold. Never, that is: the program summary costs
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
    """One way of compacting."""

    name: str
    title: str
    """What it does, in one sentence."""
    sources: tuple[str, ...]
    """Where its numbers and its order of steps come from."""
    engine: Engine
    """How it is carried out, with the numbers of its moves."""
    threshold: ThresholdOptions = ThresholdOptions()
    measure: Measure = "usage"
    saves: bool = False
    """Whether it also compacts before its threshold where that costs less than carrying on (`compaction/economy.py`); how much so is the
    user's choice."""
    restore: RestoreOptions | None = None
    """Which files are read again after a summary; None: none, and nothing is said on how to go on."""
    tail_tokens: int = 20_000
    """About how many tokens stay as they are beside a summary, for the gauge's guess. Most systems keep about as many."""
    has_stand_in: bool = True
    """Whether Ullage's own policy stands in where this one fails, or finds nothing to do though the window is full. That one has none."""
    drafts_ahead: bool = False
    """Whether a summary that no model writes may be drafted before the threshold. Others decide by what there is at the threshold."""
    waits_for_gain: bool = False
    """Whether it waits until there is something to free, where the newest summary left much. Other systems do not."""
    proves: bool = False
    """Whether what a summary leaves is checked against what the newest messages needed, and completed (`compaction/proof.py`)."""
    api_summaries: bool = False
    """Whether the API may write the summary itself. The program's part must complete it then."""

    @property
    def never(self) -> bool:
        """Whether it has no threshold: it compacts only when it is asked to."""
        return isinstance(self.threshold.full_at, Never)
