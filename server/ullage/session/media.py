"""What the model of one session can still be shown, and where the bytes of it go: the shelf of its tools and attachments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ullage.context.blocks import Media
from ullage.context.counting.media_room import Weight, shown_in, weight_of
from ullage.context.view.message import Message
from ullage.models.model import ModelCard
from ullage.store.media import MediaFiles
from ullage.tools.media import Sight


class SessionShelf:
    """Implements `ullage.tools.media.Shelf` for one session."""

    def __init__(self, files: MediaFiles, card: Callable[[], ModelCard], messages: Callable[[], Sequence[Message]]) -> None:
        self._files = files
        self._card = card
        self._messages = messages

    def sight(self) -> Sight:
        """Looks through what is in view: asked only where an image is about to be shown."""
        card = self._card()
        in_view = sum((weight_of(media) for message in self._messages() for media in shown_in(message)), Weight())
        return Sight(card.display_name, card.media_room, in_view, card.images, card.window)

    def keep(self, data: bytes, media: Media) -> None:
        """Raises `StoreFailed`."""
        self._files.keep(data, media)
