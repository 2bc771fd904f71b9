"""A strict fake of Chat Completions, the wire of OpenAI and of all servers that are compatible with it, beside that of the Messages API.

It has the same script, records and sockets, and rules of its own. It shares no code with the client that it judges.
"""

from __future__ import annotations

from tests.fake_api.chat.manners import Manners
from tests.fake_api.chat.server import FakeChat

__all__ = ["FakeChat", "Manners"]
