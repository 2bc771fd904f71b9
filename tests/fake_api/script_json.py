"""The script as JSON, for tests that drive the fake as a process. README.md lists the forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fake_api.json_values import JsonObject, is_array, is_object
from tests.fake_api.script import (
    Call,
    Cite,
    EndsAfter,
    ErrorAfter,
    Fail,
    Hang,
    HoldsAfter,
    Html,
    Interruption,
    Outcome,
    Page,
    RedactedThink,
    Reply,
    ReplyBlock,
    ResetConnection,
    ResetsAfter,
    Rule,
    Say,
    Script,
    Search,
    Think,
)


class BadScript(ValueError):
    """A JSON form that is none; `str()` names the place."""


def script_from_file(path: Path) -> Script:
    """A script from a file: `{"queue": [outcome …], "rules": [rule …]}`. Raises `BadScript`."""
    value = json.loads(path.read_text(encoding="utf-8"))
    if not is_object(value):
        raise BadScript(f"{path}: a script is an object with `queue` and `rules`")
    _only(value, "script", "queue", "rules")
    queue = outcomes_from_json(value.get("queue", []))
    return Script(queue, rules_from_json(value.get("rules", [])))


def outcomes_from_json(value: Any) -> list[Outcome]:
    """A list of outcomes. Raises `BadScript`."""
    return [outcome_from_json(item) for item in _items(value, "outcomes")]


def rules_from_json(value: Any) -> list[Rule]:
    """A list of rules. Raises `BadScript`."""
    return [_rule(item) for item in _items(value, "rules")]


def outcome_from_json(value: Any) -> Outcome:
    """One outcome. Raises `BadScript`."""
    if is_array(value):
        return Reply(tuple(_block(item) for item in value))
    item = _object(value, "outcome")
    for name, parse in _OUTCOMES.items():
        if name in item:
            return parse(item)
    return Reply((_block(item),))


def _reply(item: JsonObject) -> Reply:
    _only(item, "reply", "reply", "stop_reason", "chunk_size", "first_delay", "delay", "interruption")
    interruption = item.get("interruption")
    return Reply(
        tuple(_block(block) for block in _items(item["reply"], "reply")),
        stop_reason=item.get("stop_reason"),
        chunk_size=int(item.get("chunk_size", Reply.__dataclass_fields__["chunk_size"].default)),
        first_delay=float(item.get("first_delay", 0.0)),
        delay=float(item.get("delay", 0.0)),
        interruption=None if interruption is None else _interruption(interruption),
    )


def _fail(item: JsonObject) -> Fail:
    _only(item, "fail", "fail", "type", "message", "headers", "error_code")
    status = int(item["fail"])
    kind, message = _ERRORS.get(status, ("api_error", "Internal server error"))
    return Fail(status, str(item.get("type", kind)), str(item.get("message", message)), item.get("headers", {}), item.get("error_code"))


def _html(item: JsonObject) -> Html:
    _only(item, "html", "html", "body")
    status = int(item["html"])
    return Html(status, str(item["body"])) if "body" in item else Html(status)


def _hang(item: JsonObject) -> Hang:
    _only(item, "hang", "hang")
    then = outcome_from_json(item["hang"])
    if not isinstance(then, Reply):
        raise BadScript("hang: what comes after is a reply")
    return Hang(then)


def _reset(item: JsonObject) -> ResetConnection:
    _only(item, "reset", "reset")
    return ResetConnection()


_OUTCOMES: dict[str, Callable[[JsonObject], Outcome]] = {
    "reply": _reply,
    "fail": _fail,
    "html": _html,
    "hang": _hang,
    "reset": _reset,
}

_ERRORS = {
    400: ("invalid_request_error", "Bad request"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "Forbidden"),
    404: ("not_found_error", "Not Found"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Gateway Timeout"),
    529: ("overloaded_error", "Overloaded"),
}
"""Type and message of a failure that names only its status (section 1.4)."""


def _block(value: Any) -> ReplyBlock:
    item = _object(value, "block")
    if "say" in item:
        _only(item, "say", "say")
        return Say(str(item["say"]))
    if "think" in item:
        _only(item, "think", "think")
        return Think(str(item["think"]))
    if "call" in item:
        _only(item, "call", "call", "input", "id")
        return Call(str(item["call"]), _object(item.get("input", {}), "input"), item.get("id"))
    if "search" in item:
        _only(item, "search", "search", "pages", "error")
        pages = tuple(_page(page) for page in _items(item.get("pages", []), "pages"))
        return Search(str(item["search"]), pages, item.get("error"))
    if "cite" in item:
        _only(item, "cite", "cite", "page", "quoted")
        return Cite(str(item["cite"]), _page(item["page"]), str(item["quoted"]))
    if "redacted" in item:
        _only(item, "redacted", "redacted")
        return RedactedThink()
    raise BadScript(f"neither a block nor an outcome: {json.dumps(item)[:200]}")


def _page(value: Any) -> Page:
    item = _object(value, "page")
    _only(item, "page", "title", "url", "text", "age")
    return Page(str(item["title"]), str(item["url"]), str(item.get("text", "")), item.get("age"))


def _interruption(value: Any) -> Interruption:
    item = _object(value, "interruption")
    if "ends_after" in item:
        return EndsAfter(int(item["ends_after"]))
    if "resets_after" in item:
        return ResetsAfter(int(item["resets_after"]))
    if "holds_after" in item:
        return HoldsAfter(int(item["holds_after"]))
    if "error_after" in item:
        return ErrorAfter(
            int(item["error_after"]),
            str(item.get("type", "overloaded_error")),
            str(item.get("message", "Overloaded")),
        )
    raise BadScript(f"no interruption: {json.dumps(item)[:200]}")


def _rule(value: Any) -> Rule:
    item = _object(value, "rule")
    _only(item, "rule", "when", "outcome", "times")
    if not isinstance(item.get("when"), str):
        raise BadScript("rule: `when` is a regular expression for the last user text")
    return Rule(item["when"], outcome_from_json(item.get("outcome")), item.get("times"))


def _object(value: Any, what: str) -> JsonObject:
    if not is_object(value):
        raise BadScript(f"{what}: an object is expected, not {json.dumps(value)[:200]}")
    return value


def _items(value: Any, what: str) -> list[Any]:
    if not is_array(value):
        raise BadScript(f"{what}: a list is expected, not {json.dumps(value)[:200]}")
    return value


def _only(item: JsonObject, what: str, *names: str) -> None:
    for name in item:
        if name not in names:
            raise BadScript(f"{what}: unknown key `{name}`; known are {', '.join(names)}")
