"""Roles, content that must not be empty, the fields of blocks, and how a conversation may end."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.unit.fake_api.bodies import MARK, assistant, call, check, request, result, text, user

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="  # 1 by 1 pixels
PDF = b"%PDF-1.4\n1 0 obj<</Type /Page>>endobj\ntrailer<<>>\nstartxref\n0\n%%EOF"
WIDE_PNG = "iVBORw0KGgoAAAANSUhEUgAAH0EAAAAB"  # the head of one of 8,001 by 1 pixels
BROAD_PNG = "iVBORw0KGgoAAAANSUhEUgAAB9EAAAAB"  # of one of 2,001 by 1
EMPTY_MESSAGE = "all messages must have non-empty content except for the optional final assistant message"
NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def image(**source: Any) -> dict[str, Any]:
    """An image block."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG, **source}}


def document(data: bytes = PDF, **source: Any) -> dict[str, Any]:
    """A document block."""
    encoded = base64.b64encode(data).decode()
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded, **source}}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user("hello")], None),
        ([{"role": "user", "content": "hello"}], None),
        ([user("hello"), assistant("hi"), user("how are you?")], None),
        ([user("one"), user("two")], None),
        ([assistant("hi"), user("hello")], 'messages: first message must use the "user" role'),
        ([{"role": "tool", "content": "x"}], 'messages: Unexpected role "tool"'),
        ([user("hello"), assistant("hi")], NO_PREFILL),
        ([user()], f"messages.0: {EMPTY_MESSAGE}"),
        ([{"role": "user", "content": ""}], f"messages.0: {EMPTY_MESSAGE}"),
        ([user("hello"), assistant(), user("hello?")], f"messages.1: {EMPTY_MESSAGE}"),
        ([user("")], "messages: text content blocks must be non-empty"),
        ([user("  \n")], "messages: text content blocks must contain non-whitespace text"),
        ([{"role": "user", "content": " "}], "messages: text content blocks must contain non-whitespace text"),
        ([user("hello"), assistant(""), user("hello?")], "messages: text content blocks must be non-empty"),
        ([user(text("", cache_control=MARK))], "messages.0.content.0.text: cache_control cannot be set for empty text blocks"),
        ([{"role": "user"}], "messages.0.content: Field required"),
        ([{"role": "user", "content": "x", "id": "m1"}], "messages.0.id: Extra inputs are not permitted"),
        ([{"role": "user", "content": 5}], "messages.0.content: Input should be a valid array"),
        (["hello"], "messages.0: Input should be a valid dictionary"),
        ([user(THINKING)], "`thinking` blocks can only be in `assistant` messages"),
        ([user(image())], None),
        ([user("look"), assistant(image()), user("?")], "`image` blocks can only be in `user` messages"),
        ([user("hello"), assistant(call("a")), user(result("a", [image()]))], None),
        (
            [user("hello"), assistant(call("a")), user(result("a", [text("x"), image()], is_error=True))],
            "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true",
        ),
        ([user(document())], None),
        ([user("look"), assistant(document()), user("?")], "`document` blocks can only be in `user` messages"),
    ],
)
def test_conversation(messages: list[Any], expected: str | None) -> None:
    """What may follow what, and that nothing is empty."""
    check(request(*messages), expected)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (text("hi"), None),
        # What `model_dump()` adds: `citations: null` is taken in a text block and nowhere else.
        (text("hi", citations=None), None),
        (text("hi", parsed_output=None), "content.0.text.parsed_output: Extra inputs are not permitted"),
        (THINKING | {"citations": None}, "messages.1.content.0.thinking.citations: Extra inputs are not permitted"),
        (THINKING | {"cache_control": MARK}, "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
        ({"type": "thinking", "thinking": "hm"}, "messages.1.content.0.thinking.signature: Field required"),
        ({"type": "redacted_thinking", "data": "x", "text": None}, "redacted_thinking.text: Extra inputs are not permitted"),
        (call("a", citations=None), "tool_use.citations: Extra inputs are not permitted"),
        (call("a", caller=None), "tool_use.caller: Input should be a valid dictionary"),
        (call("a", toolset_name=None), None),
        (call("a/b"), "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
        (call("a", name="read file"), "tool_use.name: String should match pattern"),
        (call("a") | {"input": "{}"}, "tool_use.input: Input should be a valid dictionary"),
        ({"type": "tool_use", "id": "a", "name": "x"}, "messages.1.content.0.tool_use.input: Field required"),
        ({"text": "hi"}, "messages.1.content.0.type: Field required"),
        ({"type": "tooluse"}, "messages.1.content.0: Input tag 'tooluse' found using 'type' does not match any of the expected tags"),
        ({"type": "text", "text": None}, "messages.1.content.0.text.text: Input should be a valid string"),
    ],
)
def test_fields_of_blocks(block: dict[str, Any], expected: str | None) -> None:
    """Each block has its fields and no others."""
    answer = [user(result("a"))] if block.get("type") == "tool_use" else [user("go on")]
    check(request(user("hello"), assistant(block), *answer), expected)


