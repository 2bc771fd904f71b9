"""Puts the site's pages into a folder of their own.

On the way each link is looked at. What leads to another page, or to a picture, leads to where that lies in the site. What leads to another
file of the repository leads to the repository's own page of it. What leads nowhere is an error. Nested lists are written with the four
spaces that the generator wants; the repository's own view takes fewer.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from website.pages import REPOSITORY, ROOT, Page

PICTURES = {".png", ".svg", ".webp", ".gif"}

_LINK = re.compile(r"(\]\()([^)\s]+)(\))|((?:href|src|srcset)=\")([^\"]+)(\")")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_ITEM = re.compile(r"^(?:[-*] |\d+\. )")


class BrokenLinkError(Exception):
    """Links that lead nowhere, each with the document that it stands in."""


def gather(pages: Iterable[Page], to: Path) -> None:
    """Write all pages and their pictures into a folder.

    Raises BrokenLinkError if a document is missing or links to what is not there; it names all of them.
    """
    places = {page.source: page.place for page in pages}
    broken: list[str] = []
    for source, place in places.items():
        text = ROOT / source
        if not text.is_file():
            broken.append(f"website/pages.py names {source}, which is not there")
            continue
        links = _Links(source, place, places)
        target = to / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_spelt_out(text.read_text("utf-8"), links), "utf-8")
        for picture in links.pictures:
            copy = to / picture
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / links.pictures[picture], copy)
        broken += links.broken
    if broken:
        raise BrokenLinkError("\n".join(broken))


class _Links:
    """The links of one document."""

    def __init__(self, source: str, place: str, places: dict[str, str]) -> None:
        self._source = source
        self._place = place
        self._places = places
        self.pictures: dict[str, str] = {}
        """What they show: places in the site, with where the files lie in the repository."""
        self.broken: list[str] = []

    def led(self, link: str) -> str:
        """The link as it has to be in the site."""
        if re.match(r"[a-z]+:|#|//", link):
            return link
        path, mark, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(self._source), path))
        if target in self._places:
            return self._relative(self._places[target]) + mark + anchor
        file = ROOT / target
        if target.startswith("..") or not file.exists():
            self.broken.append(f"{self._source} links to {link}, which is not there")
            return link
        if file.suffix in PICTURES:
            place = target.removeprefix("docs/")
            self.pictures[place] = target
            return self._relative(place)
        kind = "tree" if file.is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{target}{mark}{anchor}"

    def _relative(self, place: str) -> str:
        return posixpath.relpath(place, posixpath.dirname(self._place) or ".")


def _spelt_out(text: str, links: _Links) -> str:
    """A document as the generator has to get it: its links led, and the lines of its lists four spaces to a level."""
    lines: list[str] = []
    paragraph: list[str] = []
    fence, shift, in_list = "", 0, False
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(" " * shift + line if line else line)
            if mark is not None and mark[1].startswith(fence):
                fence = ""
            continue
        if line.strip():
            in_list = _ITEM.match(line) is not None or (in_list and line.startswith(" "))
        shift = _missing(line) if in_list else 0
        if mark is None and line.strip():
            paragraph.append(" " * shift + line)
            continue
        lines += [_with_links("\n".join(paragraph), links)] if paragraph else []
        paragraph = []
        fence = mark[1] if mark is not None else ""
        lines.append(" " * shift + line if line else line)
    return "\n".join([*lines, *([_with_links("\n".join(paragraph), links)] if paragraph else [])])


def _missing(line: str) -> int:
    """How many spaces a line of a list lacks: the generator takes two or three for no level at all."""
    spaces = len(line) - len(line.lstrip(" "))
    return 4 * (spaces // 2) - spaces


def _with_links(text: str, links: _Links) -> str:
    """The text with its links led; what stands in backquotes is left alone."""
    parts: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        parts += [_LINK.sub(lambda found: _led(found, links), text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, _LINK.sub(lambda found: _led(found, links), text[at:])])


def _led(found: re.Match[str], links: _Links) -> str:
    before, link, after = (found[1], found[2], found[3]) if found[2] is not None else (found[4], found[5], found[6])
    return f"{before}{links.led(link)}{after}"
