"""What the calls of one model show of its window, whatever wire they go over: what a refusal names, and what was answered since."""

from __future__ import annotations

import logging
from dataclasses import replace

from ullage.models.endpoint_checks import RequestSize, why_not_believed
from ullage.models.errors import Endpoint, PromptTooLong
from ullage.models.failures import sizes_that_cannot_be, understand
from ullage.models.model import ModelCard, Reply
from ullage.models.retry import Failure

logger = logging.getLogger(__name__)


WORTH_A_LOOK = 20_000
"""The bytes from which on a request is looked at: in a smaller one a few words decide what a token takes."""
USUAL_BYTES_PER_TOKEN = 4.0
MOST_BYTES_PER_TOKEN = 9.0
"""The most bytes of a request in JSON for each token. Code and prose have 3 to 5 by any tokenizer, long runs of spaces more. With more than
this, most was not read."""
SUDDENLY = 2.5
"""How many times what requests to the same model had before shows it, too: a conversation grows at its end, so this number hardly moves."""


class LearnedLimits:
    """The limits of one model at one endpoint, as its calls show them."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._window: int | None = None
        self._most_accepted = 0
        """The input tokens of the largest request that was answered."""
        self._bytes_per_token: float | None = None
        """The most bytes for each token that a request read whole had so far; None before any."""

    def applied(self, card: ModelCard) -> ModelCard:
        """The card with the window that a refusal named, where one did."""
        learned = self._window
        if learned is None or learned == card.window:
            return card
        if learned > card.window:  # more than was assumed, where nobody had said anything
            return replace(card, window=learned, source="server") if card.source == "assumed" else card
        return replace(card, window=learned, source="server", stated_window=card.window)

    def understand(self, problem: Exception, size: RequestSize) -> Failure:
        """The failure behind an exception that a call raised. What it says of the window is taken over where that can be."""
        failure = understand(problem, self._endpoint)
        if isinstance(failure.error, PromptTooLong) and not self._take(failure.error, size):
            return replace(failure, error=sizes_that_cannot_be(self._endpoint))
        return failure

    def checked(self, reply: Reply, size: RequestSize, received: int) -> Reply:
        """The reply without counts that cannot be; what it shows of the window is learned. `received` are its characters."""
        if reply.usage is None:
            return reply
        why = why_not_believed(reply.usage, size, received)
        if why is not None:
            logger.warning("%s %s", self._endpoint.name, why)
            return replace(reply, usage=None, doubts=(f"{self._endpoint.name} {why}. That cannot be, so it is not counted.",))
        cut = self._cut_off(reply.usage.total_input_tokens, size)
        if cut is not None:
            return replace(reply, usage=None, doubts=(cut,))
        taken = reply.usage.total_input_tokens
        self._most_accepted = max(self._most_accepted, taken)
        if self._window is not None and taken > self._window:
            logger.warning("a request of %d tokens was answered: the window of %d that a refusal named is forgotten", taken, self._window)
            self._window = None
        return reply

    def _cut_off(self, taken: int, size: RequestSize) -> str | None:
        """A sentence for the user that the server read much less than it was sent; None if there is no sign of it.

        A server of the user's own may cut a prompt that is longer than the window it loaded the model with, and say nothing (Ollama).
        """
        if not self._endpoint.base_url or self._endpoint.title or size.shows_media():
            return None
        read = size.bytes / max(taken, 1)
        most = MOST_BYTES_PER_TOKEN if self._bytes_per_token is None else min(MOST_BYTES_PER_TOKEN, self._bytes_per_token * SUDDENLY)
        if size.bytes < WORTH_A_LOOK or read <= most:
            self._bytes_per_token = read if self._bytes_per_token is None else max(self._bytes_per_token, read)
            return None
        sent = round(size.bytes / USUAL_BYTES_PER_TOKEN)
        logger.warning("%s counted %d tokens in a request of %d bytes", self._endpoint.name, taken, size.bytes)
        return (
            f"{self._endpoint.name} says that it read {taken:,} tokens, of about {sent:,} that were sent. "
            "It may have cut the conversation off: look at the window that the model is loaded with, and make it larger."
        )

    def _take(self, refusal: PromptTooLong, size: RequestSize) -> bool:
        """Takes over what a refusal says of the window; False if what it says cannot be, or calls have shown otherwise."""
        named, tokens = refusal.window, refusal.tokens
        if refusal.input_tokens is not None and not size.can_have(refusal.input_tokens):
            logger.warning("%s named %d tokens for a request of %d bytes", self._endpoint.name, refusal.input_tokens, size.bytes)
            return False
        if named is None:
            return True
        if named <= self._most_accepted or (tokens is not None and not (named < tokens and size.can_have(tokens))):
            logger.warning("%s named a window of %d tokens for a request of %s, which is not believed", self._endpoint.name, named, tokens)
            return False
        self._window = named
        return True
