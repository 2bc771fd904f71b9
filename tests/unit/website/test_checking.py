"""What a browser would load from another host is found, whatever form it has; what only a click follows is not meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from website.checking import foreign_loads

POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'; img-src 'self'\">"


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.org/a.js"></script>',
        "<script src='//example.org/a.js'></script>",
        '<link rel="stylesheet" href="https://example.org/a.css">',
        '<link rel="preconnect" href="https://example.org">',
        '<link href="https://example.org/a.png" rel="icon"/>',
        '<img src="a.png" srcset="a.png 1x, https://example.org/b.png 2x">',
        '<img alt="a" src=" HTTPS://example.org/a.png">',
        '<video poster="https://example.org/a.png"></video>',
        '<form action="https://example.org/"></form>',
        '<svg><use href="https://example.org/a.svg#b"/></svg>',
        '<p style="background: url(https://example.org/a.png)"></p>',
        '<style>@import "https://example.org/a.css";</style>',
        "<style>a { background: url('//example.org/a.png') }</style>",
        '<iframe src="a.html"></iframe>',
        '<base href="https://example.org/">',
    ],
)
def test_a_foreign_load_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(f"<html><head>{POLICY}</head><body>{text}</body></html>", "utf-8")
    assert len(foreign_loads(tmp_path)) == 1
    assert foreign_loads(tmp_path)[0].startswith("a.html: ")


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://example.org/">there</a>',
        '<img src="images/a.png" srcset="a.png 1x, b.png 2x"><script src="a.js"></script>',
        '<img src="data:image/png;base64,//8=">',
        '<link rel="canonical" href="https://example.org/">',
        "<code>https://example.org</code>",
        "<style>a { background: url(a.png) }</style>",
        '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    ],
)
def test_what_is_no_load_is_let_pass(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(f"<html><head>{POLICY}</head><body>{text}</body></html>", "utf-8")
    assert foreign_loads(tmp_path) == []


@pytest.mark.parametrize("text", ["@import url(https://example.org/a.css);", "@font-face { src: url('https://example.org/a.woff2') }"])
def test_style_sheets_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(POLICY, "utf-8")
    (tmp_path / "a.css").write_text(text, "utf-8")
    assert len(foreign_loads(tmp_path)) == 1


def test_a_page_has_to_keep_the_browser_to_this_host(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p></p>", "utf-8")
    assert foreign_loads(tmp_path) == ["a.html: no policy keeps the browser to this host"]


def test_an_empty_site_does_not_pass(tmp_path: Path) -> None:
    assert foreign_loads(tmp_path) == ["there are no pages"]
