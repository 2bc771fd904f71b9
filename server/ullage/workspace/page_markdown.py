"""An HTML page as Markdown, as somebody reads it: its main part, with its links, without scripts, styles, menus and what is hidden.

justhtml reads the markup as a browser does, however broken it is, in a time that goes with its length (`html.parser` takes the square for
some). It writes the Markdown too, but for three things that are done here: a table of data becomes one in Markdown, one that only lays a
page out is taken apart, and what looks like Markdown in plain words stays as it is, since nobody draws this: a model reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:  # takes long to import, and nobody may ever read a page
    from justhtml import Node

MOST_CHARACTERS = 1_000_000
"""How many characters of a page's markup are read: half a second, twelve seconds for the worst page that was tried."""
MOST_TABLES = 500
"""How many tables of a page are written as tables."""
LEAST_MAIN = 200
"""The fewest characters of a main part: a page in which it has fewer has its text elsewhere."""

_SILENT = frozenset(
    (
        *("script", "style", "template", "svg", "canvas", "iframe", "object", "nav", "head", "select", "button", "dialog", "noscript"),
        *("textarea", "input", "audio", "video", "source", "track", "frame", "frameset", "embed", "#comment", "!doctype"),
    )
)
"""Elements whose content is not read."""

_BESIDE = frozenset(("footer", "aside"))
"""Elements whose content is not read either if a page does not say which its main part is."""

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LAYS_OUT = _HEADINGS | {"table", "pre", "form"}
"""Elements that no table of data holds: a table with one of them only lays out the page."""
_PARTS_OF_TABLES = frozenset(("thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup", "col"))

_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_BLANK_LINES = re.compile(r"\n{3,}")

