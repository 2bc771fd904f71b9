from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.moves.cheap import Arrival, Clip, clip
from ullage.context.policy import ClipOptions

OPTIONS = ClipOptions(result_characters=1_000, message_characters=2_500, preview_characters=300)


def path_of(tool_use_id: str) -> str:
    return f".ullage/tool-results/{tool_use_id}.txt"


def clip_one(content: str, options: ClipOptions = OPTIONS) -> Clip:
    return clip([Arrival("t1", content)], options, path_of)[0]


def test_a_result_within_the_limit_stays_whole():
    content = "x" * 1_000
    assert clip_one(content) == Clip(content, clipped=False, characters=1_000)


def test_a_longer_one_keeps_head_and_tail_and_says_where_the_whole_is():
    content = "a" * 600 + "b" * 600
    clipped = clip_one(content)
    head, line, tail = clipped.content.split("\n")
    assert head == "a" * 200
    assert tail == "b" * 100
    assert line == ("[900 characters are left out here. The whole output, 1,200 characters in 1 lines, is in .ullage/tool-results/t1.txt]")
    assert (clipped.clipped, clipped.characters) == (True, 1_200)


def test_it_is_cut_at_line_ends_where_lines_are_short():
    content = "\n".join(f"line {number}" for number in range(200))
    lines = clip_one(content).content.splitlines()
    heads, tails = lines[: lines.index(notice_of(lines))], lines[lines.index(notice_of(lines)) + 1 :]
    assert heads == [f"line {number}" for number in range(len(heads))]
    assert tails == [f"line {number}" for number in range(200 - len(tails), 200)]
    assert len(heads) > len(tails) > 5
    assert "1,689 characters in 200 lines" in notice_of(lines)


def notice_of(lines: list[str]) -> str:
    return next(line for line in lines if line.startswith("["))


@pytest.mark.parametrize(
    ("sizes", "clipped"),
    [
        ([900, 800, 700], []),
        ([900, 900, 900], [0]),
        ([800, 950, 900], [1]),
        ([700, 800, 950, 900], [2, 3]),
        ([1_001, 10, 10], [0]),
        ([5_000, 2_000, 900], [0, 1]),
        ([600] * 10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ],
)
def test_largest_first_while_all_together_are_over_the_limit(sizes: list[int], clipped: list[int]):
    arrivals = [Arrival(f"t{index}", "x" * size) for index, size in enumerate(sizes)]
    clips = clip(arrivals, OPTIONS, path_of)
    assert [index for index, each in enumerate(clips) if each.clipped] == clipped
    assert [each.characters for each in clips] == sizes


def test_what_a_clip_would_not_shorten_stays_whole():
    options = ClipOptions(result_characters=200, message_characters=10_000, preview_characters=190)
    content = "x" * 250
    assert clip_one(content, options) == Clip(content, clipped=False, characters=250)


sizes = st.integers(0, 400)


pieces = st.text(st.sampled_from("ab \n\r"), min_size=1, max_size=40)
contents = st.sampled_from([0, 1, 10, 100]).flatmap(lambda times: pieces.map(lambda piece: piece * times))


@given(st.lists(contents, max_size=5), st.builds(ClipOptions, sizes, sizes, sizes))
def test_no_clip_is_longer_than_what_it_stands_for(contents: list[str], options: ClipOptions):
    arrivals = [Arrival(f"t{index}", content) for index, content in enumerate(contents)]
    for arrival, clipped in zip(arrivals, clip(arrivals, options, path_of), strict=True):
        assert clipped.characters == len(arrival.content)
        if clipped.clipped:
            assert len(clipped.content) < len(arrival.content)
            assert path_of(arrival.tool_use_id) in clipped.content
        else:
            assert clipped.content == arrival.content


def test_a_result_of_which_only_parts_were_kept_is_not_called_whole():
    (clipped,) = clip([Arrival("t1", "x" * 100_000, complete=False)], OPTIONS, path_of)
    assert "What was kept of the output, 100,000 characters" in clipped.content
    assert "whole" not in clipped.content
