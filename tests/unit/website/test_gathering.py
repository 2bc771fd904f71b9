"""Links as they have to be in the site, and lists as the generator wants them."""

from __future__ import annotations

from pathlib import Path

import pytest

from website import gathering
from website.gathering import BrokenLinkError, gather
from website.pages import REPOSITORY, Page

PAGES = (Page("Start", "docs/start.md"), Page("Neovim", "docs/editors/neovim.md"), Page("Protocol", "PROTOCOL.md"))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    for name in ("docs/editors", "docs/images", "server"):
        (root / name).mkdir(parents=True)
    for name in ("docs/start.md", "docs/editors/neovim.md", "PROTOCOL.md", "docs/images/a.png", "server/code.py"):
        (root / name).write_text("# Title\n", "utf-8")
    monkeypatch.setattr(gathering, "ROOT", root)
    return root


def gathered(repository: Path, source: str, text: str) -> str:
    (repository / source).write_text(text, "utf-8")
    gather(PAGES, repository / "site")
    [place] = (page.place for page in PAGES if page.source == source)
    return (repository / "site" / place).read_text("utf-8")


@pytest.mark.parametrize(
    ("source", "written", "led"),
    [
        ("docs/start.md", "[a](../PROTOCOL.md)", "[a](protocol.md)"),
        ("docs/start.md", "[a](../PROTOCOL.md#turns)", "[a](protocol.md#turns)"),
        ("docs/start.md", "[a](#here)", "[a](#here)"),
        ("docs/start.md", "[a](https://example.org/x.md)", "[a](https://example.org/x.md)"),
        ("docs/editors/neovim.md", "[`a`](../start.md)", "[`a`](../start.md)"),
        ("docs/editors/neovim.md", "[a](../../PROTOCOL.md)", "[a](../protocol.md)"),
        ("docs/editors/neovim.md", "![a](../images/a.png)", "![a](../images/a.png)"),
        ("PROTOCOL.md", "![a](docs/images/a.png)", "![a](images/a.png)"),
        ("PROTOCOL.md", '<img src="docs/images/a.png">', '<img src="images/a.png">'),
        ("PROTOCOL.md", "[a](docs/start.md) and [b](server/code.py)", f"[a](start.md) and [b]({REPOSITORY}/blob/main/server/code.py)"),
        ("PROTOCOL.md", "[a](server)", f"[a]({REPOSITORY}/tree/main/server)"),
        ("PROTOCOL.md", "`[a](gone.md)`", "`[a](gone.md)`"),
        ("PROTOCOL.md", "```md\n[a](gone.md)\n```", "```md\n[a](gone.md)\n```"),
    ],
)
def test_a_link_leads_to_the_same_thing_in_the_site(repository: Path, source: str, written: str, led: str) -> None:
    assert gathered(repository, source, f"{written}\n") == f"{led}\n"


def test_what_a_page_shows_comes_along(repository: Path) -> None:
    gathered(repository, "PROTOCOL.md", "![a](docs/images/a.png)")
    assert (repository / "site/images/a.png").is_file()


@pytest.mark.parametrize("link", ["[a](gone.md)", "![a](docs/images/gone.png)", "[a](../outside.md)", '<img src="gone.png">'])
def test_a_link_that_leads_nowhere_is_named_with_its_document(repository: Path, link: str) -> None:
    with pytest.raises(BrokenLinkError, match=r"PROTOCOL\.md links to .*(gone|outside)"):
        gathered(repository, "PROTOCOL.md", link)


def test_all_of_them_are_named_at_once(repository: Path) -> None:
    (repository / "docs/start.md").write_text("[a](one.md)", "utf-8")
    with pytest.raises(BrokenLinkError, match=r"docs/start\.md links to one\.md.*\n.*PROTOCOL\.md links to two\.md"):
        gathered(repository, "PROTOCOL.md", "[a](two.md)")


def test_a_page_without_a_document_is_named(repository: Path) -> None:
    (repository / "PROTOCOL.md").unlink()
    with pytest.raises(BrokenLinkError, match=r"PROTOCOL\.md, which is not there"):
        gather(PAGES, repository / "site")


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("- one\n  - two\n    - three\n", "- one\n    - two\n        - three\n"),
        ("1. one\n   more of it\n\n   and more\n", "1. one\n    more of it\n\n    and more\n"),
        ("- one\n  ```sh\n  a\n    b\n  ```\n", "- one\n    ```sh\n    a\n      b\n    ```\n"),
        ("text\n\n    code of four\n", "text\n\n    code of four\n"),
        ("- one\n\nno list any more\n  with two spaces\n", "- one\n\nno list any more\n  with two spaces\n"),
    ],
)
def test_lists_get_four_spaces_a_level(repository: Path, written: str, wanted: str) -> None:
    assert gathered(repository, "PROTOCOL.md", written) == wanted
