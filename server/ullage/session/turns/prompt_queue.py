"""The prompts of one session that wait: durable from the moment they are sent, until their turn begins.

One that would not fit into the model's window even alone would be in the way for good, so it is refused before it waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Attachment, UserPrompt
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError
from ullage.session.timeline.items import NoticeItem, UserItem
from ullage.session.timeline.shown_entries import of_prompt
from ullage.store.log_store import LogStore

WAITING = "nwaiting"
"""Id of the notice that prompts wait while nothing is being done."""

MOST_CHARACTERS = 4_000_000
"""Of a prompt, whatever the window: as many tokens as no model takes."""

SURELY_FITS = 20_000
"""Characters of a prompt for which nobody has to know the window."""

TOO_LONG = (
    "The prompt has {:,} characters; about {:,} of this text fit. Save the rest as a file in the workspace and name its path in the "
    "prompt: the agent then reads the parts that it needs."
)


class PromptQueue:
    """First come, first served, except for those that join a running turn."""

    def __init__(self, conversation: Conversation, store: LogStore) -> None:
        self._conversation = conversation
        self._store = store
        self._waiting = _in_order(store.prompts.of(conversation.session_id))
        self._next: str | None = None
        self._held_back = False

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def goes_on(self) -> bool:
        """Whether something waits, and not for the user to say so."""
        return bool(self._waiting) and not self._held_back

    def show(self) -> None:
        """Shows what was waiting when the server ended."""
        for prompt in self._waiting:
            self._show(prompt)
        self.offer()

    def offer(self) -> None:
        """Nothing is being done any more: what still waits is sent when the user says so."""
        self._held_back = bool(self._waiting)
        if self._waiting:
            at = self._conversation.clock()
            self._conversation.timeline.put(NoticeItem(WAITING, at, "info", "Prompts are waiting. Press Continue to go on.", "continue"))

    def add(self, prompt: UserPrompt) -> None:
        """Puts a prompt at the end. Raises `StoreFailed`."""
        self._store.prompts.add(self._conversation.session_id, prompt)
        self._waiting = _in_order([*self._waiting, prompt])
        self._held_back = False
        self._show(prompt)

    def remove(self, prompt_id: str) -> Sequence[Attachment]:
        """Takes a waiting prompt back, and gives what was attached to it. Raises `SessionError`."""
        if prompt_id == self._next:
            raise SessionError("no_such_item", "This prompt is being answered already. You can stop it")
        if not self._store.prompts.take_back(prompt_id):
            raise SessionError("no_such_item", "This prompt is no longer waiting")
        attached = next((prompt.attachments for prompt in self._waiting if prompt.id == prompt_id), ())
        self._waiting = [prompt for prompt in self._waiting if prompt.id != prompt_id]
        self._conversation.timeline.remove(prompt_id)
        if not self._waiting:
            self._conversation.timeline.remove(WAITING)
        return attached

    def next(self) -> UserPrompt:
        """The first one, whose turn begins: it can no longer be taken back, and stands here until `start`. Raises `IndexError`."""
        self._conversation.timeline.remove(WAITING)
        self._held_back = False
        self._next = self._waiting[0].id
        return self._waiting[0]

    def start(self, prompt: UserPrompt) -> None:
        """Moves a prompt from the queue to the log, all at once."""
        self._next = None
        logged = self._store.prompts.start(self._conversation.session_id, prompt.id, self._conversation.clock())
        self._waiting = [each for each in self._waiting if each.id != prompt.id]
        if logged.entry == prompt:
            logged = replace(logged, entry=prompt)  # not a second copy of its text
        self._conversation.show(logged)

    def start_steering(self) -> bool:
        """Lets those that were meant for the running turn join it; whether there were any."""
        joining = [prompt for prompt in self._waiting if prompt.steering]
        for prompt in joining:
            self.start(prompt)
        return bool(joining)

    def _show(self, prompt: UserPrompt) -> None:
        names = tuple(attachment.name for attachment in prompt.attachments)
        at = self._conversation.clock()
        self._conversation.timeline.put(UserItem(prompt.id, at, prompt.text, names, True, of_prompt(prompt), prompt.steering))


def _in_order(prompts: Sequence[UserPrompt]) -> list[UserPrompt]:
    """As they are sent: those that were meant for the running turn first, which may have been stopped meanwhile."""
    return sorted(prompts, key=lambda prompt: not prompt.steering)


def refuse_too_long(text: str, fits: int) -> None:
    """Raises `SessionError` where the prompt has more than `fits` tokens."""
    if len(text) > MOST_CHARACTERS or estimate_text(text) > fits:
        characters = min(MOST_CHARACTERS, int(len(text) * fits / max(1, estimate_text(text))))
        raise SessionError("invalid", TOO_LONG.format(len(text), max(0, characters)))
