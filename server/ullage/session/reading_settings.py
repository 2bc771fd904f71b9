"""The user's settings from what an editor or a command line says of them. Each bad value is named, and the default taken in its place.

For two kinds of settings the default could do what the user did not want. Where one says where the model is asked, nobody is asked until it
is mended. Where one says how much is protected, a bad value counts as the strictest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ullage.context.quoting import visible_line
from ullage.session.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ullage.context.policy import Policy
    from ullage.installed_policies import Installed


SECTION = "ullage"

_MINIMUM_CAP = 1_000
"""Tokens of the smallest cap: less would be full before the first prompt."""

_DEFAULTS: dict[str, object] = {field.name: {} if field.default is MISSING else field.default for field in fields(Settings)}


@dataclass(frozen=True, slots=True)
class _Setting:
    """One setting: its name in the editor, the field it fills, what fits it, and that in words (or who says it, where that takes long)."""

    name: str
    field: str
    fits: Callable[[object], bool]
    wanted: str | Callable[[], str]
    read: Callable[[object], object] = lambda value: value
    """Makes the field's value from one that fits."""
    strictest: object = None
    """The value that is taken in the place of a bad one; None: the default is taken."""


def _one_of(*values: str) -> tuple[Callable[[object], bool], str]:
    named = ", ".join(f'"{value}"' for value in values)
    return lambda value: value in values, f"one of {named}"


def _is_policy(value: object) -> bool:
    return value == _DEFAULTS["policy_name"] or (isinstance(value, str) and value in _installed().policies)


def _a_policy() -> str:
    policies = ", ".join(f'"{name}"' for name in _installed().policies)
    return f"the name of a policy that there is: {policies}"


def _installed() -> Installed:
    # Imported when somebody wants another policy than the default: `initialize` is answered before that.
    from ullage.installed_policies import installed

    return installed()


def installed_by_name() -> Mapping[str, Policy]:
    """Every policy that can be used, by name. This loads all of them."""
    return _installed().policies


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


def _is_region(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"([a-z0-9][a-z0-9-]{0,62})?", value) is not None


def _is_project(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"([a-z0-9][a-z0-9.:_-]{0,98})?", value) is not None


