"""The request that follows each compaction of a simulated session, as a file: what the model would have been sent, to look at or to ask."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ullage.context.blocks import Json
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, place
from ullage.models.serialise import Serialiser
from ullage.replay.simulating.outcome import Epoch
from ullage.replay.transcript import Transcript

ABOUT = (
    "Indices count the messages that the session would have sent without any compaction, from 0: neighbours of one role are one message, "
    "results and what is said with them are one. message_index: how many of them there were when the compaction was made. covers: "
    "those of which nothing is in this request but what a summary or a marker says of them."
)

_NOT_IN_A_NAME = re.compile(r"[^\w.-]+")


class Views:
    """Writes the views of one session under one policy into a folder. What cannot be written is in `failures`."""

    def __init__(self, folder: Path, transcript: Transcript, policy: str) -> None:
        self.failures: list[str] = []
        self._folder = folder
        self._session_id = transcript.session_id
        self._policy = policy
        self._places = _places(transcript)

    def write(self, epoch: Epoch) -> None:
        """One view."""
        name = f"{_NOT_IN_A_NAME.sub('_', self._session_id)}-{epoch.number}.json"
        path = self._folder / name
        told: dict[str, Json] = {
            "session": self._session_id,
            "policy": self._policy,
            "epoch": epoch.number,
            "trigger": epoch.trigger,
            "message_index": self._places.before(epoch.after_seq),
            "covers": list[Json](self._places.hidden(epoch)),
            "about": ABOUT,
            **_request(epoch.view),
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8", errors="replace")
        except OSError as error:
            if not self.failures:
                self.failures.append(f"{path} cannot be written: {error.strerror or error}")


class _Places:
    """The messages of a session without any compaction, as the entries that each of them stands for (seqs of the transcript)."""

    def __init__(self, sources: Sequence[frozenset[int]]) -> None:
        self._sources = sources
        self._firsts = [min(each) for each in sources]

    def before(self, after_seq: int) -> int:
        """How many messages there are up to and with that entry."""
        return bisect_right(self._firsts, after_seq)

    def hidden(self, epoch: Epoch) -> list[int]:
        """Those before the compaction of which no entry is in view."""
        sources = {source for message in epoch.view.messages for source in message.sources}
        shown = {epoch.carried.origin[source].seq for source in sources if source in epoch.carried.origin}
        return [index for index in range(self.before(epoch.after_seq)) if shown.isdisjoint(self._sources[index])]


def _places(transcript: Transcript) -> _Places:
    whole = Projection(transcript.entries)
    return _Places([frozenset(message.sources) for message in whole.messages if message.sources])


def _request(view: Projection) -> dict[str, Json]:
    """System, tools and messages, as they would be sent."""
    prelude = view.prelude
    messages = view.complete_messages
    request = Request(prelude.system if prelude else (), prelude.tools if prelude else (), messages, place(messages))
    body = cast("dict[str, Json]", json.loads(Serialiser().body(request, model="", max_tokens=1, adaptive_thinking=False)))
    return {name: body.get(name, []) for name in ("system", "tools", "messages")}
