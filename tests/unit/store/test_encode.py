"""Entries come back from their JSON exactly as they were, and what cannot be read says so."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.pictures import DOCUMENT, MEDIA
from ullage.context.blocks import AssistantBlock, Document, Image, Json, Media, ToolSpec, ToolUse
from ullage.context.entries import AssistantReply, Attachment, Entry, Notice, Prelude, ToolReturned, UserPrompt
from ullage.store.encode import BLOCK_KINDS, ENTRY_KINDS, MEDIA_KINDS, DamagedEntry, decode, decode_prompt, encode, encode_prompt

# Any text at all: half surrogate pairs and NUL included, which models do write.
texts = st.text(st.characters(exclude_categories=()), max_size=20)
json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
st.register_type_strategy(str, texts)
st.register_type_strategy(Image, st.sampled_from([each for each in MEDIA if isinstance(each, Image)]))
st.register_type_strategy(Document, st.just(DOCUMENT))
tool_inputs = st.dictionaries(texts, json_values, max_size=4)
blocks = st.one_of(
    *(st.builds(kind) for kind in get_args(AssistantBlock) if kind is not ToolUse),
    st.builds(ToolUse, input=tool_inputs),
)
replies = st.builds(AssistantReply, blocks=st.lists(blocks, max_size=4).map(tuple))
tools = st.builds(ToolSpec, input_schema=tool_inputs)
media = st.sampled_from(MEDIA)
attachments = st.builds(Attachment, media=st.one_of(st.none(), media))
preludes = st.builds(Prelude, tools=st.lists(tools, max_size=3).map(tuple))
entries: st.SearchStrategy[Entry] = st.one_of(
    replies,
    preludes,
    *(st.builds(kind) for kind in get_args(Entry) if kind not in (AssistantReply, Prelude)),
    st.builds(UserPrompt, attachments=st.lists(attachments, max_size=2).map(tuple)),
    st.builds(ToolReturned, media=st.lists(media, max_size=2).map(tuple)),
)


@given(entries)
def test_every_entry_comes_back_as_it_was(entry: Entry) -> None:
    assert decode(encode(entry)) == entry


@given(tool_inputs)
def test_the_order_of_a_tool_inputs_keys_is_kept(keys: dict[str, Json]) -> None:
    reply = AssistantReply("r", (ToolUse("t", "bash", keys),), "m", "tool_use", None)
    read = decode(encode(reply))
    assert isinstance(read, AssistantReply)
    (block,) = read.blocks
    assert isinstance(block, ToolUse)
    assert json.dumps(dict(block.input)) == json.dumps(keys)


@given(st.builds(UserPrompt, attachments=st.lists(attachments, max_size=2).map(tuple)))
def test_a_queued_prompt_comes_back_as_it_was(prompt: UserPrompt) -> None:
    assert decode_prompt(encode_prompt(prompt)) == prompt


def test_every_kind_of_entry_and_block_has_a_name_of_its_own() -> None:
    assert set(ENTRY_KINDS) == set(get_args(Entry))
    assert set(BLOCK_KINDS) == set(get_args(AssistantBlock))
    assert set(MEDIA_KINDS) == set(get_args(Media))
    assert len({*ENTRY_KINDS.values()}) == len(ENTRY_KINDS)
    assert len({*BLOCK_KINDS.values()}) == len(BLOCK_KINDS)


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ('{"kind":"notice","about":"rules","text":"a","since":"a later version"}', Notice("rules", "a")),
        ('{"kind":"user_prompt","id":"p","text":"a"}', UserPrompt("p", "a")),
        (
            '{"kind":"user_prompt","id":"p","text":"a","attachments":[{"name":"a.py","text":"x"}]}',
            UserPrompt("p", "a", (Attachment("a.py", "x"),)),
        ),
        (
            '{"kind":"tool_returned","tool_use_id":"t","tool":"bash","content":"x","is_error":false,"characters":1}',
            ToolReturned("t", "bash", "x", False, 1),
        ),
    ],
)
def test_fields_of_other_versions_are_passed_over_or_take_their_default(text: str, entry: Entry) -> None:
    assert decode(text) == entry


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        '{"kind":"of a later version"}',
        '{"kind":"notice","about":"rules"}',
        '{"kind":"notice","about":"rules","text":4}',
        '{"kind":"notice","about":"weather","text":"a"}',
        '{"kind":"user_prompt","id":"p","text":"a","attachments":null}',
        (
            '{"kind":"user_prompt","id":"p","text":"a","attachments":[{"name":"a","text":"x","media":{"kind":"image","sha256":"../../x",'
            '"media_type":"image/png","width":1,"height":1,"size":1}}]}'
        ),
        '{"kind":"assistant_reply","id":"r","blocks":[{"kind":"tool_use","id":"t","name":"n","input":[]}],"model":"m","stop_reason":"s","usage":null}',
    ],
)
def test_what_is_no_entry_is_damaged_and_never_guessed(text: str) -> None:
    with pytest.raises(DamagedEntry):
        decode(text)


def test_what_a_later_version_wrote_is_told_from_what_is_damaged() -> None:
    with pytest.raises(DamagedEntry, match="no entry of the kind 'weighed'; a later one"):
        decode('{"kind":"weighed","tokens":4}')
