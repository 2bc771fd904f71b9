"""The Chinese README and Getting started follow the English ones: in each section the same code, links, figures, lists and tables.

So whoever changes what the English text tells has to change the Chinese one, and a new wording of the same thing breaks nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLLOWED = ["README.md", "docs/getting-started.md"]
HEADING = re.compile(r"^(#+) ", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Section:
    level: int
    commands: list[str]
    """Of blocks of code, without their comments."""
    code: Counter[str]
    links: Counter[str]
    figures: Counter[str]
    items: int
    rows: list[int]
    """Cells of each row of a table."""
    paragraphs: int


def chinese_of(document: str) -> Path:
    return ROOT / document.replace(".md", ".zh-cn.md")


def sections(text: str) -> list[Section]:
    blocks = [FENCED.sub(lambda block: block[0].replace("\n#", "\n\0"), text)]  # a comment is no heading
    starts = [match.start() for match in HEADING.finditer(blocks[0])]
    assert starts, "there is no heading"
    return [section(blocks[0][start:end]) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def section(text: str) -> Section:
    level = len(text) - len(text.lstrip("#"))
    commands = [line.partition("#")[0].rstrip() for block in FENCED.findall(text) for line in block.split("\n")]
    prose = FENCED.sub("", text)
    links = [link.replace(".zh-cn.md", ".md") for link in re.findall(r"\]\(([^)]+)\)", prose)]
    code = re.findall(r"`([^`]+)`", prose)
    said = re.sub(r"`[^`]+`|\]\([^)]+\)", "", prose)
    lines = prose.split("\n")
    return Section(
        level,
        commands,
        Counter(code),
        Counter(links),
        Counter(re.findall(r"\d[\d,.]*(?<![,.])", said)),
        sum(bool(re.match(r"(?:[-*]|\d+\.) ", line)) for line in lines),
        [line.count("|") for line in lines if line.startswith("|")],
        len([part for part in prose.split("\n\n") if part.strip()]),
    )


@pytest.mark.parametrize("document", FOLLOWED)
def test_the_chinese_text_follows_the_english_one(document: str) -> None:
    chinese = chinese_of(document)
    english, other = sections((ROOT / document).read_text("utf-8")), sections(chinese.read_text("utf-8"))
    assert [each.level for each in english] == [each.level for each in other], f"{chinese.name} has other headings than {document}"
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", (ROOT / document).read_text("utf-8")), re.MULTILINE)
    for title, one, two in zip(titles, english, other, strict=True):
        assert two == one, f"{document}, section {title!r}: bring {chinese.name} up to date (CONTRIBUTING.md has the word list)"


@pytest.mark.parametrize("document", FOLLOWED)
def test_each_leads_to_the_other(document: str) -> None:
    chinese = chinese_of(document)
    assert f"[中文]({chinese.name})" in (ROOT / document).read_text("utf-8")
    assert f"[English]({(ROOT / document).name})" in chinese.read_text("utf-8")


@pytest.mark.parametrize("document", FOLLOWED)
def test_the_chinese_text_is_chinese(document: str) -> None:
    text = chinese_of(document).read_text("utf-8")
    prose = re.sub(r"`[^`]+`|\]\([^)]+\)", "", FENCED.sub("", text))
    letters = re.findall(r"[一-鿿]", prose)
    assert len(letters) > 500
    wrong = re.findall(r"[：？（）]|[一-鿿][A-Za-z0-9]|[A-Za-z0-9%][一-鿿]", prose)
    assert wrong == [], "CONTRIBUTING.md has the typography: half-width colons and parentheses, a space between Chinese and Latin"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("needs 3 files", "needs 4 files"),
        ("`npm test`", "`npm run check`"),
        ("[a](a.md)", "[a](b.md)"),
        ("- one\n- two", "- one"),
        ("| a | b |", "| a |"),
        ("one\n\ntwo", "one"),
        ("## Two", "### Two"),
        ("```sh\nnpm test # all\n```", "```sh\nnpm start # all\n```"),
    ],
)
def test_a_change_of_what_is_told_is_noticed(before: str, after: str) -> None:
    assert sections(f"# One\n\n{before}\n") != sections(f"# One\n\n{after}\n")


@pytest.mark.parametrize(("before", "after"), [("a word", "some words"), ("```sh\nnpm test # all\n```", "```sh\nnpm test # 全部\n```")])
def test_another_wording_is_none(before: str, after: str) -> None:
    assert sections(f"# One\n\n{before}\n") == sections(f"# One\n\n{after}\n")
