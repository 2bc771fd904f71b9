"""The text of an HTML page, as somebody reads it: no scripts, no styles, no menus. Pure.

It is for a model: headings, lists, tables and code keep their shape, links keep their words alone. Broken markup is read all the same.

The page is cut into tags and words here, and not by `html.parser`, which takes the square of the length for some markup (`<a <a <a …`:
more than a minute for 200,000 characters). Each step here goes on from where the last one ended, or ends the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

_SILENT = frozenset(
    ("script", "style", "template", "svg", "canvas", "iframe", "object", "nav", "head", "select", "button", "dialog", "noscript")
)
"""What is in them is not read."""

_RAW = frozenset(("script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"))
"""What is in them is no markup, up to their end."""

_BREAKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer"),
        *(
            "header",
            "hr",
            "main",
            "ol",
            "p",
            "section",
            "table",
            "tbody",
            "thead",
            "tr",
            "ul",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "li",
            "pre",
        ),
    )
)
"""They stand in lines of their own."""

_VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "area", "base", "col", "embed"))
"""They have no end."""

_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,40}")
_QUOTE_OR_END = re.compile(r"[\"'>]")
_HIDDEN = re.compile(r"\shidden(?=[\s=/]|$)|\saria-hidden\s*=\s*[\"']?true", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says. `title` is empty where it has none."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    ends: bool
    hidden: bool


def page_text(html: str) -> PageText:
    """The title and the text of a page, however broken its markup is."""
    reader = _Reader()
    for piece in _pieces(html):
        if isinstance(piece, str):
            reader.words(piece)
        elif piece.ends:
            reader.end(piece.name)
        else:
            reader.begin(piece.name, hidden=piece.hidden)
    return PageText(" ".join(unescape("".join(reader.title)).split()), reader.text())


def _pieces(html: str) -> Iterator[_Tag | str]:
    """Tags, and the words between them."""
    at = 0
    while at < len(html):
        opening = html.find("<", at)
        if opening < 0:
            yield html[at:]
            return
        if opening > at:
            yield html[at:opening]
        if html.startswith("<!--", opening):
            at = _after(html, "-->", opening + 4)
            continue
        if html.startswith(("<!", "<?"), opening):
            at = _after(html, ">", opening + 2)
            continue
        ends = html.startswith("</", opening)
        name = _NAME.match(html, opening + 1 + ends)
        if name is None:
            yield "<"
            at = opening + 1
            continue
        end = _end_of_tag(html, name.end())
        tag = _Tag(name.group().lower(), ends, not ends and _HIDDEN.search(html, name.end(), min(end, name.end() + 2_000)) is not None)
        yield tag
        at = end + 1
        if tag.name in _RAW and not ends:
            closing = re.compile(f"</{tag.name}", re.IGNORECASE).search(html, at)
            stop = closing.start() if closing else len(html)
            yield html[at:stop]
            at = stop


def _after(html: str, mark: str, at: int) -> int:
    found = html.find(mark, at)
    return len(html) if found < 0 else found + len(mark)


def _end_of_tag(html: str, at: int) -> int:
    """Where its `>` stands, which may also stand in quotes; the end of the page where there is none."""
    while (found := _QUOTE_OR_END.search(html, at)) is not None:
        if found.group() == ">":
            return found.start()
        closing = html.find(found.group(), found.end())
        if closing < 0:
            return len(html)
        at = closing + 1
    return len(html)


class _Reader:
    """Writes down what is read."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self._in_title = False
        self._silent: list[str] = []
        """The open elements of which nothing is read, the outermost first."""
        self._code = 0
        self._parts: list[str] = []

    def text(self) -> str:
        """All that was read, with at most one empty line in a row."""
        lines = [line.rstrip() for line in "".join(self._parts).split("\n")]
        return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()

    def begin(self, tag: str, *, hidden: bool) -> None:
        """An element begins."""
        if tag == "title" and self._silent in ([], ["head"]) and not self.title:
            self._in_title = True
            return
        if tag == "body":  # a head that was never closed
            self._silent.clear()
        if self._silent:
            if tag == self._silent[-1] and tag not in _VOID:
                self._silent.append(tag)
            return
        if tag in _SILENT or (hidden and tag not in _VOID):
            self._silent.append(tag)
            return
        if tag == "br":
            self._parts.append("\n")
        elif tag in ("td", "th"):
            self._parts.append(" | " if self._parts and not self._parts[-1].endswith("\n") else "")
        elif tag in _BREAKS:
            self._break()
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._parts.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self._parts.append("- ")
        elif tag == "pre":
            self._code += 1
            self._parts.append("```\n")

    def end(self, tag: str) -> None:
        """An element ends; one that was never begun says nothing."""
        if tag == "title":
            self._in_title = False
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
            return
        if tag == "pre" and self._code:
            self._code -= 1
            self._parts.append("\n```")
        if tag in _BREAKS:
            self._break()

    def words(self, raw: str) -> None:
        """What stands between two tags."""
        if self._in_title:
            self.title.append(raw)
        elif not self._silent:
            words = unescape(raw)
            self._parts.append(words if self._code else self._joined(_SPACE.sub(" ", words)))

    def _joined(self, words: str) -> str:
        at_beginning = not self._parts or self._parts[-1].endswith(("\n", " "))
        return words.lstrip(" ") if at_beginning else words

    def _break(self) -> None:
        last = self._parts[-1] if self._parts else "\n\n"
        if last != "- " and not last.endswith("\n\n"):
            self._parts.append("\n" if last.endswith("\n") else "\n\n")