def test_citations_of_a_user_text_are_refused() -> None:
    """Version 2026-10-21 takes none that are not empty."""
    citation = {"type": "char_location", "cited_text": "x", "document_index": 0}
    check(request(user(text("hi", citations=[citation]))), "messages.0.content.0.text.citations")


@pytest.mark.parametrize(
    ("model", "last", "expected"),
    [
        ("claude-opus-5-5", "The answer is", NO_PREFILL),
        ("claude-opus-4-6", "The answer is", NO_PREFILL),
        ("claude-sonnet-4-5", "The answer is", None),
        ("claude-haiku-4-5", "The answer is ", "messages: final assistant content cannot end with trailing whitespace"),
    ],
)
def test_prefill(model: str, last: str, expected: str | None) -> None:
    """Only models before 4.6 go on from an assistant message."""
    check(request(user("2+2?"), assistant(last), model=model), expected)


@pytest.mark.parametrize(
    ("model", "messages", "expected"),
    [
        ("claude-opus-5-5", [user("hi"), {"role": "system", "content": "be brief"}], None),
        ("claude-opus-4-8", [user("hi"), {"role": "system", "content": "be brief"}, assistant("ok"), user("so?")], None),
        ("claude-sonnet-5", [user("hi"), {"role": "system", "content": "be brief"}], 'Unexpected role "system"'),
        ("claude-opus-5-5", [{"role": "system", "content": "be brief"}, user("hi")], "use the top-level 'system' parameter"),
        ("claude-opus-5-5", [user("hi"), assistant("ok"), {"role": "system", "content": "x"}], "must directly follow a user message"),
        ("claude-opus-5-5", [user("hi"), {"role": "system", "content": "x"}, user("so?")], "be followed by an assistant message"),
    ],
)
def test_system_messages(model: str, messages: list[dict[str, Any]], expected: str | None) -> None:
    """A system message stands after a user turn, on models that take it."""
    check(request(*messages, model=model), expected)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("You help.", None),
        ([text("You help."), text("Rules.", cache_control=MARK)], None),
        ([text("")], "system: text content blocks must be non-empty"),
        ([text("", cache_control=MARK)], "system.0: cache_control cannot be set for empty text blocks"),
        ([text(" ")], "system: text content blocks must contain non-whitespace text"),
        ([image()], "system.0: Input tag 'image' found using 'type' does not match"),
        (5, "system: Input should be a valid array"),
    ],
)
def test_system_prompt(system: Any, expected: str | None) -> None:
    """The system prompt is a string or text blocks."""
    check(request(system=system), expected)


@pytest.mark.parametrize(
    ("images", "model", "expected"),
    [
        ([image()] * 600, "claude-opus-5-5", None),
        ([image()] * 601, "claude-opus-5-5", "too many images: 601 > 600 maximum"),
        ([image()] * 101, "claude-haiku-4-5", "too many images: 101 > 100 maximum"),
        ([image(data="")], "claude-opus-5-5", "image cannot be empty"),
        ([image(data=WIDE_PNG)], "claude-opus-5-5", "image dimensions exceed max allowed size: 8000 pixels"),
        ([image(data="A" * (10 * 1024 * 1024 + 1))], "claude-opus-5-5", "image exceeds 10 MB maximum"),
        ([image()] * 20 + [image(data=BROAD_PNG)], "claude-opus-5-5", "max allowed size for many-image requests: 2000 pixels"),
        ([image()] * 19 + [image(data=BROAD_PNG)], "claude-opus-5-5", None),
        ([image(data="AA%A")], "claude-opus-5-5", "invalid base64 data"),
        ([image(media_type="image/jpeg")], "claude-opus-5-5", "Could not process image"),
        ([document(PDF * 600)], "claude-opus-5-5", None),
        ([document(PDF * 601)], "claude-opus-5-5", "A maximum of 600 PDF pages"),
        ([document(b"%PDF-1.4 cut off")], "claude-opus-5-5", "The PDF specified was not valid"),
        ([document(PDF + b"/Encrypt 4 0 R")], "claude-opus-5-5", "password protected"),
        ([document(media_type="text/plain")], "claude-opus-5-5", "Input should be 'application/pdf'"),
        ([image(media_type="image/bmp")], "claude-opus-5-5", "media_type: Input should be 'image/jpeg'"),
        ([{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}], "claude-opus-5-5", None),
    ],
)
def test_images(images: list[dict[str, Any]], model: str, expected: str | None) -> None:
    """How many and how large."""
    check(request(user(*images), model=model), expected)
