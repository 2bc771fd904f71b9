"""The prompt cache: what a row of requests reads, writes and pays in full."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ullage.context.blocks import Usage
from ullage.context.counting.prompt_cache import START, TTL_SECONDS, CacheMark, Prefix, PromptCache, RequestShape, Ttl
from ullage.replay.pricing.recorded_models import minimum_cached

MODEL, OTHER_MODEL = "claude-opus-5", "claude-sonnet-5-5"
BLOCK_TOKENS = 100


@dataclass(frozen=True)
class Sent:
    """A request of blocks of 100 tokens each: one a letter of `blocks`, marked where `marks` has the number (from 1) of one."""

    blocks: str
    marks: tuple[int, ...]
    at: float = 0.0
    ttl: Ttl = "5m"
    model: str = MODEL
    long_marks: tuple[int, ...] = ()
    """Those that are marked for an hour whatever `ttl` says."""


@dataclass(frozen=True)
class Classes:
    uncached: int = 0
    read: int = 0
    written: int = 0
    written_1h: int = 0


def shape(sent: Sent) -> RequestShape:
    prefixes: list[Prefix] = [START]
    for letter in sent.blocks:
        prefixes.append(prefixes[-1].then(letter, BLOCK_TOKENS))
    marks = [CacheMark(prefixes[number], sent.ttl) for number in sent.marks]
    marks += [CacheMark(prefixes[number], "1h") for number in sent.long_marks]
    return RequestShape(sent.model, sent.at, prefixes[-1], tuple(marks), output_tokens=7)


def check(rows: list[tuple[Sent, Classes]], minimum: int = 100) -> None:
    """Charges the requests in order, and compares the tokens of each."""
    cache = PromptCache(minimum=lambda _: minimum)
    for each, expected in rows:
        usage = cache.charge(shape(each))
        found = Classes(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens, usage.cache_write_1h_tokens)
        assert (each, found) == (each, expected)
        assert usage.output_tokens == 7


def test_what_was_written_at_a_mark_is_read_and_the_rest_is_paid():
    check(
        [
            (Sent("abc", (2,)), Classes(uncached=100, written=200)),
            (Sent("abc", (2,), at=1), Classes(uncached=100, read=200)),
            (Sent("abx", (2, 3), at=2), Classes(read=200, written=100)),
            (Sent("abxyz", (5,), at=3), Classes(read=300, written=200)),
        ]
    )


def test_nothing_is_read_or_written_without_a_mark():
    check(
        [
            (Sent("abc", ()), Classes(uncached=300)),
            (Sent("abc", (3,)), Classes(written=300)),
            (Sent("abc", ()), Classes(uncached=300)),
        ]
    )


def test_a_prefix_is_cumulative():
    """A block is found only where all before it is the same."""
    check(
        [
            (Sent("abc", (3,)), Classes(written=300)),
            (Sent("xbc", (3,)), Classes(written=300)),
            (Sent("acb", (3,)), Classes(written=300)),
        ]
    )


def test_a_prefix_is_written_only_at_a_mark():
    """Half of what was cached is no entry."""
    check([(Sent("abcd", (4,)), Classes(written=400)), (Sent("abxy", (2, 4)), Classes(written=400))])


@pytest.mark.parametrize(("new_blocks", "found"), [(0, True), (18, True), (19, True), (20, False), (40, False)])
def test_a_read_looks_back_twenty_blocks(new_blocks: int, found: bool):
    """The marked block is the first of them."""
    blocks = "a" + "b" * new_blocks
    read = 100 if found else 0
    check([(Sent("a", (1,)), Classes(written=100)), (Sent(blocks, (len(blocks),)), Classes(read=read, written=len(blocks) * 100 - read))])


def test_a_second_mark_reaches_further_back():
    blocks = "a" + "b" * 30
    check([(Sent("a", (1,)), Classes(written=100)), (Sent(blocks, (15, 31)), Classes(read=100, written=3_000))])


@pytest.mark.parametrize(
    ("marked", "cached"),
    [(9, False), (10, True), (11, True)],
)
def test_below_the_minimum_a_mark_does_nothing(marked: int, cached: bool):
    blocks = "a" * 12
    written = marked * 100 if cached else 0
    check([(Sent(blocks, (marked,)), Classes(uncached=1_200 - written, written=written))], minimum=1_000)


@pytest.mark.parametrize(
    ("ttl", "seconds", "read"),
    [("5m", 299.0, True), ("5m", 300.0, False), ("1h", 3_599.0, True), ("1h", 3_600.0, False)],
)
def test_an_entry_lives_for_its_time(ttl: Ttl, seconds: float, read: bool):
    cache = PromptCache(minimum=lambda _: 0)
    cache.charge(shape(Sent("ab", (2,), ttl=ttl)))
    later = cache.charge(shape(Sent("ab", (2,), at=seconds, ttl=ttl)))
    assert later.cache_read_tokens == (200 if read else 0)
    assert later.total_input_tokens == 200


def test_reading_makes_an_entry_live_longer():
    """From the start of the request that reads; of what was not read, nothing."""
    check(
        [
            (Sent("ab", (1, 2)), Classes(written=200)),
            (Sent("ax", (1,), at=200), Classes(uncached=100, read=100)),
            (Sent("ab", (1, 2), at=400), Classes(read=100, written=100)),
            (Sent("ab", (1, 2), at=699), Classes(read=200)),
        ]
    )


def test_a_longer_request_keeps_a_shorter_one_alive_where_it_marks_it_too():
    check(
        [
            (Sent("a", (1,)), Classes(written=100)),
            (Sent("abc", (1, 3), at=250), Classes(read=100, written=200)),
            (Sent("ax", (1,), at=500), Classes(uncached=100, read=100)),
        ]
    )


def test_hours_and_minutes_in_one_request():
    """Read up to A, an hour's write up to B, a five minutes' write up to C."""
    check(
        [
            (Sent("a", (1,)), Classes(written=100)),
            (Sent("abcde", (5,), at=1, long_marks=(3,)), Classes(read=100, written_1h=200, written=200)),
            (Sent("abcde", (5,), at=400, long_marks=(3,)), Classes(read=300, written=200)),
            (Sent("abcde", (5,), at=3_999, long_marks=(3,)), Classes(read=300, written=200)),
        ]
    )


def test_each_model_has_a_cache_of_its_own():
    check(
        [
            (Sent("ab", (2,)), Classes(written=200)),
            (Sent("ab", (2,), at=1, model=OTHER_MODEL), Classes(written=200)),
            (Sent("ab", (2,), at=2), Classes(read=200)),
            (Sent("ab", (2,), at=3, model=OTHER_MODEL), Classes(read=200)),
        ]
    )


def test_the_minimum_is_that_of_the_model():
    """Opus 5 caches from 512 tokens, Sonnet 5 from 1,024."""
    for model, written in ((MODEL, 600), ("claude-sonnet-5", 0)):
        usage = PromptCache(minimum_cached).charge(shape(Sent("abcdef", (6,), model=model)))
        assert usage.cache_write_5m_tokens == written


def test_a_very_long_row_of_blocks_is_no_trouble():
    """Neither to make, nor to charge, nor to forget."""
    end = START
    for number in range(200_000):
        end = end.then(str(number), 1)
    usage = PromptCache(minimum_cached).charge(RequestShape(MODEL, 0.0, end, (CacheMark(end, "5m"),)))
    assert usage == Usage(0, 0, cache_write_5m_tokens=200_000)
    assert len(repr(end)) < 200


def sent(blocks: str, marks: list[int], ttl: Ttl, model: str) -> Sent:
    return Sent(blocks, tuple(sorted({min(mark, len(blocks)) for mark in marks})), 0.0, ttl, model)


def requests() -> st.SearchStrategy[list[Sent]]:
    """Rows of requests over few letters, so that prefixes are shared."""
    blocks = st.text("ab", min_size=1, max_size=40)
    marks = st.lists(st.integers(1, 40), max_size=4)
    one = st.builds(sent, blocks, marks, st.sampled_from(list(TTL_SECONDS)), st.sampled_from([MODEL, OTHER_MODEL]))
    return st.lists(one, min_size=1, max_size=12)


@settings(deadline=None)
@given(requests(), st.lists(st.floats(0, 5_000), min_size=12, max_size=12), st.sampled_from([0, 0, 10, 1_000]))
def test_classes_add_up_and_nothing_is_read_that_was_not_written(row: list[Sent], gaps: list[float], minimum: int):
    cache = PromptCache(minimum=lambda _: minimum)
    written: dict[str, set[bytes]] = {}
    now = 0.0
    for each, gap in zip(row, gaps, strict=False):
        now += gap
        request = shape(Sent(each.blocks, each.marks, now, each.ttl, each.model))
        usage = cache.charge(request)
        assert usage.total_input_tokens == request.end.tokens
        assert min(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens, usage.cache_write_1h_tokens) >= 0
        known = written.setdefault(each.model, set())
        if usage.cache_read_tokens:
            read = next(prefix for prefix in request.end.backwards() if prefix.tokens == usage.cache_read_tokens)
            assert read.digest in known
        known |= {mark.prefix.digest for mark in request.marks}


@settings(deadline=None)
@given(requests())
def test_a_request_made_again_at_once_writes_nothing(row: list[Sent]):
    cache = PromptCache(minimum=lambda _: 0)
    for each in row:
        cache.charge(shape(each))
        again = cache.charge(shape(each))
        assert (again.cache_write_5m_tokens, again.cache_write_1h_tokens) == (0, 0)


def test_the_times_to_live_are_those_of_the_documentation():
    assert TTL_SECONDS == {"5m": 300.0, "1h": 3_600.0}
