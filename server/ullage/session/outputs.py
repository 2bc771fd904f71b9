"""Where a clipped result's whole output goes, and what the model is told about it."""

from __future__ import annotations

from ullage.store.results import ResultFiles


class Outputs:
    """Keeps whole outputs."""

    def __init__(self, results: ResultFiles) -> None:
        self._results = results

    def keep(self, tool_use_id: str, text: str) -> str:
        """Keeps it; gives where the model finds it: a path, or how to recall it. Raises `StoreFailed`."""
        path = self._results.save(tool_use_id, text)
        return path if path is not None else f"recall, tool_use_id {tool_use_id}"
