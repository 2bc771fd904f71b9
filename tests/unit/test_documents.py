"""What the documents name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "PROTOCOL.md",
    *(f"docs/{name}.md" for name in ("replay", "policies", "sandbox", "security", "platforms", "remote", "faq")),
    *(f"docs/{name}.md" for name in ("acp", "editors/neovim", "editors/others")),
]
SOURCE = re.compile(r"`([\w./-]+\.(?:py|ts|mjs|css))`")
PLACES = ("server/ullage", "client-extension", "tests", "bench", "scripts", "examples", "website")
PATHS = [path.relative_to(ROOT).as_posix() for place in PLACES for path in (ROOT / place).rglob("*") if "node_modules" not in path.parts]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_source_file_that_a_document_names_is_there(document: str) -> None:
    named = {name.removeprefix("../") for name in SOURCE.findall((ROOT / document).read_text("utf-8")) if "NAME" not in name}
    assert named
    assert {name for name in named if not any(path.endswith(f"/{name}") or path == name for path in PATHS)} == set()


def test_the_changelog_has_no_links_into_the_repository() -> None:
    """It goes into the package of the extension, where they lead nowhere: the packer refuses them."""
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
