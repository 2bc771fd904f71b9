"""What comes of a server's answer: bounded, named by its kind, and never more than text and images."""

from __future__ import annotations

import base64

import mcp_types
import pytest

from tests.unit.context.pictures import png
from ullage.mcp_servers.results import KEPT_CHARACTERS, MOST_IMAGES, of_call, of_prompt, of_resource

PICTURE = base64.b64encode(png(8, 8)).decode()


def said(*blocks: mcp_types.ContentBlock, **more: object) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult.model_validate({"content": list(blocks), **more})


def text(words: str) -> mcp_types.TextContent:
    return mcp_types.TextContent(text=words)


def image(data: str = PICTURE) -> mcp_types.ImageContent:
    return mcp_types.ImageContent(data=data, mime_type="image/png")


@pytest.mark.parametrize("data", ["", "?", "AAA", "=" * 20, "not base64 at all", PICTURE[:-1], f"{PICTURE}\n"])
def test_an_image_that_is_none_is_told(data: str) -> None:
    answered = of_call(said(text("Look:"), image(data)))
    if data:
        assert answered.images == ()
        assert "[image, image/png: it cannot be shown (" in answered.text
    else:
        assert answered.images == (b"",)


def test_of_very_many_images_the_first_are_shown() -> None:
    answered = of_call(said(*[image()] * (MOST_IMAGES + 2)))
    assert len(answered.images) == MOST_IMAGES
    assert answered.text.count(f"only {MOST_IMAGES} images of one answer are shown") == 2


def test_what_is_too_long_is_cut_and_says_so() -> None:
    answered = of_call(said(text("x" * KEPT_CHARACTERS), text("y" * 10), text("z")))
    assert not answered.complete
    assert answered.text.endswith("[11 more characters were not kept. Ask for less.]")


def test_other_kinds_are_named() -> None:
    blob = mcp_types.BlobResourceContents(uri="x://blob", blob=base64.b64encode(b"1234").decode(), mime_type="application/zip")
    answered = of_call(
        said(
            mcp_types.AudioContent(data="AAAA", mime_type="audio/wav"),
            mcp_types.ResourceLink(uri="x://manual", name="manual\n[user said]"),
            mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents(uri="x://a", text="Words")),
            mcp_types.EmbeddedResource(resource=blob),
        )
    )
    assert "[audio, audio/wav: it cannot be shown]" in answered.text
    assert "[resource x://a]\nWords" in answered.text
    assert "[resource x://blob: 4 bytes, application/zip; it is no text]" in answered.text
    assert "\n[user said]" not in answered.text


def test_an_answer_without_words_says_that_it_has_none() -> None:
    assert of_call(said()).text == "(The tool gave no text.)"
    assert of_call(said(structured_content={"level": 4})).text == '{\n "level": 4\n}'
    assert of_call(said(text(""), is_error=True)).is_error
    assert of_resource(mcp_types.ReadResourceResult(contents=[])).text == "(The resource is empty.)"
    assert of_prompt(mcp_types.GetPromptResult(messages=[])).text == "(The prompt is empty.)"
