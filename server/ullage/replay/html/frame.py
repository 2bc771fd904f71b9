"""The page around the report: style and script inside it, and a policy that lets it fetch and run nothing else."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from ullage.replay.html.markup import Markup, joined, tag

_STYLE = ("colours", "page", "tables", "bars", "pictures", "paper")
"""The parts of the style; a later one may change what an earlier one says."""


def page(title: str, *body: Markup | None) -> str:
    """The whole document. It fetches nothing, sends nothing, and shows the same without its script."""
    style, script = joined(*(_packaged(f"style/{name}.css") for name in _STYLE)), _packaged("page.js")
    own = f"style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", style),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', joined(*body), tag('script', script)), lang='en')}\n"


@cache
def _packaged(name: str) -> Markup:
    return Markup(files("ullage.replay.html").joinpath(name).read_text(encoding="utf-8"))


def _digest(words: str) -> str:
    return b64encode(sha256(words.encode("utf-8")).digest()).decode("ascii")
