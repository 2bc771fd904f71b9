"""What the fake knows of each model: window, limits, prices and which rules it enforces.

Section numbers, here and in all of the package, are those of "What it holds to be true" in README.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens (section 2.2)."""

    input: float
    output: float
    write_5m: float
    write_1h: float
    read: float


def _prices(input: float, output: float, *, read: float, write_5m: float | None = None) -> Prices:
    """Cache writes cost 1.25 (5 m) and 2 (1 h) times the input (section 2.1)."""
    return Prices(
        input=input,
        output=output,
        write_5m=input * 1.25 if write_5m is None else write_5m,
        write_1h=input * 2,
        read=read,
    )


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model as the fake plays it. Sizes are tokens."""

    id: str
    display_name: str
    line: str | None
    window: int
    """`max_input_tokens` of the Models API."""
    max_output: int
    """`max_tokens` of the Models API."""
    prices: Prices
    prices_above_100k: Prices | None = None
    """Prices of a request whose whole input is over 100,000 tokens (only Haiku 5.5 has such a step, section 2.2)."""
    minimum_cached: int = 512
    """A prefix shorter than this is silently not cached (section 2.1)."""
    thinking_types: frozenset[str] = frozenset({"adaptive"})
    """The values of `thinking.type` that are accepted (sections 0.6, 2.2, 2.6)."""
    thinks_by_default: bool = True
    shows_thinking_by_default: bool = False
    """`display` is "omitted" unless asked for on 4.7 and newer (section 2.6)."""
    checks_prefix: bool = False
    """Whether replayed thinking is refused after a change before it (sections 0.1, 2.6)."""
    strips_old_thinking: bool = False
    """Whether thinking before the last user text is dropped from the prompt (section 2.1, table)."""
    forced_tool_choice: bool = True
    """Whether `tool_choice` may be `any` or `tool` (section 0.6)."""
    prefill: bool = False
    """Whether the last message may be the assistant's (section 0.6)."""
    compacts: bool = False
    """`capabilities.compaction` of the Models API: whether it writes compaction blocks on demand (section 2.4)."""
    searches: bool = True
    """`capabilities.server_tools.web_search`: whether it takes the API's tool for searching the web (section 2.8)."""
    system_messages: bool = True
    """Whether messages of role `system` are taken (section 2.1, last part)."""
    default_effort: str = "high"
    images: int = 600
    """Most images of one request (section 2.7)."""
    takes_images: bool = True
    """`capabilities.image_input` of the Models API."""
    takes_pdfs: bool = True
    """`capabilities.pdf_input`."""
    image_token_cap: int = 4784
    """Most tokens of one image (section 2.7)."""
    tool_prompt: int = 290
    """Tokens of the system prompt that tools bring with them (section 2.2)."""
    retires: str | None = None
    """When a deprecated model ends, as the SDK warns; None for an active one."""
    aliases: tuple[str, ...] = ()


_ALWAYS_ON = frozenset({"adaptive"})
_CAN_DISABLE = frozenset({"adaptive", "disabled"})
_ANY_TYPE = frozenset({"adaptive", "enabled", "disabled"})
_EXTENDED_ONLY = frozenset({"enabled", "disabled"})

