"""Counting tokens: by the endpoint, and by Claude's tokenizers.

The endpoint's way (`/v1/messages/count_tokens`) costs nothing, but has a limit of its own for how often it may be asked. Not all compatible
servers have it. The tokenizers were rebuilt by others for counting: the package `ctok`, which runs on Python 3.12 and newer. Where neither
is there nobody counts, and the estimates by kind of text stand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from ullage.models.endpoint_checks import RequestSize, integer, mapping
from ullage.models.model import TokenizerVersion

if TYPE_CHECKING:
    from ullage.models.wire import Connect

logger = logging.getLogger(__name__)

COUNT_TIMEOUT = 30.0
"""How many seconds an answer may take. Nobody waits for it; the next reply brings the same number."""

LONGEST = 16_000_000
"""The most bytes of a request that is counted. A longer one, which has many images, is not sent twice."""

REST = 60.0
"""Seconds without a question after one that the endpoint could not answer: it was busy, limits how often, or was not there."""

NOT_OFFERED = (404, 405, 501)
"""Statuses that say that the endpoint does not count. It is not asked again."""


@dataclass(frozen=True, slots=True)
class CountPage:
    """The page where an endpoint counts tokens, and how it is asked there."""

    path: str
    field: str = "input_tokens"
    """The field of its answer that has the number of tokens."""
    body: Callable[[bytes], bytes] = lambda body: body
    """Makes the body that is sent, out of the request's own."""
    not_offered: tuple[int, ...] = NOT_OFFERED
    """Statuses that say that it does not count."""


MESSAGES_COUNT = CountPage("/v1/messages/count_tokens")
"""The page where the Messages API counts."""

CountText: TypeAlias = Callable[[str], int]
"""A function that counts the tokens of a text within a message, without what frames the message. Slow: about half a megabyte a second."""


class Counting:
    """What is known of how one endpoint counts for one model.

    `endpoint` is its name for the log. `page` is asked once a client is there: it may be known by its credentials alone.
    """

    def __init__(self, endpoint: str, page: Callable[[], CountPage]) -> None:
        self._endpoint = endpoint
        self._page = page
        self._offers = True
        self._rests_until = 0.0

    def may_ask(self) -> bool:
        """Whether it pays to ask now. False for good where the endpoint does not count."""
        return self._offers and asyncio.get_running_loop().time() >= self._rests_until

    async def ask(self, connect: Connect, body: bytes, headers: Mapping[str, str], size: RequestSize) -> int | None:
        """The tokens of the request; None if the endpoint did not say, or said what cannot be."""
        if len(body) > LONGEST:
            return None
        page = self._page()
        try:
            client = await connect()
            page = self._page()
            sent = await asyncio.to_thread(page.body, body) if page.body is not MESSAGES_COUNT.body else body
            async with asyncio.timeout(COUNT_TIMEOUT):
                answer = await client.post(page.path, content=sent, cast_to=object, options={"headers": dict(headers)})
        except Exception as problem:  # noqa: BLE001 - whatever it is: the estimate stands, and a call that fails for it says so
            self._take_failure(problem, page)
            return None
        tokens = integer(mapping(answer).get(page.field))
        if tokens is None or tokens <= 0 or not size.can_have(tokens):
            logger.warning("%s counted %r tokens in a request of %d bytes: it is not asked again", self._endpoint, tokens, len(body))
            self._offers = False
            return None
        return tokens

    def _take_failure(self, problem: Exception, page: CountPage) -> None:
        from anthropic import APIStatusError

        status = problem.status_code if isinstance(problem, APIStatusError) else None
        if status in page.not_offered:
            logger.info("%s does not count tokens (HTTP %d): what it has not reported stays an estimate", self._endpoint, status)
            self._offers = False
            return
        logger.info("%s did not count: %s", self._endpoint, type(problem).__name__)
        self._rests_until = asyncio.get_running_loop().time() + REST


class _Ctok(Protocol):
    def token_count(self, text: str, version: str) -> int: ...


def tokenizer(version: TokenizerVersion) -> CountText | None:
    """A function that counts by that tokenizer; None if the tokenizer is not installed. Its vocabulary is loaded with the first text (0.1
    to 0.4 s)."""
    if find_spec("ctok") is None:
        return None

    def count(text: str) -> int:
        return max(_ctok().token_count(text, version) - _framing(version), 1) if text else 0

    return count


@cache
def _ctok() -> _Ctok:
    return cast(_Ctok, import_module("ctok"))


@cache
def _framing(version: TokenizerVersion) -> int:
    """How many tokens the tokenizer counts for the message around a text."""
    return _ctok().token_count("a", version) - 1
