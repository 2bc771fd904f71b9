"""The site builds from the repository's documents, with nothing missing and nothing from elsewhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from website.building import build
from website.pages import REPOSITORY, ROOT, pages, sections


def test_the_site_is_built_with_nothing_missing(tmp_path: Path) -> None:
    """One test for all that is looked at: to build it takes seconds, and tests side by side would each build it."""
    site = tmp_path / "site"
    build(tmp_path / "work", site)
    every_document_has_its_place(site)
    every_picture_is_there(site)
    chinese_pages_say_that_they_are_chinese(site)
    nested_lists_stay_nested(site)


def every_document_has_its_place(site: Path) -> None:
    start = (site / "index.html").read_text("utf-8")
    documents = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert documents <= {page.source for page in pages()}
    for page in pages():
        built = page.place.removesuffix(".md") + ".html"
        assert (site / built).is_file()
        assert f'href="./{built}"' in start or built == "index.html", f"{page.source} stands in no navigation"


def every_picture_is_there(site: Path) -> None:
    shown = {
        (page.parent / source).resolve()
        for page in site.rglob("*.html")
        for source in re.findall(r'<img[^>]*\bsrc="([^":]+)"', page.read_text("utf-8"))
        if page.name != "404.html"
    }
    assert len(shown) > 20
    assert [path for path in shown if not path.is_file()] == []


def chinese_pages_say_that_they_are_chinese(site: Path) -> None:
    languages = {page.name: re.findall(r'<html lang="([^"]+)"', page.read_text("utf-8")) for page in site.rglob("*.html")}
    chinese = {name for name, language in languages.items() if language == ["zh"]}
    assert chinese == {name for name in languages if ".zh-cn." in name}
    assert len(chinese) >= 4
    assert all(language == ["en"] for name, language in languages.items() if name not in chinese)


def nested_lists_stay_nested(site: Path) -> None:
    text = (site / "sandbox.html").read_text("utf-8")
    assert re.search(r"<li>(?:(?!</li>).)*<ul>", text, re.DOTALL), "docs/sandbox.md has a list in a list"


def test_links_into_the_repository_lead_to_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["urls"]["Repository"] == REPOSITORY


def test_no_page_stands_twice() -> None:
    places = [page.place for section in sections() for page in section.pages]
    assert len(places) == len(set(places))
