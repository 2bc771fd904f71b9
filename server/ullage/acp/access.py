"""Who pays for the model: a key in the environment, a server of the user's own, or nobody, with the practice model.

A key cannot be typed into a client of this protocol. So a client without one is told where to put it. This and all else that a session
refuses is said in the words of the protocol (`refusing`).
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from acp import RequestError, schema

from ullage.models.choose import BASE_URL, shown_address, unconfirmed_address
from ullage.session.errors import SessionError, refusal_of
from ullage.session.settings import Settings
from ullage.starting import Keys
from ullage.store.errors import StoreFailed
from ullage.store.user_state import UserState

KEY, PRACTICE, ADDRESS = "api-key", "practice", "confirm-address"
"""The ids of the ways to authenticate."""

KEY_VARIABLE = "ANTHROPIC_API_KEY"

WHAT_TO_DO = (
    f"Ullage has no key. Set {KEY_VARIABLE} in the environment of `ullage acp` (in the settings of your editor for this agent), or name a "
    """server of your own with --settings '{"model": {"baseUrl": "http://…"}}', and start it again. Or choose the practice model, """
    "which needs no key and answers from a script."
)


class Access:
    """Knows who pays for the model of one client. `settings` are those in force."""

    def __init__(self, settings: Settings, keys: Keys | None, user_state: UserState, environment: Mapping[str, str] = os.environ) -> None:
        self.settings = settings
        self.keys = keys or Keys()
        self._user_state = user_state
        self._environment = environment

    def methods(self) -> list[Any]:
        """The ways to authenticate that the client can offer its user."""
        address = self._unconfirmed
        described = f"{KEY_VARIABLE} in the environment of the agent"
        methods = [schema.AuthMethodAgent(id=KEY, name="Anthropic API key", description=described)]
        if address:
            told = f"{BASE_URL} in the environment names this address. Your key and all that is said would be sent there"
            methods.append(schema.AuthMethodAgent(id=ADDRESS, name=f"Send to {shown_address(address)}", description=told))
        told = "No key: a model that answers from a script, to see how Ullage works"
        methods.append(schema.AuthMethodAgent(id=PRACTICE, name="Practice model", description=told))
        return methods

    def check(self) -> None:
        """Raises `RequestError` if no model may be asked yet, with what to do."""
        address = self._unconfirmed
        if address:
            told = (
                f"{BASE_URL} in the environment names {shown_address(address)} as the model's address. Your key and all that is said would "
                f"be sent there. Confirm it (authenticate with `{ADDRESS}`), or name the address in --settings."
            )
            raise RequestError(RequestError.auth_required().code, told, {"reason": "unconfirmed_address"})
        if self._lacks_key:
            raise RequestError(RequestError.auth_required().code, WHAT_TO_DO, {"reason": "no_key"})

    def authenticate(self, method: str) -> bool:
        """Authenticates in that way; gives whether this changed the settings. Raises `RequestError`."""
        if method == KEY:
            if self._lacks_key:
                raise RequestError(RequestError.auth_required().code, WHAT_TO_DO, {"reason": "no_key"})
            return False
        if method == PRACTICE:
            self.settings = replace(self.settings, provider="practice")
            return True
        if method == ADDRESS:
            if self._unconfirmed:
                try:
                    self._user_state.confirm_address(self._unconfirmed)
                except StoreFailed as error:
                    raise RequestError(RequestError.internal_error().code, str(error)) from error
            return True
        raise RequestError(RequestError.invalid_params().code, f"There is no way to authenticate called {method}")

    @property
    def _unconfirmed(self) -> str:
        settings = self.settings
        return unconfirmed_address(settings.provider, settings.base_url, self._environment, self._user_state.is_confirmed_address)

    @property
    def _lacks_key(self) -> bool:
        provider = self.settings.provider
        if provider in ("practice", "bedrock", "vertex"):  # clouds find credentials of their own, and say what is missing
            return False
        inherited = "" if provider == "openai" else self._environment.get(BASE_URL, "").strip()
        has_server = bool(self.settings.base_url.strip() or inherited)
        return not has_server and not self.keys.of(provider, self.settings.base_url)


CODES = {"invalid": -32602, "unknown_session": -32002}
"""The error codes by reason: JSON-RPC's own, and the protocol's for what is not there. All other reasons are internal errors (-32603)."""


@contextmanager
def refusing() -> Generator[None]:
    """Turns what a session refuses into an error of the protocol (`RequestError`)."""
    try:
        yield
    except StoreFailed as error:
        refused = refusal_of(error)
        raise _refused(refused) from error
    except SessionError as error:
        raise _refused(error) from error


def _refused(error: SessionError) -> RequestError:
    if error.reason == "key_refused":
        return RequestError(RequestError.auth_required().code, str(error), {"reason": error.reason})
    return RequestError(CODES.get(error.reason, -32603), str(error), {"reason": error.reason})
