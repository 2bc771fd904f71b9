"""A recorded session as if another model had answered: the same work, with the tokens that its tokenizer makes of it."""

from __future__ import annotations

from dataclasses import replace

from ullage.context.entries import AssistantReply, Logged
from ullage.replay.cost import scaled
from ullage.replay.prices import tokens_factor
from ullage.replay.transcript import Transcript


def as_if(transcript: Transcript, model: str) -> Transcript:
    """The session with `model` in the place of every model of it, and its counts of tokens turned into that model's."""
    return replace(transcript, entries=tuple(_answered_by(logged, model) for logged in transcript.entries))


def _answered_by(logged: Logged, model: str) -> Logged:
    reply = logged.entry
    if not isinstance(reply, AssistantReply):
        return logged
    usage = reply.usage
    if usage is not None:
        usage = scaled(usage, tokens_factor(reply.model, model))
    return replace(logged, entry=replace(reply, model=model, usage=usage))