def _is_word(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_WORD and value.isprintable()


_LONGEST_WORD = 200


def _facts_of(value: object) -> object:
    # Imported where somebody says something of a model: `initialize` is answered before that.
    from ullage.models.facts import read_facts

    return read_facts(value)


def _are_facts(value: object) -> bool:
    return value == {} or _facts_of(value) is not None


_FACTS = (
    "an object with, for each model by its name, some of window and maxOutput (tokens), images (true or false), inputPrice, outputPrice, "
    "cachedPrice and cacheWritePrice (dollars per million tokens)"
)


def _is_megabytes(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and _LEAST_MEGABYTES <= value <= _MOST_MEGABYTES


_LEAST_MEGABYTES, _MOST_MEGABYTES = 16, 1_048_576


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= _MINIMUM_CAP


def _is_from(least: int, most: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_dollars(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1_000_000


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= 86_400


def _is_percent(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST_PERCENT


_MOST_PERCENT = 20

_PROVIDERS = ("auto", "anthropic", "openai", "bedrock", "vertex", "editor", "practice")

_SETTINGS = (
    _Setting("model.name", "model_name", _is_name, "the name of a model"),
    _Setting("model.effort", "effort", *_one_of("default", "low", "medium", "high", "xhigh", "max")),
    _Setting("model.baseUrl", "base_url", _is_base_url, "an http(s) address, or empty"),
    _Setting("model.provider", "provider", *_one_of(*_PROVIDERS)),
    _Setting("model.facts", "facts", _are_facts, _FACTS, _facts_of),
    _Setting("bedrock.region", "bedrock_region", _is_region, "a region of AWS such as us-east-1, or empty"),
    _Setting("bedrock.profile", "bedrock_profile", _is_word, "the name of a profile of AWS, or empty"),
    _Setting("bedrock.baseUrl", "bedrock_base_url", _is_base_url, "an http(s) address, or empty"),
    _Setting("vertex.region", "vertex_region", _is_region, "a region of Google Cloud such as global or europe-west1, or empty"),
    _Setting("vertex.project", "vertex_project", _is_project, "the id of a Google Cloud project, or empty"),
    _Setting("vertex.baseUrl", "vertex_base_url", _is_base_url, "an http(s) address, or empty"),
    _Setting("compaction.auto", "auto_compact", lambda value: isinstance(value, bool), "true or false"),
    _Setting("compaction.cap", "threshold_cap", _is_whole, f"a whole number of tokens, at least {_MINIMUM_CAP}"),
    _Setting("compaction.policy", "policy_name", _is_policy, _a_policy),
    _Setting("compaction.economy", "economy", *_one_of("cheapest", "balanced", "fullest")),
    _Setting("compaction.summary", "summary_engine", *_one_of("model", "digest")),
    _Setting("store.location", "store_location", lambda value: isinstance(value, str), "the absolute path of a folder, or empty"),
    _Setting("store.url", "store_url", lambda value: isinstance(value, str), "the address of a database, or empty"),
    _Setting("store.workspace", "store_workspace", lambda value: isinstance(value, str), "a name, or empty"),
    _Setting(
        "store.versionsLimit",
        "versions_limit",
        _is_megabytes,
        f"a whole number of megabytes from {_LEAST_MEGABYTES} to {_MOST_MEGABYTES}",
    ),
    _Setting("bash.timeout", "bash_timeout", _is_seconds, "a number of seconds from 1 to 86400"),
    _Setting("instructions.home", "home_files", lambda value: isinstance(value, bool), "true or false"),
    _Setting("hooks.enabled", "hooks", lambda value: isinstance(value, bool), "true or false", strictest=False),
    _Setting("permissions.ask", "ask_for", *_one_of("everything", "notHarmless", "outsideSandbox"), strictest="everything"),
    _Setting("agents.atOnce", "agents_at_once", _is_from(1, 16), "a whole number from 1 to 16"),
    _Setting("agents.perTurn", "agents_per_turn", _is_from(0, 1_000), "a whole number from 0 to 1000"),
    _Setting("agents.maxCost", "agents_max_cost", _is_dollars, "a number of dollars above 0"),
    _Setting("agents.maxTokens", "agents_max_tokens", _is_from(1_000, 1_000_000_000), "a whole number of tokens, at least 1000"),
    _Setting("bash.sandbox", "bash_sandbox", *_one_of("auto", "required", "off"), strictest="required"),
    _Setting("mcp.servers", "mcp_servers", lambda value: isinstance(value, dict), "an object with an MCP server under each name"),
    _Setting("mcp.toolsInFull", "mcp_in_full", _is_percent, f"a number from 0 to {_MOST_PERCENT}"),
)


CLIENTS_OWN = frozenset(
    {
        *("server.command", "server.interpreter", "trace.server"),
        *("notifications.approval", "notifications.done", "notifications.sound"),
    }
)
"""Settings of the section that only the VS Code extension reads."""

_SAYS_WHERE = {
    "model.provider": _PROVIDERS,
    "model.baseUrl": ("auto", "anthropic", "openai"),
    **dict.fromkeys(("bedrock.region", "bedrock.profile", "bedrock.baseUrl"), ("bedrock",)),
    **dict.fromkeys(("vertex.region", "vertex.project", "vertex.baseUrl"), ("vertex",)),
}
"""Settings that say where the model is asked, each with the providers for which it does."""

_KNOWN = CLIENTS_OWN | {setting.name for setting in _SETTINGS}

_MOST_NAMED = 10
"""Most unknown settings that are named in one sentence."""

_LONGEST_NAME = 100
"""Characters of the name of an unknown setting that are shown."""


def read_settings(section: object, *, trusted: bool, shows_questions: bool = True) -> tuple[Settings, list[str]]:
    """Gives the settings, and a sentence for the user about each value that could not be used and about names that are no settings.

    `section` is the editor's answer for `ullage`: nested objects. What is absent or null takes its default. Where something else stands in
    the place of a group, what it would say of where the model is asked and of how much is protected counts as bad.
    """
    used: dict[str, Any] = {}
    complaints = _unknown(section)
    fault = _fault_of_names(section)
    provider = _value_at(section, "model.provider")
    for setting in _SETTINGS:
        value = _value_at(section, setting.name)
        if value is None:
            continue
        page, told = name_on_the_page(f"{SECTION}.{setting.name}"), []
        if setting.fits(value):
            used[setting.field] = setting.read(value)
        elif _decides(setting, provider):
            fault = fault or f'Nothing was sent: the setting "{page}" must be {_wanted(setting)}. Correct it, then continue.'
            told = [f'The setting "{page}" must be {_wanted(setting)}. Until it is, no model is asked']
        elif setting.strictest is not None:
            used[setting.field] = setting.strictest
            told = [f'The setting "{page}" must be {_wanted(setting)}. The strictest value, {setting.strictest!r}, is used']
        else:
            told = [f'The setting "{page}" must be {_wanted(setting)}. Its default, {_DEFAULTS[setting.field]!r}, is used']
        complaints += [] if value is _NO_GROUP else told  # that a group is none was told by its name
        if setting.field == "policy_name" and value != _DEFAULTS["policy_name"]:
            complaints += _installed().problems
    return Settings(**used, endpoint_fault=fault, trusted=trusted, shows_questions=shows_questions), complaints


def _decides(setting: _Setting, provider: object) -> bool:
    """Whether the setting says where the model is asked, with that provider. One that is not known may be any."""
    in_force = _DEFAULTS["provider"] if provider is None else provider
    providers = _SAYS_WHERE.get(setting.name, ())
    return in_force in providers or (bool(providers) and in_force not in _PROVIDERS)


def _wanted(setting: _Setting) -> str:
    return setting.wanted if isinstance(setting.wanted, str) else setting.wanted()


def _fault_of_names(section: object) -> str:
    """The fault where a setting that says where the model is asked is written in another way: a flat key, or other capitals."""
    if not isinstance(section, dict):
        return ""
    known = {name.lower() for name in _SAYS_WHERE}
    for name in _names_in(cast("dict[str, object]", section)):
        if name not in _KNOWN and name.strip('"').removeprefix(f"{SECTION}.").lower() in known:
            written = visible_line(f"{SECTION}.{name}")
            return f"Nothing was sent: `{written}` is not understood, and may say where the model is asked. {_EXAMPLE}."
    return ""


def name_on_the_page(setting: str) -> str:
    """The name of a setting as VS Code's settings page shows it, by the rules of its own (`settingKeyToDisplayFormat`) as far as our names
    need them: `ullage.model.baseUrl` is "Ullage › Model: Base Url"."""
    words = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", part) for part in setting.split(".")]
    *groups, name = [word[:1].upper() + word[1:] for word in words]
    return f"{' › '.join(groups)}: {name}"


def _unknown(section: object) -> list[str]:
    """A sentence for the user about what in the section is no setting; none if all are. It has names alone, since a value may be a
    secret."""
    if section is None:
        return []
    if not isinstance(section, dict):
        return [f"The settings of {SECTION} are no object, so none of them is used. {_EXAMPLE}"]
    names = [name for name in _names_in(cast("dict[str, object]", section)) if name not in _KNOWN]
    if not names:
        return []
    told = ", ".join(visible_line(f"{SECTION}.{name}"[:_LONGEST_NAME]) for name in names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        told = f"{told} and {len(names) - _MOST_NAMED} more"
    if any("." in key for key in cast("dict[str, object]", section)):
        return [f"These settings are passed over: {told}. {_EXAMPLE}"]
    return [f"There are no such settings, so they are passed over: {told}"]


_EXAMPLE = 'Settings are nested objects, as in {"model": {"name": "…"}, "compaction": {"cap": 100000}}'


def _names_in(section: dict[str, object]) -> Iterator[str]:
    """The names of the settings in a section, each in full. A flat key keeps its dot, and so is none of the known."""
    for area, value in section.items():
        inner = cast("dict[str, object]", value) if isinstance(value, dict) else None
        if inner is None or "." in area:
            if value is not None:
                yield f'"{area}"' if "." in area else area
        else:
            yield from (f"{area}.{key}" for key, each in inner.items() if each is not None)


def _value_at(section: object, name: str) -> object:
    """What stands at a name; None if nothing does, and `_NO_GROUP` if something else than a group stands where one should be."""
    value = section
    for key in name.split("."):
        if value is None:
            return None
        if not isinstance(value, dict):
            return _NO_GROUP
        value = cast("dict[str, object]", value).get(key)
    return value


_NO_GROUP = object()
"""Fits no setting."""
