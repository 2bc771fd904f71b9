"""What a message is, seen by its first bytes: enough to pass over what nobody knows, without reading the rest of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = rb"[ !#-\[\]-~]"
"""What stands in a JSON text for itself."""

_HEAD = re.compile(
    rb'\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*'
    rb'(?:"id"\s*:\s*(0|-?[1-9]\d{0,17}|"%b{0,200}")\s*,\s*)?'
    rb'"method"\s*:\s*"(%b{1,200})"' % (_PLAIN, _PLAIN)
)
"""In the order in which clients write it. Any other way to write a message is right as well; such a one is read whole."""

_ID = b'"id"'


@dataclass(frozen=True, slots=True)
class Glance:
    """A request or a notification. `id` as it is written; None of a notification."""

    method: bytes
    id: bytes | None


def glance(body: bytes) -> Glance | None:
    """What can be seen; None where the message has to be read to know it."""
    found = _HEAD.match(body)
    if found is None or (found[1] is None and _ID in body):  # the id may come last
        return None
    return Glance(found[2], found[1])
