"""A process that writes turns into a log until it is killed, and says of each item when it is durable."""

from __future__ import annotations

import os
import random
from multiprocessing.connection import Connection
from pathlib import Path

from ullage.context.blocks import Text, ToolUse
from ullage.context.entries import AssistantReply, Entry, Prelude, SystemPart, ToolReturned, TurnEnded, UserPrompt
from ullage.store.log_store import LogStore


def write(folder: Path, seed: int, acknowledge: Connection) -> None:
    """Never ends by itself. Tells `(session id, seq)` of each entry, and `(session id, id)` of each prompt that was queued."""
    chance = random.Random(seed)
    store = LogStore.open(folder)
    store.tell_of(lambda text: None)
    session = store.create_session(f"killed {seed}", 1.0)
    acknowledge.send(("pid", os.getpid()))

    def add(*entries: Entry) -> None:
        for logged in store.append_many(session.id, entries, 2.0):
            acknowledge.send((session.id, logged.seq))

    add(Prelude((SystemPart("system", "You are a coding agent."),), ()))
    number = 0
    while True:
        number += 1
        prompt = UserPrompt(f"p{seed}_{number}", f"prompt {number}")
        store.prompts.add(session.id, prompt)
        acknowledge.send((session.id, prompt.id))
        acknowledge.send((session.id, store.prompts.start(session.id, prompt.id, 3.0).seq))
        for call in range(chance.randrange(3)):
            used = ToolUse(f"t{number}_{call}", "bash", {"command": "ls"})
            add(AssistantReply(f"r{number}_{call}", (Text("I look."), used), "m", "tool_use", None))
            content = "x" * chance.choice([10, 2_000, 30_000])
            add(ToolReturned(used.id, "bash", content, is_error=False, characters=len(content)))
        add(AssistantReply(f"r{number}", (Text("Done."),), "m", "end_turn", None), TurnEnded("end_turn"))
