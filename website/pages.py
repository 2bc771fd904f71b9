"""Which pages the site has, where their texts lie in the repository, and in what order they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

REPOSITORY = "https://github.com/ullage/ullage"
"""Where links to source files lead; the same as in pyproject.toml, which a test compares."""


@dataclass(frozen=True)
class Page:
    title: str
    """In the navigation."""
    source: str
    """Path of its text in the repository."""

    @property
    def place(self) -> str:
        """Path in the site's folder of pages: that in docs/, or a flat name for what lies elsewhere."""
        if self.source.startswith("docs/"):
            return self.source.removeprefix("docs/").replace("README.md", "index.md")
        folder, _, name = self.source.rpartition("/")
        return "/".join(part for part in (folder, name.lower()) if part).replace("readme.md", "index.md")


@dataclass(frozen=True)
class Section:
    title: str
    pages: tuple[Page, ...]


INSIDE = "Inside"
DECISIONS = "Decisions"

_LISTED = (
    Section(
        "Start",
        (
            Page("Ullage", "docs/index.md"),
            Page("Getting started", "docs/getting-started.md"),
            Page("How compaction works", "docs/compaction.md"),
            Page("FAQ", "docs/faq.md"),
            Page("Gallery", "docs/gallery.md"),
        ),
    ),
    Section(
        "Use",
        (
            Page("Working with the agent", "docs/working.md"),
            Page("The context view", "docs/context-view.md"),
            Page("Rules, skills and commands", "docs/rules-files.md"),
            Page("Hooks", "docs/hooks.md"),
            Page("MCP servers", "docs/mcp.md"),
            Page("Sub-agents", "docs/sub-agents.md"),
            Page("Coming over from another program", "docs/coming-over.md"),
            Page("Working on another machine", "docs/remote.md"),
            Page("Sessions of a team", "docs/team.md"),
            Page("Settings", "docs/settings.md"),
            Page("Commands and keys", "docs/commands.md"),
        ),
    ),
    Section(
        "Models",
        (
            Page("Models", "docs/models.md"),
            Page("Compatible servers", "docs/compatible-servers.md"),
        ),
    ),
    Section(
        "Measure and compare",
        (
            Page("Policies", "docs/policies.md"),
            Page("Replay", "docs/replay.md"),
            Page("Report", "docs/report.md"),
            Page("Scale", "docs/scale.md"),
        ),
    ),
    Section(
        "Other editors",
        (
            Page("Agent Client Protocol", "docs/acp.md"),
            Page("Neovim", "docs/editors/neovim.md"),
            Page("Emacs", "docs/editors/emacs.md"),
            Page("Others", "docs/editors/others.md"),
            Page("The server alone", "server/README.md"),
        ),
    ),
    Section(
        "Safety",
        (
            Page("Security model", "docs/security.md"),
            Page("Sandbox", "docs/sandbox.md"),
        ),
    ),
    Section(
        INSIDE,
        (
            Page("Architecture", "ARCHITECTURE.md"),
            Page("Protocol", "PROTOCOL.md"),
            Page("Measurements", "bench/RESULTS.md"),
            Page("The gauge, measured", "bench/GAUGE.md"),
            Page("The panel, measured", "bench/PANEL.md"),
            Page("Stalls, measured", "bench/STALLS.md"),
            Page("Packages", "docs/packaging.md"),
            Page("Operating systems", "docs/platforms.md"),
            Page("Releasing", "docs/releasing.md"),
            Page("Contributing", "CONTRIBUTING.md"),
            Page("Changelog", "CHANGELOG.md"),
        ),
    ),
    Section(
        "中文",
        (
            Page("Ullage 简介", "README.zh-cn.md"),
            Page("入门", "docs/getting-started.zh-cn.md"),
            Page("设置", "docs/settings.zh-cn.md"),
            Page("命令和按键", "docs/commands.zh-cn.md"),
        ),
    ),
)


def sections() -> tuple[Section, ...]:
    """All pages. A document of docs/ that the list above does not name stands at the end of the section about the inside."""
    named = {page.source for section in _LISTED for page in section.pages}
    others = [path for path in _documents() if path not in named]
    decisions = tuple(Page(_title(path), path) for path in others if path.startswith("docs/decisions/"))
    rest = tuple(Page(_title(path), path) for path in others if not path.startswith("docs/decisions/"))
    inside = next(section for section in _LISTED if section.title == INSIDE)
    whole = Section(INSIDE, (*inside.pages, *rest))
    at = _LISTED.index(inside)
    return (*_LISTED[:at], whole, Section(DECISIONS, decisions), *_LISTED[at + 1 :])


def pages() -> tuple[Page, ...]:
    return tuple(page for section in sections() for page in section.pages)


def _documents() -> Iterator[str]:
    found = sorted((ROOT / "docs").rglob("*.md"), key=lambda path: (path.name != "README.md", path))
    yield from (path.relative_to(ROOT).as_posix() for path in found)


def _title(source: str) -> str:
    """The heading of a document, without marks of code."""
    with (ROOT / source).open(encoding="utf-8") as lines:
        heading = next((line for line in lines if line.startswith("# ")), None)
    if heading is None:
        raise ValueError(f"{source} has no heading, so the site has no title for it: begin it with a line `# Title`")
    return heading.removeprefix("# ").strip().replace("`", "")
