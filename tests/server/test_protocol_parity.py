"""PROTOCOL.md, the wire types of both sides and the fixtures say the same."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args

import attrs
import pytest

from ullage.lsp import messages, protocol
from ullage.lsp.messages import camel_case, make_converter
from ullage.lsp.protocol import items, prompts, sessions, updates
from ullage.session.errors import Reason
from ullage.session.slash_commands import COMMANDS

ROOT = Path(__file__).parents[2]
FIXTURES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "tests/protocol/fixtures").glob("*.json"))}
CONVERTER = make_converter()
METHOD = re.compile(r"[`\"](ullage/\w+/\w+)[`\"]")


def of_type(kind: str) -> list[Any]:
    return [pytest.param(fixture, id=name) for name, fixture in FIXTURES.items() if fixture["type"] == kind]


def check_exact(value: object, kind: Any) -> Any:
    read = CONVERTER.structure(value, kind)
    assert CONVERTER.unstructure(read, kind) == value
    return read


def check_message(params: object, method: str) -> Any:
    message = {"method": method, "params": params, "jsonrpc": "2.0"}
    if method in messages.REQUESTS:
        message["id"] = 7
    read = CONVERTER.structure(message, messages.MESSAGES[method])
    assert CONVERTER.unstructure(read) == message
    return read.params


def fields_of(value: Any) -> list[tuple[str, bool]]:
    """Name, and whether it is required."""
    return [(field.name, field.default is attrs.NOTHING) for field in attrs.fields(value.__class__)]


def check_complete(read: Any, tagged: dict[str, Any]) -> None:
    """A complete example has every field; one that is None would not be on the wire."""
    assert [name for name, _ in fields_of(read) if getattr(read, name) is None] == []
    assert {camel_case(name) for name, _ in fields_of(read)} == set(tagged) - {"kind"}


def check_minimal(read: Any, tagged: dict[str, Any]) -> None:
    """A minimal example has the required fields alone."""
    required = {camel_case(name) for name, is_required in fields_of(read) if is_required}
    assert set(tagged) - {"kind"} == required


@pytest.mark.parametrize("fixture", of_type("request"))
def test_requests_are_read_and_written_exactly(fixture: dict[str, Any]) -> None:
    method = fixture["method"]
    sender = messages.REQUESTS_OF_CLIENT if fixture["from"] == "client" else messages.REQUESTS_OF_SERVER
    result_type = sender[method][1]
    check_complete(check_message(fixture["complete"]["params"], method), fixture["complete"]["params"])
    check_minimal(check_message(fixture["minimal"]["params"], method), fixture["minimal"]["params"])
    check_complete(check_exact(fixture["complete"]["result"], result_type), fixture["complete"]["result"])
    check_minimal(check_exact(fixture["minimal"]["result"], result_type), fixture["minimal"]["result"])


@pytest.mark.parametrize("fixture", of_type("notification"))
def test_notifications_are_read_and_written_exactly(fixture: dict[str, Any]) -> None:
    for example in ("complete", "minimal"):
        check_complete(check_message(fixture[example]["params"], fixture["method"]), fixture[example]["params"])


@pytest.mark.parametrize("fixture", [*of_type("Item"), *of_type("Update")])
def test_items_and_updates_are_read_and_written_exactly(fixture: dict[str, Any]) -> None:
    for check, example in ((check_complete, fixture["complete"]), (check_minimal, fixture["minimal"])):
        if fixture["type"] == "Item":
            (read,) = check_exact({"items": [example], "earlier": 0}, sessions.ItemsResult).items
        else:
            read = check_message({"sessionId": "s", "seq": 1, "update": example}, protocol.UPDATE).update
        check(read, example)


def test_every_method_and_kind_has_a_fixture() -> None:
    methods = {fixture["method"] for fixture in FIXTURES.values() if "method" in fixture}
    assert methods == set(messages.MESSAGES)
    for union, kinds in (("Item", items.ITEM_KINDS), ("Update", updates.UPDATE_KINDS)):
        shown = {fixture["complete"]["kind"] for fixture in FIXTURES.values() if fixture["type"] == union}
        assert shown == set(kinds.values())


def test_every_class_of_a_union_has_a_kind() -> None:
    for union, kinds in (
        (items.Item, items.ITEM_KINDS),
        (updates.Update, updates.UPDATE_KINDS),
        (prompts.AttachmentRef, prompts.ATTACHMENT_KINDS),
    ):
        assert set(get_args(union)) == set(kinds)


@pytest.mark.parametrize("path", ["PROTOCOL.md", "client-extension/src/protocol.ts"])
def test_the_same_methods_stand_everywhere(path: str) -> None:
    assert set(METHOD.findall((ROOT / path).read_text("utf-8"))) == set(messages.MESSAGES)


def test_the_same_error_reasons_stand_everywhere() -> None:
    text = (ROOT / "PROTOCOL.md").read_text("utf-8")
    assert set(get_args(Reason)) == set(FIXTURES["error"]["reasons"])
    for reason in get_args(Reason):
        assert f"`{reason}`" in text


def test_the_fixture_lists_the_commands_that_there_are() -> None:
    """The panel's own list is held against the same fixture."""
    listed = [each for each in FIXTURES["ullage.command.list"]["complete"]["result"]["commands"] if "source" not in each]
    assert [(each["name"], each["description"], each.get("input", {}).get("hint", "")) for each in listed] == [
        (command.name, command.description, command.hint) for command in COMMANDS
    ]


def test_every_field_stands_in_the_contract() -> None:
    text = (ROOT / "PROTOCOL.md").read_text("utf-8")
    words = set(re.findall(r"[A-Za-z]+", text))
    modules = [import_module(f"{protocol.__name__}.{each.name}") for each in iter_modules(protocol.__path__)]
    for module in (protocol, *modules):
        for kind in vars(module).values():
            if isinstance(kind, type) and attrs.has(kind):
                missing = {camel_case(field.name) for field in attrs.fields(kind)} - words
                assert missing == set(), kind.__name__


@pytest.mark.parametrize(
    "params",
    [
        {"text": "no session"},
        {"sessionId": 4, "text": "a number for a text"},
        {"sessionId": "s", "text": None},
        {"sessionId": "s", "text": "t", "delivery": "now"},
        {"sessionId": "s", "text": "t", "attachments": [{"kind": "folder", "uri": "u"}]},
        [],
        None,
    ],
)
def test_a_message_that_does_not_fit_is_not_guessed(params: object) -> None:
    with pytest.raises(Exception, match=r".+"):
        check_message(params, protocol.PROMPT)


def test_unknown_keys_are_passed_over_and_null_is_absent() -> None:
    read = CONVERTER.structure({"sessionId": "s", "text": "t", "delivery": None, "color": "red"}, prompts.PromptParams)
    assert read == prompts.PromptParams("s", "t")
