"""Words of little information left out of long results."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.moves.cheap import Arrival
from ullage.context.policies.token_prune import TOKEN_PRUNE, PruneOptions, TokenPruneEngine, pruned
from ullage.context.policies.ullage import UllageEngine

EVERYTHING = PruneOptions(rate=0.0, smallest_characters=0, smallest_gain_share=0.0)
HALF = replace(EVERYTHING, rate=0.5)


def path_of(id: str) -> str:
    return f"out/{id}.txt"


def text_of(content: str, options: PruneOptions = EVERYTHING) -> str:
    """What the model gets, without the note; padded so that the note does not make it longer than it was."""
    padding = "\nPadding: " + "the " * 200
    shown = pruned(Arrival("t", content + padding), options, path_of).content
    return shown[: shown.index("\nPadding")]


def test_its_rate_is_that_of_llmlingua():
    options = PruneOptions()
    assert (options.rate, options.smallest_characters) == (0.5, 4_000)
    words = " ".join(["the level of a tank is what it was before"] * 200)
    shown = pruned(Arrival("t", words), options, path_of)
    assert len(words) * 0.5 <= len(shown.content) <= len(words) * 0.5 + 200
    assert (shown.clipped, shown.characters) == (True, len(words))
    assert shown.content.endswith("The whole output is in out/t.txt]")


def test_a_short_result_stays_whole():
    assert not pruned(Arrival("t", "the " * 1_000), PruneOptions(), path_of).clipped
    assert pruned(Arrival("t", "the " * 1_001), PruneOptions(), path_of).clipped


CODE = """
```
the words of a code block all stay
```
    so does what is indented
src/tank.py:12: this is where it is
@@ -1 +1 @@
+ and this was added to it
call(the, tank)
"""
PROSE = "The tank at src/tank.py was not filled, since the PumpDriver gave up after 30 seconds. It is the old one.\n"


def test_before_and_after():
    assert text_of(PROSE + CODE) == f"The src/tank.py not PumpDriver 30 seconds. one.\n{CODE}"


def test_an_item_of_a_list_is_no_change():
    assert text_of("- it is the tank") == "-"
    assert text_of("@@ -1 +1 @@\n- it is the tank") == "@@ -1 +1 @@\n- it is the tank"


def test_words_that_stand_everywhere_go_first_then_those_that_stand_often():
    content = "Start " + "water " * 30 + "and the rare marmalade is in there"
    assert text_of(content, replace(HALF, rate=0.35)).endswith("rare marmalade")
    assert "water" in text_of(content, replace(HALF, rate=0.9))


pieces = st.sampled_from(["the ", "tank ", "is ", "not ", "of the water ", "ok\n", "`x`; ", "{ ", "12_é. "])


@given(st.lists(pieces, max_size=10).map(lambda some: "".join(some) * 20), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_no_more_goes_than_the_rate_allows_and_nothing_but_plain_words(content: str, rate: float):
    shown = pruned(Arrival("t", content), replace(EVERYTHING, rate=rate), path_of)
    assert len(shown.content) <= len(content)
    if shown.clipped:
        kept = shown.content.rpartition("\n")[0]
        assert len(kept.rstrip()) >= int(len(content.rstrip()) * rate) - (len(content) - len(content.rstrip()))
        assert kept.count("\n") <= content.count("\n")
        rest = iter(content)
        assert all(character in rest for character in kept)


def test_what_is_too_long_even_so_is_clipped_with_its_head_and_tail():
    engine = TokenPruneEngine()
    (shown,) = engine.arrive([Arrival("t", "x" * 80 + "\n" + "\n".join("value = call(number)" for _ in range(4_000)))], path_of)
    assert shown.clipped
    assert len(shown.content) < 3_000


def test_where_the_context_is_full_it_is_as_with_ullage():
    assert isinstance(TOKEN_PRUNE.engine, TokenPruneEngine)
    assert TOKEN_PRUNE.engine.rest == UllageEngine()
