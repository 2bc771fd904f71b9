"""The server's log: `window/logMessage` where a client is connected, stderr before and after. Never what messages hold."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from lsprotocol.types import LogMessageParams, MessageType

_TYPES = {
    logging.DEBUG: MessageType.Debug,
    logging.INFO: MessageType.Info,
    logging.WARNING: MessageType.Warning,
    logging.ERROR: MessageType.Error,
    logging.CRITICAL: MessageType.Error,
}


def log_to_stderr(level: str) -> None:
    """Writes our own records from that level on, everybody else's from warnings on: `LEVEL logger: text`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("ullage").setLevel(level)
    # pygls logs whole messages, also with its warnings and errors; those reach us by `report_server_error`.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)


@contextmanager
def sending_log_to(send: Callable[[LogMessageParams], None], when: Callable[[], bool]) -> Generator[None]:
    """Sends records to a client instead, as long as `when` gives true, until the block ends. To be used on the event loop."""
    root = logging.getLogger()
    before = root.handlers
    root.handlers = [_ClientLog(send, when, before, asyncio.get_running_loop())]
    try:
        yield
    finally:
        root.handlers = before


class _ClientLog(logging.Handler):
    """Sends records to the client from any thread, and to the other handlers while `when` gives false."""

    def __init__(
        self,
        send: Callable[[LogMessageParams], None],
        when: Callable[[], bool],
        otherwise: Sequence[logging.Handler],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__()
        self._send = send
        self._when = when
        self._otherwise = otherwise
        self._loop = loop
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Sends one record, in the loop's next round."""
        if not self._when():
            for handler in self._otherwise:
                handler.handle(record)
            return
        params = LogMessageParams(_TYPES.get(record.levelno, MessageType.Log), self.format(record))
        try:
            self._loop.call_soon_threadsafe(self._send, params)
        except RuntimeError:
            return  # the loop has ended
