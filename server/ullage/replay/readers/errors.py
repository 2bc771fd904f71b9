"""What a reader raises."""

from __future__ import annotations


class NotATranscript(Exception):
    """This file is no transcript that can be read. `str()` names the file and says why."""
