"""The page of a replay: whole, harmless and readable whatever the names and figures in it; and what it says first."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import deep
from tests.unit.replay.made_up_runs import POLICIES, many, row, run
from ullage.context.blocks import Usage
from ullage.recorded.readers.values import printable
from ullage.recorded.transcript import Repair
from ullage.replay.measuring.figures import Figures, Report, RequestCounts
from ullage.replay.measuring.runs import Retained, Run
from ullage.replay.pricing.cost import Dollars
from ullage.replay.pricing.recorded_models import as_of
from ullage.replay.reporting.html.markup import tag
from ullage.replay.reporting.html.page import PageSettings, as_html

VOID = {"meta", "br", "hr"}

HOSTILE = (
    "<script>alert(1)</script>",
    "</style></script></title><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "<!--",
    "]]>&lt;b&gt;&amp;",
    "line\nbreak\x00\x1b[2J",
    "\u202egnp.exe\u2066",
    "half \ud83d a character",
    "https://example.com/x.js",
)


class Page(HTMLParser):
    """The page taken apart: its elements with their attributes, its words, and whether everything that was opened was closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.raw: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.raw[self.open[-1]] = data
        else:
            self.words.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def check(html: str) -> Page:
    """What holds of every page."""
    html.encode("utf-8")
    page = Page(html)
    (style,), (script,) = page.all("style"), page.all("script")
    assert style == script == {}
    (policy,) = [each["content"] or "" for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    for name, raw in page.raw.items():
        assert f"'sha256-{b64encode(sha256(raw.encode()).digest()).decode()}'" in policy, name
    assert "unsafe" not in policy
    for name, attributes in page.elements:
        assert not {key for key in attributes if key.startswith("on") or key in ("style", "src", "action")}, name
        assert (attributes.get("href") or "#").startswith("#")
        assert "url(" not in str(attributes.get("fill", "")) or str(attributes["fill"]).startswith("url(#")
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for key in ("aria-labelledby", "href"):
            if key in attributes:
                assert (attributes[key] or "").lstrip("#") in ids
    assert all("scope" in each for each in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    assert not {name for name, _ in page.elements} & {"img", "link", "iframe", "object", "embed", "form", "base", "a"}
    for picture in re.findall(r"<svg(?: [^>]*)?>.{0,8}", html, re.DOTALL):
        assert "<title>" in picture or 'aria-hidden="true"' in picture
    return page


@pytest.mark.parametrize(
    ("sessions", "policies"), [(1, ("ullage",)), (1, ("none",)), (2, ("ullage", "codex")), (3, POLICIES)], ids=["one", "none", "two", "all"]
)
def test_the_page_is_whole(sessions: int, policies: tuple[str, ...]):
    report, runs = many(sessions, policies, 80)
    page = check(as_html(report, runs))
    for name in (*policies, "optimum", as_of()):
        assert name in page.text


@pytest.mark.deep
def test_fifty_sessions_under_all_policies_are_less_than_a_megabyte():
    """The page grows more slowly than they do, so for the twelve of the sample the limit is half of that."""
    report, runs = many(deep.many(12, deep=50), POLICIES, 120)
    assert len(as_html(report, runs).encode()) < deep.many(500_000, deep=1_000_000)


def test_the_answer_comes_first_and_in_words():
    report, runs = many(2, ("a", "b"), 300)
    kept = [replace(each, retained=Retained()) if each.policy == "a" else each for each in runs]
    text = check(as_html(report, kept, PageSettings(titles={"a": "What a does, in a line"}))).text
    assert text.index("The answer") < text.index("Before you rely on it") < text.index("The policies side by side")
    assert "Costs least" in text
    assert "keeps most a" in text
    assert "What a does, in a line" in text
    assert "With the same compactions at the best places these sessions would have cost" in text


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([], "No policy was replayed"),
        ([run("a", "s", 20)], "None of them ever had to compact"),
        ([run("a", "s", 200), run("b", "s", 200, keeps=1.0)], "the program summary stood for the summary"),
        ([Run("a", "s", failure="division by zero"), Run("b", "s", failure="no such thing")], "is left out of all sums of policies"),
        ([Run("a", "s", failure="division by zero"), run("b", "s", 200)], "a is ruled out: it failed in 1 of 1 sessions"),
        ([run("none", "s", 400, line=10**9)], "would not have fitted into the model's window"),
        ([replace(run("a", "s", 200), dollars=Dollars(), summaries=Dollars(), summaries_cold=Dollars())], "no prices are known"),
        ([run("a", "s", 60)], "This rests on few facts"),
        ([run("a", "s", 200)], "off by -1.4 %"),
        ([run("a", "another", 200)], "Not replayed, and so in no sum: session 1"),
        ([run("optimum", "s", 200)], "No policy was replayed"),
    ],
)
def test_what_stands_in_the_way_of_an_answer_is_said(runs: list[Run], said: str):
    assert said in check(as_html(Report((row("s"),)), runs)).text


