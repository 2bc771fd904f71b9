"""What is shown where not all of it may be: the first that fit, always the same ones."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.pictures import DOCUMENT, IMAGE, MEDIA, WIDE
from tests.unit.context.strategies import histories
from ullage.context.blocks import Image, Media, Message, Text, ToolResult
from ullage.context.counting.media import NO_ROOM, Room, Weight, shown_in, weight_of, within
from ullage.context.entries import Logged
from ullage.context.view.projection import project

rooms = st.builds(Room, items=st.integers(0, 6), size=st.integers(0, 1_500), images=st.booleans(), documents=st.booleans())


def sent(messages: Sequence[Message], room: Room) -> list[Message]:
    weight = Weight()
    result: list[Message] = []
    for message in messages:
        shown, weight = within(message, weight, room)
        result.append(shown)
    return result


def media_in(messages: Sequence[Message]) -> list[Media]:
    return [media for message in messages for media in shown_in(message)]


@given(histories(), rooms)
def test_what_is_sent_fits_and_stays_the_same_as_the_conversation_grows(log: list[Logged], room: Room):
    messages = project(log).complete_messages
    whole = sent(messages, room)
    shown = media_in(whole)
    assert room.holds(sum(map(weight_of, shown), Weight()))
    assert all(map(room.takes, shown))
    for length in range(len(messages)):
        assert sent(messages[:length], room) == whole[:length]
    assert [len(each.blocks) for each in whole] == [len(each.blocks) for each in messages]


@given(histories())
def test_where_all_fits_nothing_is_made_anew(log: list[Logged]):
    messages = project(log).complete_messages
    assert all(each is message for each, message in zip(sent(messages, Room(10_000)), messages, strict=True))


def test_words_stand_for_what_is_not_shown():
    message = Message("user", (ToolResult("t", "two", media=(IMAGE, WIDE)), DOCUMENT, Text("Look.")), (1, 2, 3))
    first_alone, weight = within(message, Weight(), Room(1))
    result, document, said = first_alone.blocks
    assert isinstance(result, ToolResult)
    assert isinstance(document, Text)
    assert result.media == (IMAGE,)
    assert result.content.startswith("two\n[image, 300 × 2: not shown")
    assert document.text.startswith("[PDF, 2 pages: not shown")
    assert said == Text("Look.")
    assert weight == weight_of(IMAGE)


def test_a_model_may_take_one_kind_alone():
    message = Message("user", (*MEDIA, Text("Look.")), tuple(range(len(MEDIA) + 1)))
    only_images, _ = within(message, Weight(), Room(9, documents=False))
    assert shown_in(only_images) == tuple(media for media in MEDIA if isinstance(media, Image))
    nothing, weight = within(message, Weight(), NO_ROOM)
    assert shown_in(nothing) == ()
    assert weight == Weight()
