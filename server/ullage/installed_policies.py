"""Every policy that there is: those that come with Ullage, and those that other packages bring through the entry point `ullage.policies`.

`context/policy.py` says what a policy is. Packages are loaded when policies are first asked for, once in a process; one that does not
load costs its own policies and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import cast, get_args

from ullage.context.engines.engine import Engine
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import (
    BelowWindow,
    FixedCharacters,
    FixedTokens,
    FullAt,
    Measure,
    Policy,
    RestoreOptions,
    ShareOfWindow,
    ThresholdOptions,
)

GROUP = "ullage.policies"
"""The group of entry points. Each gives a `Policy` or an iterable of them."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
_ANSWERS = ("arrive", "upkeep", "plan", "summarise")

_QUOTED = re.compile(r"'(\w+)'")
RENAMED = {
    "Handoff": "SummaryText",
    "handoff": "summarise",
    "line": "threshold",
    "LineNumbers": "ThresholdOptions",
    "ClipNumbers": "ClipOptions",
    "ClearNumbers": "ClearOptions",
    "SnipNumbers": "SnipOptions",
    "SummaryNumbers": "SummaryOptions",
    "RestoreNumbers": "RestoreOptions",
    "UllageNumbers": "UllageOptions",
}
"""The names that a package for an earlier version may ask for, each with its name now."""


@dataclass(frozen=True, slots=True)
class Installed:
    """All policies that were found, and what was wrong with others."""

    policies: Mapping[str, Policy]
    """The policies by name: those of Ullage first, then those of packages by name."""
    packages: Mapping[str, str]
    """The name and version of the package that brought a policy, by the policy's name. Policies of Ullage itself are not in it."""
    problems: tuple[str, ...]
    """A sentence for the user about each thing that a package brought and that cannot be used."""


def policies() -> Mapping[str, Policy]:
    """All policies that can be used, by name."""
    return installed().policies


@cache
def installed() -> Installed:
    """All policies, with the packages that brought them, and what could not be used."""
    found = dict(BUILT_IN)
    packages: dict[str, str] = {}
    problems: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (_package(point), point.name)):
        brought = f"The policies {point.name!r} of the package {_package(point)}"
        try:
            values = _loaded(point)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a package does when it is loaded, the others go on
            problems.append(f"{brought} cannot be loaded{_why(error)}: {type(error).__name__}: {error}")
            continue
        for value in values:
            fault = fault_in(value)
            if fault:
                problems.append(f"{brought} cannot be used: {fault}")
                continue
            policy = cast("Policy", value)
            if policy.name in found:
                owner = packages.get(policy.name, "Ullage itself")
                problems.append(f"{brought} cannot be used: there is a policy {policy.name!r} already, from {owner}")
                continue
            found[policy.name] = policy
            packages[policy.name] = _package(point)
    others = sorted(packages)
    return Installed({**BUILT_IN, **{name: found[name] for name in others}}, packages, tuple(problems))


def _loaded(point: EntryPoint) -> tuple[object, ...]:
    value = point.load()
    if isinstance(value, Policy) or not isinstance(value, Iterable) or isinstance(value, str):
        return (value,)
    return tuple(cast("Iterable[object]", value))


def _why(error: BaseException) -> str:
    """Why a package may not have loaded, as an addition to the message; empty if that is not known. It may ask for a part of Ullage that
    has another name in this version."""
    is_ours = isinstance(error, ImportError) and (error.name or "").split(".")[0] == "ullage"
    if not is_ours and not (isinstance(error, TypeError) and str(error).startswith("Policy.__init__()")):
        return ""
    renamed = next((name for name in _QUOTED.findall(str(error)) if name in RENAMED), None)
    now = "" if renamed is None else f" ({renamed} is called {RENAMED[renamed]} now)"
    return f", since it was written for another version of Ullage{now}"


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value.partition(":")[0]


