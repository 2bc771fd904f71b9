"""What is read of an HTML page, as Markdown."""

from __future__ import annotations

import time

import pytest

from tests.deep import many
from ullage.workspace.page_markdown import page_text


def test_headings_lists_code_and_tables_keep_their_shape() -> None:
    html = """<html><head><title>Dip &amp; depth</title><style>p {}</style></head><body>
    <h1>Gauges<a class=headerlink href="#gauges">¶</a></h1><p>A <b>dip</b> is
    a depth, a_b &lt; 2*c &amp; d.<br>Read <a href="/twice?a=1#b">twice</a>.</p><ul><li>one</li><li><p>two</p></li></ul>
    <pre>def dip():
    return 1 &lt; a_b</pre>
    <table><tr><th>A</th><th>B</th></tr><tr><td><p>1</p></td><td>2 | <code>a_b</code></td></tr></table></body></html>"""
    read = page_text(html, "https://a.org/docs/")
    assert read.title == "Dip & depth"
    assert read.text == (
        "# Gauges\n\nA **dip** is a depth, a_b < 2*c & d.\nRead [twice](https://a.org/twice?a=1#b).\n\n- one\n- two\n\n"
        "```\ndef dip():\n    return 1 < a_b\n```\n\n| A | B |\n| --- | --- |\n| 1 | 2 \\| `a_b` |"
    )


def test_the_main_part_is_what_is_read() -> None:
    words = "words " * 60
    page = f"<header>Home</header><aside>more</aside><main><h1>Tank</h1><p>{words}</p></main><footer>Imprint</footer>"
    assert page_text(page).text == f"# Tank\n\n{words.strip()}"
    short = page_text("<header>Home</header><main></main><div>elsewhere</div><aside>more</aside><footer>Imprint</footer>").text
    assert short == "Home\n\nelsewhere"


def test_a_table_that_lays_out_a_page_is_taken_apart() -> None:
    page = (
        "<table><tr><td><h2>Left</h2></td><td><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table></td></tr></table>"
    )
    assert page_text(page).text == "## Left\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize("href", ["javascript:alert(1)", "data:text/html,x", "#here", "", "http://[::"])
def test_a_link_that_leads_nowhere_is_its_words(href: str) -> None:
    assert page_text(f'<p>See <a href="{href}">that page</a>.</p>', "https://a.org/").text == "See that page."


def test_of_an_image_its_words_are_read() -> None:
    assert page_text('<p>Look: <img src="data:image/png;base64,AAAA" alt="a  gauge"><img src=x.png></p>').text == "Look: a gauge"


def test_signs_of_its_own_are_not_taken_for_the_page_s() -> None:
    assert page_text("<p>\ue0100\ue011 \ue000 words</p>").text == "0 words"


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
        '<div style="color: red; display:none">no</div>',
        "<button>no</button>",
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
    "piece",
    [
        "<",
        "<a ",
        "<!--",
        "&",
        "</",
        "<p>",
        "<nav>",
        "<!",
        '<a b="',
        "<script>",
        "<title>",
        "<b hidden>",
        "<a b='c\">",
        "<p><b><i><a>",
        "<table>",
        "<ul><li>",
        "<table><tr><td>a<td>b<tr><td>a<td>b</table>",
        "<main>",
    ],
)
@pytest.mark.deep
def test_no_page_takes_long(piece: str) -> None:
    html = (piece * 400_000)[: many(50_000, deep=1_000_000)]
    before = time.process_time()
    page_text(html)
    assert time.process_time() - before < many(3, deep=60)
