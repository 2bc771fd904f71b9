"""The user's settings from what the editor says of them: each bad value is named, and the default taken in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ullage.session.settings import Settings

if TYPE_CHECKING:
    from ullage.installed_policies import Installed

SECTION = "ullage"

_MINIMUM_CAP = 1_000
"""Tokens; less would be full before the first prompt."""

_DEFAULTS = {field.name: field.default for field in fields(Settings)}


@dataclass(frozen=True, slots=True)
class _Setting:
    """One setting: its name in the editor, the field it fills, what fits it, and that in words (or who says it, where that takes long)."""

    name: str
    field: str
    fits: Callable[[object], bool]
    wanted: str | Callable[[], str]


def _one_of(*values: str) -> tuple[Callable[[object], bool], str]:
    return lambda value: value in values, "one of " + ", ".join(f'"{value}"' for value in values)


def _is_policy(value: object) -> bool:
    return value == _DEFAULTS["policy_name"] or (isinstance(value, str) and value in _installed().policies)


def _a_policy() -> str:
    return "the name of a policy that there is: " + ", ".join(f'"{name}"' for name in _installed().policies)


def _installed() -> Installed:
    # Imported when somebody wants another policy than the default: `initialize` is answered before that.
    from ullage.installed_policies import installed

    return installed()


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_base_url(value: object) -> bool:
    if value == "":
        return True
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
    except ValueError:
        return False
    return parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= _MINIMUM_CAP


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= 86_400


_SETTINGS = (
    _Setting("model.name", "model_name", _is_name, "the name of a model"),
    _Setting("model.baseUrl", "base_url", _is_base_url, "an http(s) address, or empty"),
    _Setting("model.provider", "provider", *_one_of("auto", "anthropic", "practice")),
    _Setting("compaction.auto", "auto_compact", lambda value: isinstance(value, bool), "true or false"),
    _Setting("compaction.cap", "line_cap", _is_whole, f"a whole number of tokens, at least {_MINIMUM_CAP}"),
    _Setting("compaction.policy", "policy_name", _is_policy, _a_policy),
    _Setting("compaction.economy", "economy", *_one_of("cheapest", "balanced", "fullest")),
    _Setting("compaction.summary", "summary_engine", *_one_of("model", "digest")),
    _Setting("bash.timeout", "bash_timeout", _is_seconds, "a number of seconds from 1 to 86400"),
    _Setting("bash.sandbox", "bash_sandbox", *_one_of("auto", "off")),
)


def read_settings(section: object, *, trusted: bool) -> tuple[Settings, list[str]]:
    """The settings, and a sentence for the user about each value that could not be used.

    `section` is the editor's answer for `ullage`: nested objects. What is absent or null takes its default.
    """
    used: dict[str, Any] = {}
    complaints: list[str] = []
    for setting in _SETTINGS:
        value = _value_at(section, setting.name)
        if value is None:
            continue
        if setting.fits(value):
            used[setting.field] = value
        else:
            wanted = setting.wanted if isinstance(setting.wanted, str) else setting.wanted()
            default = _DEFAULTS[setting.field]
            complaints.append(f"The setting {SECTION}.{setting.name} must be {wanted}; its default, {default!r}, is used")
        if setting.field == "policy_name" and value != _DEFAULTS["policy_name"]:
            complaints += _installed().problems
    return Settings(**used, trusted=trusted), complaints


def _value_at(section: object, name: str) -> object:
    value = section
    for key in name.split("."):
        if not isinstance(value, dict):
            return None
        value = cast("dict[str, object]", value).get(key)
    return value
