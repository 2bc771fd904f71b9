"""Which images and documents of a request are shown, and which are told in words: what a model takes of them at once.

A request that the API refuses for its images would be refused again at every later call, since they stay where they are. So what it would
not take is not sent: the first ones that it takes together are shown, and what comes after them is told in words. Since the first ones
stay the first as the conversation grows, the prefix stays as it is. Whoever brings images in sees to it that this does not come about
(`tools/media.py`); it does after an undo, and where another model is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ullage.context.blocks import Block, Document, Image, Media, Text, ToolResult, base64_size
from ullage.context.counting.media import in_words, media_of
from ullage.context.view.message import Message

MOST_BYTES = 20_000_000
"""Of images and documents in a request, in base64. The API takes 32 MB in all; a million tokens of text is some 4 MB, a little more as
JSON."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What images and documents weigh in a request."""

    items: int = 0
    """Images, and pages of documents."""
    size: int = 0
    """Bytes in base64."""

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.items + other.items, self.size + other.size)


@dataclass(frozen=True, slots=True)
class Room:
    """What a model takes of them in one request."""

    items: int
    size: int = MOST_BYTES
    images: bool = True
    documents: bool = True

    def holds(self, weight: Weight) -> bool:
        """Whether so much may be sent at once."""
        return weight.items <= self.items and weight.size <= self.size

    def takes(self, media: Media) -> bool:
        """Whether the model can be shown such a thing at all."""
        return self.images if isinstance(media, Image) else self.documents


NO_ROOM = Room(0, images=False, documents=False)
"""Nothing is shown."""


def weight_of(media: Media) -> Weight:
    """Of one."""
    return Weight(media.pages if isinstance(media, Document) else 1, base64_size(media))


def shown_in(message: Message) -> tuple[Media, ...]:
    """All that a message shows, in order."""
    return tuple([media for block in message.blocks for media in media_of(block)])


def within(message: Message, so_far: Weight, room: Room) -> tuple[Message, Weight]:
    """The message with what there is room for after what came before it, and how much that is then. The message itself where all fits."""
    shown: set[int] = set()
    everything = shown_in(message)
    for index, media in enumerate(everything):
        more = so_far + weight_of(media)
        if room.takes(media) and room.holds(more):
            shown.add(index)
            so_far = more
    if len(shown) == len(everything):
        return message, so_far
    return _with_only(message, shown), so_far


def _with_only(message: Message, shown: set[int]) -> Message:
    """The message without the others, in whose place there are words."""
    blocks: list[Block] = []
    index = 0
    for block in message.blocks:
        media = media_of(block)
        kept = [each for place, each in enumerate(media, index) if place in shown]
        left_out = [not_shown(each) for place, each in enumerate(media, index) if place not in shown]
        index += len(media)
        if not left_out:
            blocks.append(block)
        elif isinstance(block, ToolResult):
            blocks.append(replace(block, content="\n".join((block.content, *left_out)), media=tuple(kept)))
        else:
            blocks.append(Text(not_shown(media[0])))
    return Message(message.role, tuple(blocks), message.sources)


def not_shown(media: Media) -> str:
    """What stands for one that is not sent."""
    return f"[{in_words(media)}: not shown, since the model cannot be shown any more of these at once, or none of this kind]"
