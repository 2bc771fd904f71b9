"""The one seam to a language model: what is asked, what comes back, and what a model says of itself.

Implementations: `anthropic_model.py` (the SDK), `chat_model.py` (Chat Completions), `editor_model.py` (the editor's own models) and
`practice/` (no key needed). Errors: `errors.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from ullage.context.blocks import AssistantBlock, CompactionBlock, Usage
from ullage.context.compaction.economy import Terms
from ullage.context.counting.media import LIMITS, ImageLimits, Room
from ullage.context.view.request import Request
from ullage.workspace.web_search import WebSearch, WebSearchResult

UNPARSABLE_INPUT = "unparsable_input"
"""The one key of a `ToolUse.input` whose JSON text was no object (it was cut off); its value is that text."""

SMALL_WINDOW = 200_000
"""Models with no more than this take 100 images in a request, others 600."""

TokenizerVersion: TypeAlias = Literal["3.0", "4.7", "4.8"]
"""Claude's tokenizers by the model generation that each came with: Claude 3 to Opus 4.6; Opus 4.7; Opus 4.8 and all later ones."""

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
"""How much work a model puts into a reply, by the API's own words (`output_config.effort`): more tokens, more time, more thorough."""
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
"""All efforts, from the least to the most."""
EffortChoice: TypeAlias = Literal["default", "low", "medium", "high", "xhigh", "max"]
"""What a user can choose; `default` leaves it to the model."""
EFFORT_CHOICES: tuple[EffortChoice, ...] = ("default", *EFFORTS)
"""All choices of an effort."""


