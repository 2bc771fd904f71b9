"""What a browser would load from another host: nothing, or the site does not build.

Pages and style sheets are read for every address that a browser loads by itself. The theme's script cannot be read so: it has addresses
of helpers in it, which it loads only for things that no page here has. So each page also carries a policy that makes the browser refuse
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

POLICY = "default-src 'self'"
"""How the policy of each page begins (`overrides/main.html`)."""

_LOADED = {"src", "poster", "data", "background", "action", "formaction"}
_LOADING_LINKS = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "manifest",
    "apple-touch-icon",
}
_OWN_PLACE = {"iframe", "object", "embed", "base"}
"""Elements that could escape a page's policy or change what its addresses mean."""
_FOREIGN = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_IN_STYLES = re.compile(r"(?:url\(\s*|@import\s+)[\"']?\s*((?:[a-z][a-z0-9+.-]*:)?//[^\"')\s;]+)", re.IGNORECASE)


def foreign_loads(site: Path) -> list[str]:
    """What the files of a built site would have loaded from elsewhere: a line for each, with the file that says so."""
    found: list[str] = []
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        reader = _Page()
        reader.feed(page.read_text("utf-8"))
        found += [f"{page.relative_to(site)}: {each}" for each in reader.found]
        if not any(policy.startswith(POLICY) for policy in reader.policies):
            found.append(f"{page.relative_to(site)}: no policy keeps the browser to this host")
    for sheet in sorted(site.rglob("*.css")):
        found += [f"{sheet.relative_to(site)}: {each}" for each in _in_styles(sheet.read_text("utf-8"))]
    return found if pages else ["there are no pages"]


def _in_styles(text: str) -> Iterator[str]:
    return (match[1] for match in _IN_STYLES.finditer(text))


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.policies: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        if tag in _OWN_PLACE:
            self.found.append(f"<{tag}>")
        loaded = [given[name] for name in _LOADED if name in given] + given.get("srcset", "").split(",")
        if tag == "link" and _LOADING_LINKS & set(given.get("rel", "").lower().split()):
            loaded.append(given.get("href", ""))
        if tag in {"use", "image"}:
            loaded += [given.get("href", ""), given.get("xlink:href", "")]
        self.found += [address.strip() for address in loaded if _FOREIGN.match(address)]
        self.found += _in_styles(given.get("style", ""))
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.policies.append(given.get("content", "").strip())

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.found += _in_styles(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
