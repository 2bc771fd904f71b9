"""What stands for a model whose address the user has not confirmed: it says so, and sends nothing anywhere.

`ANTHROPIC_BASE_URL` in the environment may come from a dev container or a script of the repository. Whoever answers there gets the key and
all that is said, so the address is shown and confirmed once. An address in the setting is the user's own.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

from ullage.context.view.request import Request
from ullage.models.errors import EndpointUnreachable
from ullage.models.limits import expected_card
from ullage.models.model import ModelCard, ModelEvent

OWN_HOST = "api.anthropic.com"
"""Where keys of Anthropic belong anyway."""


def needs_confirming(base_url: str) -> bool:
    """Whether an address of the environment is another one than Anthropic's own."""
    try:
        parts = urlsplit(base_url)
        return parts.scheme != "https" or parts.hostname != OWN_HOST or parts.port not in (None, 443) or "@" in parts.netloc
    except ValueError:
        return True


def shown_address(base_url: str) -> str:
    """The address as it may stand in a message: nothing in it makes a link of another text, hides or turns characters around."""
    return re.sub(r"[^A-Za-z0-9.:/_~%?&=+@-]", lambda found: f"%{ord(found[0]):02X}", base_url)[:300]


class UnconfirmedModel:
    """Refuses every call until the address is confirmed."""

    def __init__(self, name: str, base_url: str) -> None:
        self._name = name
        self._base_url = base_url

    async def prewarm(self) -> None:
        """Nothing."""

    def expected(self) -> ModelCard:
        """What is assumed of a model at an unknown server."""
        return expected_card(self._name, anthropic=False)

    async def card(self) -> ModelCard:
        """The same: nobody is asked."""
        return self.expected()

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        """Raises `EndpointUnreachable`, which says what to do."""
        raise self.refusal
        yield  # which makes it a generator

    async def count(self, request: Request) -> int | None:
        """None: nobody is asked."""
        return None

    @property
    def refusal(self) -> EndpointUnreachable:
        """What it says instead of asking."""
        return EndpointUnreachable(
            f"ANTHROPIC_BASE_URL in the environment names {shown_address(self._base_url)}, which you have not confirmed. Nothing was sent: "
            "your key and your words would go there. Confirm it in the notification that the editor shows (restart the server to see it "
            "again), or set `ullage.model.baseUrl` to the address."
        )

    async def aclose(self) -> None:
        """Nothing."""
