"""What is read of an HTML page."""

from __future__ import annotations

import time

import pytest

from tests.deep import many
from ullage.context.page_text import page_text


def test_headings_lists_code_and_tables_keep_their_shape() -> None:
    html = """<html><head><title>Dip &amp; depth</title><style>p {}</style></head><body>
    <h1>Gauges</h1><p>A <b>dip</b> is
    a depth.<br>Read twice.</p><ul><li>one</li><li><p>two</p></li></ul>
    <pre>def dip():
    return 1</pre><table><tr><td>1</td><td>2</td></tr></table></body></html>"""
    read = page_text(html)
    assert read.title == "Dip & depth"
    assert read.text == ("# Gauges\n\nA dip is a depth.\nRead twice.\n\n- one\n\n- two\n\n```\ndef dip():\n    return 1\n```\n\n1 | 2")


@pytest.mark.parametrize(
    "silent",
    [
        "<script>steal()</script>",
        "<style>a{}</style>",
        "<nav><a href=/>Home</a></nav>",
        "<div hidden>no</div>",
        '<div aria-hidden="true"><div>no</div> no</div>',
        "<template>no</template>",
        "<!-- no -->",
        "<svg><text>no</text></svg>",
    ],
)
def test_what_nobody_reads_is_left_out(silent: str) -> None:
    assert page_text(f"<p>before{silent}</p><p>after</p>").text == "before\n\nafter"


@pytest.mark.parametrize("broken", ["</div></p>words", "<b><i>words", "words</pre></li>", "<p>words<", "<head><title>t</title><body>words"])
def test_broken_markup_is_read_all_the_same(broken: str) -> None:
    assert "words" in page_text(broken).text


def test_a_page_in_a_form_is_read() -> None:
    assert page_text("<form><p>words</p></form>").text == "words"


@pytest.mark.parametrize(
    "piece", ["<", "<a ", "<!--", "&", "</", "<p>", "<nav>", "<!", '<a b="', "<script>", "<title>", "<b hidden>", "<a b='c\">"]
)
@pytest.mark.deep
def test_no_page_takes_long(piece: str) -> None:
    html = (piece * 400_000)[: many(300_000, deep=1_000_000)]
    before = time.process_time()
    page_text(html)
    assert time.process_time() - before < 5
