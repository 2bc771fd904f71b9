"""Signatures with a secret of its own: what the fake hands out comes back as it was, or is known for what it is not."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from typing import Any

_MAC_BYTES = 16


class Signer:
    """Signs JSON values, and gives back what a signature of its own holds."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def sign(self, value: Any) -> str:
        """A token that holds the value."""
        payload = json.dumps(value).encode()
        return base64.b64encode(self._mac(payload) + payload).decode()

    def opened(self, token: str) -> Any:
        """The value that was signed; None where this is no token of this signer's."""
        try:
            raw = base64.b64decode(token, validate=True)
        except (binascii.Error, ValueError):
            return None
        mac, payload = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(payload)):
            return None
        return json.loads(payload)

    def _mac(self, payload: bytes) -> bytes:
        return hmac.new(self._secret, payload, hashlib.sha256).digest()[:_MAC_BYTES]