# The library escapes what would be Markdown. It does not know these characters of private use, so they come out as they went in.
_PLAIN = "&<\\`*_[]"
_STAND_IN = {ord(plain): chr(0xE000 + at) for at, plain in enumerate(_PLAIN)}
_BACK = {0xE000 + at: plain for at, plain in enumerate(_PLAIN)}
_TABLE, _TABLE_ENDS = "\ue010", "\ue011"
_TABLE_HERE = re.compile(f"{_TABLE}(\\d+){_TABLE_ENDS}")
_OURS = dict.fromkeys(range(57344, 57362))


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page in Markdown. `title` is empty if it has none."""

    title: str
    text: str


def page_text(html: str, url: str = "") -> PageText:
    """The title and the main part of a page. Links are made absolute by its address. For another thread."""
    from justhtml import JustHTML

    root = cast("Node", JustHTML(html[:MOST_CHARACTERS].translate(_OURS), sanitize=False).root)
    title = next((node for node in _below(root) if node.name == "title"), None)
    main = _main_part(root)
    reading = _Reading(url, _SILENT if main is not None else _SILENT | _BESIDE)
    part = root if main is None else main
    reading.prepare(part)
    text = part.to_markdown()[:MOST_CHARACTERS]
    text = _TABLE_HERE.sub(lambda found: reading.written[int(found[1])], text).translate(_BACK)
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return PageText("" if title is None else _SPACE.sub(" ", _words(title)).strip(), _BLANK_LINES.sub("\n\n", text).strip())


def _main_part(root: Node) -> Node | None:
    """The part that the page itself calls its main part; None if it names none, or more than one, or one with almost no text."""
    mains = [node for node in _below(root) if (node.name == "main" or _attribute(node, "role") == "main") and not _is_hidden(node)]
    found = mains or [node for node in _below(root) if node.name == "article"]
    return found[0] if len(found) == 1 and len(_words(found[0])) >= LEAST_MAIN else None


class _Reading:
    """Makes a page ready to be written as Markdown."""

    def __init__(self, url: str, silent: frozenset[str]) -> None:
        self._url = url
        self._silent = silent
        self.written: list[str] = []
        """The tables of the page, in Markdown."""

    def prepare(self, part: Node) -> None:
        """Takes out what nobody reads, and changes what the library would write in another way."""
        tables: list[Node] = []
        laying_out: set[int] = set()
        waiting: list[tuple[Node, Node | None, bool]] = [(part, None, False)]
        """Nodes that are still to be looked at, each with the table around it, and whether it is code."""
        while waiting:
            node, around, is_code = waiting.pop()
            if node.name == "#text":
                if not is_code:
                    node.data = str(node.data or "").translate(_STAND_IN)
                continue
            if node.name in _LAYS_OUT and around is not None:
                laying_out.add(id(around))
            if node.name == "table":
                tables.append(node)
                around = node
            self._change(node)
            node.children = [child for child in node.children or () if not self._is_silent(child)]
            code = is_code or node.name in ("pre", "code")
            waiting.extend((child, around, code) for child in node.children)
        for number, table in enumerate(tables):
            rows = [] if id(table) in laying_out or number >= MOST_TABLES else _rows(table)
            if len(rows) < 2 or max(map(len, rows)) < 2:
                _take_apart(table)
                continue
            self._put(table, rows)

    def _is_silent(self, node: Node) -> bool:
        return node.name in self._silent or _is_hidden(node)

    def _change(self, node: Node) -> None:
        """Gives a link its whole address, or makes it plain text if it leads nowhere; puts its words in the place of an image."""
        from justhtml import Text

        if node.name == "img":
            alt = _SPACE.sub(" ", _attribute(node, "alt")).strip()
            node.name, node.children = "span", [Text(alt)] if alt else []
        elif node.name == "li":
            first = next((child for child in node.children or () if child.name != "#text" or _words(child).strip()), None)
            if first is not None and first.name == "p":  # else its mark would stand in a line of its own
                first.name = "span"
        elif node.name == "a":
            where = _whole(self._url, _attribute(node, "href"))
            if where:
                node.attrs = {"href": where}
                return
            node.name = "span"
            if len(_words(node).strip()) < 2:  # the sign beside a heading
                node.children = []

    def _put(self, table: Node, rows: list[list[Node]]) -> None:
        from justhtml import Text

        width = max(map(len, rows))
        lines = [" | ".join(_cell(cell) for cell in row) + " |" * (width - len(row)) for row in rows]
        lines.insert(1, " | ".join(["---"] * width))
        table.name, table.children = "p", [Text(f"{_TABLE}{len(self.written)}{_TABLE_ENDS}")]
        self.written.append("\n".join(f"| {line} |" for line in lines))


def _rows(table: Node) -> list[list[Node]]:
    rows = (node for node in _below(table) if node.name == "tr")
    cells = ([cell for cell in row.children or () if cell.name in ("td", "th")] for row in rows)
    return [each for each in cells if each]


def _cell(cell: Node) -> str:
    return _SPACE.sub(" ", cell.to_markdown()).strip().replace("|", "\\|")


def _take_apart(table: Node) -> None:
    waiting = [table]
    while waiting:
        node = waiting.pop()
        node.name = "div"
        waiting.extend(child for child in node.children or () if child.name in _PARTS_OF_TABLES)


def _below(node: Node) -> Iterator[Node]:
    """The node and all nodes in it, in the order of the page."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children or ()))


def _words(node: Node) -> str:
    return "".join(str(each.data or "") for each in _below(node) if each.name == "#text")


def _attributes(node: Node) -> Mapping[str, str | None]:
    return getattr(node, "attrs", None) or {}  # words have none


def _attribute(node: Node, name: str) -> str:
    return str(_attributes(node).get(name) or "")


def _is_hidden(node: Node) -> bool:
    attributes = _attributes(node)
    style = attributes.get("style")
    return "hidden" in attributes or attributes.get("aria-hidden") == "true" or (bool(style) and _INVISIBLE.search(str(style)) is not None)


def _whole(url: str, href: str) -> str:
    """The absolute address that a link leads to; empty if it leads nowhere else."""
    if not href.strip() or href.strip().startswith("#"):
        return ""
    try:
        whole = urljoin(url, href.strip())
        return whole if urlsplit(whole).scheme in ("http", "https", "mailto") else ""
    except ValueError:
        return ""