def fault_in(value: object) -> str:
    """What is wrong with a value that should be a policy, in words for its author; empty if it can be used."""
    if not isinstance(value, Policy):
        return f"{value!r:.80} is no ullage.context.policy.Policy"
    if not _is_text(value.name) or not _NAME.fullmatch(value.name):
        return f"{value.name!r:.80} is no name for a policy: small letters, digits and hyphens, beginning with a letter or digit"
    who = f"the policy {value.name!r}"
    missing = [name for name in _ANSWERS if not callable(getattr(value.engine, name, None))]
    if missing:
        return f"the engine of {who} has no {', '.join(missing)}"
    if hasattr(value.engine, "handoff"):  # of `Unchanging` it would have a `summarise` that it does not mean
        return f"the engine of {who} was written for another version of Ullage: handoff is called {RENAMED['handoff']} now"
    fault = _fault_in_attributes(value.engine)
    if fault:
        return f"the engine of {who} {fault}"
    if (
        not _is_text(value.title)
        or not isinstance(cast("object", value.sources), tuple)
        or not all(_is_text(source) for source in value.sources)
    ):
        return f"{who} needs a title (text) and sources (a tuple of texts)"
    if value.measure not in get_args(Measure):
        known = ", ".join(map(repr, get_args(Measure)))
        return f"the measure of {who} is {value.measure!r:.80}, which is none of {known}"
    if value.restore is not None and not isinstance(cast("object", value.restore), RestoreOptions):
        return f"what {who} restores is neither None nor RestoreOptions"
    return _fault_in_threshold(value.threshold, who)


def _fault_in_attributes(engine: Engine) -> str:
    """What is wrong with the attributes that an engine has beside its answers; empty if nothing is. They are asked for once, here: sessions
    rely on them."""
    try:
        tools, sweeps = cast("object", engine.tools), cast("object", engine.sweeps)
        flags: dict[str, object] = {"keeps_up": engine.keeps_up, "wants_files": engine.wants_files}
    except AttributeError as error:
        return f"has no {error.name}: begin it with ullage.context.engines.engine.Unchanging"
    except Exception as error:  # noqa: BLE001 - it may be computed, by anybody's code
        return f"cannot be asked what it needs: {type(error).__name__}: {error}"
    if not isinstance(tools, frozenset) or not all(_is_text(name) for name in cast("frozenset[object]", tools)):
        return f"has for tools {tools!r:.80}, which is no frozenset of names"
    if not _is_count(sweeps):
        return f"has for sweeps {sweeps!r:.80}, which is no whole number over 0"
    wrong = [name for name, value in flags.items() if not isinstance(value, bool)]
    return f"has for {wrong[0]} {flags[wrong[0]]!r:.80}, which is neither True nor False" if wrong else ""


def _fault_in_threshold(threshold: object, who: str) -> str:
    if not isinstance(threshold, ThresholdOptions) or not isinstance(cast("object", threshold.full_at), get_args(FullAt)):
        known = ", ".join(kind.__name__ for kind in get_args(FullAt))
        return f"the threshold of {who} is not ThresholdOptions with one of {known}"
    for name in ("warn_share", "error_share", "hold_share"):
        if not _is_share(getattr(threshold, name)):
            return f"{name} of {who} is {getattr(threshold, name)!r:.80}: it must be over 0 and at most 1"
    match threshold.full_at:
        case ShareOfWindow(share) if not _is_share(share):
            return f"the threshold of {who} is at {share!r:.80} of the window: it must be over 0 and at most 1"
        case FixedTokens(count) | FixedCharacters(count) if not _is_count(count):
            return f"the threshold of {who} is at {count!r:.80}: it must be a whole number over 0"
        case ShareOfWindow(_, most) | BelowWindow(_, _, most) if most is not None and not _is_count(most):
            return f"the threshold of {who} is at {most!r:.80} at the latest: it must be a whole number over 0"
        case ShareOfWindow(_, _, least) if not _is_count(least, 0):
            return f"the threshold of {who} is not before {least!r:.80}: it must be a whole number, 0 or more"
        case BelowWindow(reserve, margin) if not (_is_count(reserve, 0) and _is_count(margin, 0)):
            return f"the threshold of {who} keeps {reserve!r:.80} and {margin!r:.80} free: they must be whole numbers, 0 or more"
        case _:
            return ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1


def _is_count(value: object, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
