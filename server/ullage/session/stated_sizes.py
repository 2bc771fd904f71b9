"""The size that an endpoint names of a request that nothing was answered to: the gauge shows it, also after a restart.

It is named by a refusal, which the user reads beside the gauge, or by the endpoint's own count (`endpoint_counts.py`).
"""

from __future__ import annotations

from ullage.context.counting.accounting import Stated
from ullage.context.counting.tokens import can_take
from ullage.context.entries import AssistantReply, Compaction, CompactionRedone, CompactionUndone, Prelude, SizeStated
from ullage.models.errors import PromptTooLong
from ullage.models.model import ModelCard
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings

_LATER = AssistantReply | Prelude | Compaction | CompactionUndone | CompactionRedone
"""After these the request is another one, or a reply has told its size."""


def take_size(refusal: PromptTooLong, conversation: Conversation, surroundings: Surroundings, card: ModelCard) -> None:
    """From now on the gauge goes by what the refusal named, where it named anything."""
    if refusal.input_tokens is not None:
        _state(conversation, surroundings, card, conversation.entries[-1].seq, refusal.input_tokens)


def keep_size(conversation: Conversation, surroundings: Surroundings, card: ModelCard) -> None:
    """Logs what the endpoint said, where the gauge goes by that and nothing else will tell it."""
    stated, newest = conversation.stated(surroundings.calibration(card)), _newest(conversation)
    if stated is None or (newest is not None and (newest.through, newest.model, newest.tokens) == (stated.seq, card.name, stated.tokens)):
        return
    conversation.append_or_owe(SizeStated(stated.seq, card.name, stated.tokens))


def restate_size(conversation: Conversation, surroundings: Surroundings, card: ModelCard) -> None:
    """Takes up what was logged, where it is of the newest request, by this model, and can be."""
    newest = _newest(conversation)
    if newest is None or newest.model != card.name:
        return
    estimated = conversation.counted(surroundings.calibration(card)).used
    if can_take(newest.tokens, estimated):
        _state(conversation, surroundings, card, newest.through, newest.tokens)


def _newest(conversation: Conversation) -> SizeStated | None:
    newest = next((each.entry for each in reversed(conversation.entries) if isinstance(each.entry, SizeStated | _LATER)), None)
    return newest if isinstance(newest, SizeStated) else None


def _state(conversation: Conversation, surroundings: Surroundings, card: ModelCard, seq: int, tokens: int) -> None:
    calibration = surroundings.calibration(card)
    categories = conversation.counted(calibration).categories
    conversation.state(Stated(conversation.projection.key, seq, tokens, categories, calibration.fixed))
