"""Images and PDFs of entries as the panel shows them."""

from __future__ import annotations

from ullage.context.blocks import Media
from ullage.context.counting.media import in_words
from ullage.context.entries import ToolReturned, UserPrompt
from ullage.session.items import ShownMedia
from ullage.store.media import shown_path


def of_prompt(prompt: UserPrompt) -> tuple[ShownMedia, ...]:
    """Those that were attached."""
    return tuple(_shown(each.name, each.text, each.media) for each in prompt.attachments if each.media is not None)


def of_result(result: ToolReturned) -> tuple[ShownMedia, ...]:
    """Those that the model got with the result."""
    name = result.touched[0].path if len(result.touched) == 1 else ""
    return tuple(_shown(name, result.content, media) for media in result.media)


def _shown(name: str, told: str, media: Media) -> ShownMedia:
    return ShownMedia(name, _as_told(told, in_words(media)), shown_path(media))


def _as_told(told: str, words: str) -> str:
    """The words as the model got them, with the tokens that it takes for that model."""
    start = told.find(words)
    return words if start < 0 else told[start:].partition("\n")[0]
