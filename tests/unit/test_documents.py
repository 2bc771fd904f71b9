"""What the documents name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ullage.context.policies.ullage import RESTORED
from ullage.context.policy import USUAL_CAP, BelowWindow, SummaryOptions
from ullage.context.summary.quotes import FIRST_LONGER
from ullage.models.practice.practice_model import FULL_AT, WINDOW

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


def test_the_pages_for_users_have_the_numbers_of_the_threshold() -> None:
    compaction, faq = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("compaction", "faq"))
    below = BelowWindow()
    assert f"| large | {USUAL_CAP:,} tokens, or what `ullage.compaction.cap` says |" in compaction
    together = f"{below.reserve + below.margin:,}"
    less = f"the window less {together}: {below.reserve:,} for the reply, {below.margin:,} as a margin"
    assert f"| smaller than the cap and {together} tokens | {less} |" in compaction
    assert f"it is {USUAL_CAP:,} tokens at most" in faq


def test_the_gauge_of_the_protocol_is_that_of_the_practice_model() -> None:
    gauge = re.search(r'"gauge": \{"used": \d+, "threshold": (\d+), "size": (\d+)', (ROOT / "PROTOCOL.md").read_text("utf-8"))
    assert gauge and gauge.groups() == (str(FULL_AT), str(WINDOW))


def test_they_have_those_of_the_summary_and_of_what_is_read_again() -> None:
    compaction, architecture = ((ROOT / name).read_text("utf-8") for name in ("docs/compaction.md", "ARCHITECTURE.md"))
    options, first = SummaryOptions(), int(SummaryOptions().message_tokens * FIRST_LONGER)
    assert f"up to {options.user_message_tokens:,} tokens, the newest first" in compaction
    assert f"longer than {options.message_tokens} tokens (the first: {first:,})" in compaction
    assert f"and {options.message_tokens} tokens of one message, {first:,} of the first" in architecture
    assert f"All together take at most {RESTORED.total_tokens:,} tokens" in compaction
    assert f"| {RESTORED.total_tokens:,} in all" in architecture
    assert f"The list takes at most {100 * RESTORED.nearby_share:.0f} % of the room for files" in compaction
    assert f"in {100 * RESTORED.nearby_share:.0f} % of the room for files" in architecture