def test_a_cheapest_policy_that_forgets_unseen_is_not_simply_recommended():
    made = run("a", "s", 200, price=0.1)
    every_call = replace(made, retained=Retained(), compactions=tuple(replace(each, upkeep=True) for each in made.compactions * 5))
    text = check(as_html(Report((row("s"),)), [every_call, run("b", "s", 200)])).text
    assert "a costs least" in text
    assert "what it keeps is not known" in text
    assert "Of those that can be judged: take b" in text
    assert "To take, keeps most b" in text


def test_blanks_are_not_judged():
    made = run("a", "s", 200)
    blank = replace(made, compactions=tuple(replace(each, stood_in="blank") for each in made.compactions))
    text = check(as_html(Report((row("s"),)), [blank], PageSettings(summary="none"))).text
    assert "What the policies keep is not judged" in text
    assert "Keeps most" not in text


def test_sessions_whose_figures_are_missing_are_named_with_the_reason():
    bare = replace(row("t"), figures=Figures(calls=RequestCounts(3), tokens=Usage(0, 0)))
    report = Report((row("s"), bare), ("x.jsonl is no transcript",))
    text = check(as_html(report, [run("a", "s"), run("a", "t")])).text
    assert "In session 2: tokens, output, dollars, predicted cache reads as recorded: no reply of the model has a token count" in text
    assert "Not read: x.jsonl is no transcript" in text


def test_an_empty_report():
    check(as_html(Report(())))


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_are_words_and_nothing_else(name: str):
    harmless, hostile = _page_of("na/me" if "/" in name else "name"), _page_of(name)
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in harmless.elements]
    assert printable(name) in "".join(hostile.words)


def _page_of(name: str) -> Page:
    """Everything that is a name, a text of others or a path is `name`."""
    shown = replace(
        row(name, path=f"/tmp/{name}"),
        models=(name,),
        notes=(name,),
        repairs=(Repair(name, 1),),
        figures=Figures(unpriced=(name,), calls=RequestCounts(2, 2)),
    )
    too_long = replace(run("none", "s", 400, line=10**9), policy=name, violations=(name,))
    runs = [too_long, Run(f"{name} 2", name, failure=name), run("other", "s", 200), run("third", "s", 200, keeps=0.9)]
    runs = [replace(each, session_id=name) for each in runs]
    return check(as_html(Report((shown,), (name,), name), runs, PageSettings(titles={name: name, "other": name})))


def test_a_long_name():
    _page_of("a" * 3_000)


def test_a_file_name_that_is_no_text():
    assert Path(b"\xff.jsonl".decode("utf-8", "surrogateescape")).name not in as_html(Report((row("s", path="\udcff.jsonl"),)))


@given(st.text())
def test_text_comes_out_as_it_went_in_but_for_tricks(words: str):
    page = Page(tag("p", words, title=words))
    assert "".join(page.words) == printable(words)
    assert page.all("p")[0]["title"] == printable(words)
