"""The text that tells the model what a tool does, from the `.md` file beside the tool's code."""

from __future__ import annotations

from importlib.resources import files


def description(tool: str) -> str:
    """The description of a tool; a tool without one is a fault in the package (`FileNotFoundError`)."""
    return files("ullage.tools").joinpath(f"{tool}.md").read_text(encoding="utf-8").strip()