PRICED_TOKENS = 1_000_000
"""Prices are dollars for this many tokens."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens, by price class."""

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    long_prompt: int | None = None
    """Input tokens over which every price is multiplied by `long_prompt_factor`; None if there is no such step."""
    long_prompt_factor: float = 1.0

    def times(self, factor: float) -> Prices:
        """The prices with each one times `factor`. The step for long prompts stays."""
        return Prices(
            *(round(price * factor, 6) for price in (self.input, self.output, self.cache_read, self.cache_write_5m, self.cache_write_1h)),
            long_prompt=self.long_prompt,
            long_prompt_factor=self.long_prompt_factor,
        )

    def terms(self, *, for_an_hour: bool = False) -> Terms | None:
        """The proportions of the prices, where what is written to the cache lives five minutes or `for_an_hour`; None if the model costs
        nothing."""
        if not self.input:
            return None
        write = self.cache_write_1h if for_an_hour else self.cache_write_5m
        return Terms(self.cache_read / self.input, write / self.input, self.output / self.input, self.input / PRICED_TOKENS)

    def cost(self, usage: Usage) -> float:
        """The dollars for one call."""
        is_long = self.long_prompt is not None and usage.total_input_tokens > self.long_prompt
        return (
            (self.long_prompt_factor if is_long else 1.0)
            * (
                usage.input_tokens * self.input
                + usage.output_tokens * self.output
                + usage.cache_read_tokens * self.cache_read
                + usage.cache_write_5m_tokens * self.cache_write_5m
                + usage.cache_write_1h_tokens * self.cache_write_1h
            )
            / PRICED_TOKENS
        )


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known of a model. Tokens throughout; `prices` is None if nothing is known (a local server)."""

    name: str
    display_name: str
    window: int
    """The most input tokens of one request."""
    max_output: int
    prices: Prices | None
    source: str
    """Where window and limits come from, in a word for the user: `Models API`, `server`, `table`, `assumed`, `practice`."""
    practice: bool = False
    """True for the practice model, which is no language model and says so."""
    writes_summaries: bool = True
    compacts: bool = False
    """Whether the API writes summaries of its own for it (compaction blocks on demand) and reads them back."""
    adaptive_thinking: bool = True
    efforts: tuple[Effort, ...] = ()
    """The efforts that it can be asked for, least first; empty if it takes none."""
    effort: Effort | None = None
    """The effort that it is asked for, one of `efforts`; None if that is left to it."""
    characters_per_token_factor: float = 1.0
    """The estimate by kind of text is multiplied by this before the learned ratio (1.0: the new tokenizer)."""
    tokenizer: TokenizerVersion | None = None
    """Which of Claude's tokenizers it has (`counting.py`); None for other vendors' models."""

    takes_images: bool | None = None
    """Whether it can be shown images; None if nobody says so: it is tried then."""
    takes_pdfs: bool | None = None
    """Whether it can be shown PDFs; None if nobody says so: it is tried then."""
    images: ImageLimits = LIMITS
    """The limits of what it takes of an image."""
    caches: bool = True
    """Whether what was sent before is cheaper; False until a reply reported so, where the wire has no marks that see to it."""
    searches_web: bool = False
    """Whether it can be asked to search the web (`SearchesWeb`): where the Models API says that it has the tool."""
    minimum_cached: int = 1_024
    """The tokens below which the prompt cache keeps nothing; of most models unless the table knows better."""
    editor_counts: bool | None = None
    """Whether the editor counts texts for it (`EditorModels.count`): not before it has answered once, since until then it is given nothing
    of what is said here. None if it is no model of the editor."""
    stated_window: int | None = None
    """The window in tokens before a refusal named a smaller one; None if none did. A refusal is hearsay."""

    @property
    def hold_window(self) -> int:
        """The window over which no call is made. What a refusal named makes the context be compacted earlier, but holds no call: if it was
        not true, only a call that goes well can show that."""
        return self.stated_window or self.window

    @property
    def media_room(self) -> Room:
        """How many images and pages of PDFs it takes in one request (anthropic-api.md 2.7): the API allows as many of each, here they count
        together."""
        most = 600 if self.window > SMALL_WINDOW else 100
        return Room(most, images=self.takes_images is not False, documents=self.takes_pdfs is not False)

    @property
    def terms(self) -> Terms | None:
        """The proportions of what its tokens cost; None if that is not known, or nothing."""
        terms = self.prices.terms() if self.prices is not None else None
        return terms if terms is None or self.caches else replace(terms, read=1.0, write=1.0)

    def cost(self, usage: Usage | None) -> float | None:
        """The dollars for one call; None if the prices are not known or nothing was counted."""
        return self.prices.cost(usage) if self.prices and usage else None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of block `index` of the reply."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More thinking of block `index` of the reply."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolUseStarted:
    """Block `index` of the reply is a tool call; its input follows as `ToolInputDelta`s."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    """More of the tool input's JSON text of block `index`."""

    index: int
    partial_json: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The call failed before any output and is made again after `delay` seconds. `reason` is for the user."""

    attempt: int
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole reply: always the last event of a stream that did not fail. Block order is the model's."""

    blocks: tuple[AssistantBlock, ...]
    model: str
    stop_reason: str
    """Why the model stopped, as the API names it: `end_turn`, `tool_use`, `max_tokens`, `refusal`, `model_context_window_exceeded` ..."""
    usage: Usage | None
    """What was used; None if the server did not count what was sent: what it said of the output alone is of no use."""
    compaction: CompactionBlock | None = None
    """The summary, where `Request.summarise` asked for one and the API wrote it (`stop_reason` is `compaction` then); `blocks` are
    empty."""
    dropped_thinking: int = 0
    """How many replayed thinking blocks the API dropped, since it took what stood before them for changed."""
    doubts: tuple[str, ...] = ()
    """What the endpoint said that cannot be and was not taken over, each as a sentence or two for the user."""


ModelEvent: TypeAlias = TextDelta | ThinkingDelta | ToolUseStarted | ToolInputDelta | Retrying | Reply


class Model(Protocol):
    """A language model behind whatever wire."""

    def expected(self) -> ModelCard:
        """The card of the model without asking anybody: for the gauge until `card` has answered."""
        ...

    async def card(self) -> ModelCard:
        """The card of the model; asked for once and remembered. Never raises for want of a network: falls back."""
        ...

    def stream(self, request: Request, max_output_tokens: int) -> AsyncIterator[ModelEvent]:
        """Asks for one reply. Raises a `ModelError`; `PromptTooLong` where the window is exceeded.

        Closing the iterator (or cancelling the task that reads it) ends the call at once.
        """
        ...

    async def count(self, request: Request) -> int | None:
        """How many tokens of input the endpoint itself counts for a request, which it does not answer. None if it does not count, or not
        now: never raises for what an endpoint does. A request must end with a user's words."""
        ...

    async def aclose(self) -> None:
        """Frees connections: now, or when the last call that runs has ended. Who calls later is answered all the same."""
        ...


@runtime_checkable
class SearchesWeb(Protocol):
    """A model whose provider searches the web for it, where its card says so."""

    async def search(self, wanted: WebSearch) -> WebSearchResult:
        """Searches once. Raises `NotSearched`. Cancelling the task ends it."""
        ...
