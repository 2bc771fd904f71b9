"""Generated sessions: always the same for a seed, of the length wanted, and valid."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bench.entries import PRELUDE, Writer
from bench.sessions import CACHE_SECONDS, Message, generated
from bench.workspaces import lay_down
from ullage.context.entries import Entry, Logged
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request
from ullage.store.log_store import LogStore


def of_type(message: Message, kind: str) -> list[Message]:
    return [block for block in message["content"] if block["type"] == kind]


@given(st.integers(1, 120), st.integers(0, 99))
def test_the_same_seed_gives_the_same_session_of_the_length_wanted(length: int, seed: int) -> None:
    made = generated(length, seed)
    assert len(made) == length
    assert made == generated(length, seed)
    assert made == generated(length + 5, seed)[:length]
    assert json.loads(json.dumps(made)) == made


def test_another_seed_gives_another_session() -> None:
    assert generated(20, 1) != generated(20, 2)


@given(st.integers(0, 99))
def test_user_and_assistant_speak_in_turn_and_every_call_is_answered_next(seed: int) -> None:
    made = generated(90, seed)
    assert [message["role"] for message in made] == ["user", "assistant"] * 45
    for message, answer in pairwise(made):
        calls = [block["id"] for block in of_type(message, "tool_use")]
        if message["role"] == "assistant":
            assert calls == [block["tool_use_id"] for block in of_type(answer, "tool_result")]
    ids = [block["id"] for message in made for block in of_type(message, "tool_use")]
    assert len(ids) == len(set(ids))


@given(st.integers(0, 60), st.integers(0, 99))
def test_each_message_becomes_one_message_of_the_request(turns: int, seed: int) -> None:
    made = generated(2 * turns + 1, seed)
    writer = Writer()
    entries: list[Entry] = [PRELUDE, *(entry for message in made for entry in writer.entries(message))]
    request = build_request(Projection(Logged(seq, 0.0, entry) for seq, entry in enumerate(entries, 1)))
    assert [(message.role, len(message.blocks)) for message in request.messages] == [
        (message["role"], len(message["content"])) for message in made
    ]


def test_what_was_sent_is_read_from_the_cache_unless_the_user_was_away_for_long() -> None:
    replies = [message for message in generated(400) if message["role"] == "assistant"]
    read = [reply["usage"]["cache_read_input_tokens"] for reply in replies]
    sent = [reply["usage"]["cache_creation_input_tokens"] + there for reply, there in zip(replies, read, strict=True)]
    cold = [later["at"] - earlier["at"] > CACHE_SECONDS for earlier, later in pairwise(replies)]
    assert read == [0, *(0 if is_cold else tokens for is_cold, tokens in zip(cold, sent, strict=False))]
    assert sent == sorted(sent)
    assert any(cold)


def test_a_workspace_holds_the_sessions_that_were_laid_down(tmp_path: Path) -> None:
    lay_down(tmp_path, [31, 12])
    with closing(LogStore.open(tmp_path)) as store:
        logs = [store.load(session.id) for session in store.sessions()]
    assert sorted(len(Projection(log).messages) for log in logs) == [12, 31]
    assert all(earlier.at <= later.at for log in logs for earlier, later in pairwise(log))