_FABLE_5_2 = ModelFacts(
    id="claude-fable-5-2",
    display_name="Claude Fable 5.2",
    line="fable",
    window=1_000_000,
    max_output=128_000,
    prices=_prices(8, 40, read=0.20),
    thinking_types=_ALWAYS_ON,
    checks_prefix=True,
    forced_tool_choice=False,
)
_FABLE_5_1 = replace(
    _FABLE_5_2,
    id="claude-fable-5-1",
    display_name="Claude Fable 5.1",
    prices=_prices(10, 50, read=0.25),
    compacts=True,
)
_FABLE_5 = replace(
    _FABLE_5_1,
    id="claude-fable-5",
    display_name="Claude Fable 5",
    prices=_prices(10, 50, read=1.0),
    checks_prefix=False,
    forced_tool_choice=True,
)
_OPUS_5_5 = ModelFacts(
    id="claude-opus-5-5",
    display_name="Claude Opus 5.5",
    line="opus",
    window=1_000_000,
    max_output=128_000,
    prices=_prices(4, 20, read=0.20),
    thinking_types=_ALWAYS_ON,
    checks_prefix=True,
    compacts=True,
    forced_tool_choice=False,
    default_effort="medium",
    tool_prompt=286,
)
_OPUS_5 = replace(
    _OPUS_5_5,
    id="claude-opus-5",
    display_name="Claude Opus 5",
    prices=_prices(5, 25, read=0.50),
    thinking_types=_CAN_DISABLE,
    checks_prefix=False,
    forced_tool_choice=True,
    default_effort="high",
)
_OPUS_4_8 = replace(
    _OPUS_5,
    id="claude-opus-4-8",
    display_name="Claude Opus 4.8",
    minimum_cached=1_024,
    thinks_by_default=False,
    tool_prompt=290,
)
_OPUS_4_7 = replace(
    _OPUS_4_8,
    id="claude-opus-4-7",
    display_name="Claude Opus 4.7",
    minimum_cached=2_048,
    system_messages=False,
)
_OPUS_4_6 = replace(
    _OPUS_4_7,
    id="claude-opus-4-6",
    display_name="Claude Opus 4.6",
    minimum_cached=4_096,
    thinking_types=_ANY_TYPE,
    shows_thinking_by_default=True,
    image_token_cap=1568,
)
_OPUS_4_5 = replace(
    _OPUS_4_6,
    id="claude-opus-4-5-20251101",
    display_name="Claude Opus 4.5",
    window=200_000,
    max_output=64_000,
    thinking_types=_EXTENDED_ONLY,
    compacts=False,
    prefill=True,
    images=100,
    aliases=("claude-opus-4-5",),
)
_SONNET_5_5 = replace(
    _OPUS_5_5,
    id="claude-sonnet-5-5",
    display_name="Claude Sonnet 5.5",
    line="sonnet",
    prices=_prices(2, 10, read=0.10),
    thinking_types=frozenset({"adaptive", "between_tools"}),
    default_effort="high",
    tool_prompt=354,
)
_SONNET_5 = replace(
    _SONNET_5_5,
    id="claude-sonnet-5",
    display_name="Claude Sonnet 5",
    prices=_prices(2, 10, read=0.20),
    minimum_cached=1_024,
    thinking_types=_CAN_DISABLE,
    checks_prefix=False,
    forced_tool_choice=True,
    system_messages=False,
)
_SONNET_4_6 = replace(
    _SONNET_5,
    id="claude-sonnet-4-6",
    display_name="Claude Sonnet 4.6",
    prices=_prices(3, 15, read=0.30),
    thinking_types=_ANY_TYPE,
    thinks_by_default=False,
    shows_thinking_by_default=True,
    image_token_cap=1568,
)
_SONNET_4_5 = replace(
    _SONNET_4_6,
    id="claude-sonnet-4-5-20250929",
    display_name="Claude Sonnet 4.5",
    window=200_000,
    max_output=64_000,
    thinking_types=_EXTENDED_ONLY,
    strips_old_thinking=True,
    compacts=False,
    prefill=True,
    images=100,
    retires="2026-11-30T00:00:00Z",
    aliases=("claude-sonnet-4-5",),
)
_HAIKU_5_5 = ModelFacts(
    id="claude-haiku-5-5",
    display_name="Claude Haiku 5.5",
    line="haiku",
    window=1_000_000,
    max_output=128_000,
    prices=_prices(0.10, 0.50, read=0.01),
    prices_above_100k=_prices(0.50, 2.50, read=0.05),
    compacts=True,
    default_effort="medium",
)
_HAIKU_4_5 = replace(
    _SONNET_4_5,
    id="claude-haiku-4-5-20251001",
    display_name="Claude Haiku 4.5",
    line="haiku",
    prices=_prices(1, 5, read=0.10),
    minimum_cached=4_096,
    retires=None,
    aliases=("claude-haiku-4-5",),
)
_TEST_SMALL = replace(
    _OPUS_5_5,
    id="claude-test-small",
    display_name="Small window for tests",
    line=None,
    window=60_000,
    max_output=32_000,
)

_ALL = (
    _FABLE_5_2,
    replace(
        _FABLE_5_2,
        id="claude-mythos-5-2",
        display_name="Claude Mythos 5.2",
        line="mythos",
    ),
    _HAIKU_5_5,
    _SONNET_5_5,
    _FABLE_5_1,
    _OPUS_5_5,
    replace(
        _FABLE_5_1,
        id="claude-mythos-5-1",
        display_name="Claude Mythos 5.1",
        line="mythos",
    ),
    _SONNET_5,
    _FABLE_5,
    replace(_FABLE_5, id="claude-mythos-5", display_name="Claude Mythos 5", line="mythos"),
    _OPUS_5,
    _OPUS_4_8,
    _OPUS_4_7,
    replace(
        _FABLE_5,
        id="claude-mythos-preview",
        display_name="Claude Mythos Preview",
        line="mythos",
        minimum_cached=2_048,
        retires="2026-06-30T00:00:00Z",
    ),
    _OPUS_4_6,
    _SONNET_4_6,
    _HAIKU_4_5,
    _OPUS_4_5,
    _SONNET_4_5,
    _TEST_SMALL,
)

MODELS: Mapping[str, ModelFacts] = {name: facts for facts in _ALL for name in (facts.id, *facts.aliases)}
"""Every model by id and alias: the ids of the SDK's literal (section 1.5) and `claude-test-small`."""


def with_windows(models: Mapping[str, ModelFacts], windows: Mapping[str, int]) -> dict[str, ModelFacts]:
    """The same models, some with another window. A name that is not known yet becomes one like `claude-test-small`."""
    changed = dict(models)
    for name, window in windows.items():
        known = changed.get(name, replace(_TEST_SMALL, id=name, display_name=name))
        for alias in (known.id, *known.aliases):
            changed[alias] = replace(known, window=window, max_output=min(known.max_output, window))
    return changed


def without_search(models: Mapping[str, ModelFacts]) -> dict[str, ModelFacts]:
    """The same models for an account whose administrator has turned the search of the web off."""
    return {name: replace(facts, searches=False) for name, facts in models.items()}


def without_compaction(models: Mapping[str, ModelFacts]) -> dict[str, ModelFacts]:
    """The same models for an account that has no on-demand compaction."""
    return {name: replace(facts, compacts=False) for name, facts in models.items()}
