"""What pygls 2.1.1 gets wrong and cannot be told otherwise. Delete each part once a release has it.

The private names that are touched here are why pyproject.toml pins that version exactly.

1. A message that does not fit its type is never answered, so that the client waits forever; and any object inside a message
   that has a key `jsonrpc` is taken for a message itself.
2. The answer to a request of ours whose waiting was given up raises `InvalidStateError` (issue 621).
3. Every notification leaves an entry in `_request_futures` for good, 1.8 kB for each key typed in an editor.
4. Lines are cut by `str.splitlines`, which also cuts at form feeds and other signs that no editor takes for a line end; all
   later edits of such a document would go to the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, cast

from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.workspace import TextDocument, Workspace

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""LSP 3.17, Text Documents: lines end with `\\n`, `\\r\\n` or `\\r`."""


class FixedProtocol(LanguageServerProtocol):
    """pygls' protocol with the corrections."""

    # 1

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Called for every object inside a message, innermost first; the message itself is read in `handle_message`."""
        return data

    def handle_message(self, message: Any) -> None:
        """Reads a message and passes it on; answers one that cannot be read."""
        try:
            structured = self._structured(message)
        except JsonRpcException as error:
            self.refuse(message, error)
            self._server.report_server_error(error, JsonRpcInvalidParams)
        else:
            super().handle_message(structured)

    def _structured(self, message: Any) -> Any:
        if not isinstance(message, dict) or cast("dict[str, Any]", message).get("jsonrpc") != self.VERSION:
            raise JsonRpcInvalidRequest('A message is an object with "jsonrpc": "2.0"')
        fields = cast("dict[str, Any]", message)
        if "method" not in fields and "id" not in fields:
            raise JsonRpcInvalidRequest("A message has a method or an id")
        if not isinstance(fields.get("method", ""), str) or not isinstance(fields.get("id", 0), int | str):
            raise JsonRpcInvalidRequest("A method is a text, an id a number or a text")
        if "method" in fields and self.get_message_type(fields["method"]) is None:
            fields.setdefault("params", None)  # an unknown method is to be refused as such
        try:
            return super().structure_message(fields)
        except JsonRpcException as error:
            raise JsonRpcInvalidParams(_what_is_wrong(fields, error)) from error

    def refuse(self, message: Any, error: JsonRpcException) -> None:
        """Answers a message that cannot be read; None where there is not even JSON."""
        fields = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
        message_id = fields.get("id")
        if "method" in fields and "id" not in fields:
            return  # nobody waits for an answer to a notification
        if "method" not in fields and message_id in self._request_futures:
            self._handle_response(message_id, error=error.to_response_error())
            return
        known_id = message_id if isinstance(message_id, int | str) else None
        wrong = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": known_id, "error": wrong})  # as a dict: lsprotocol leaves an id of null out

    # 2

    def _handle_response(self, msg_id: int | str, result: Any = None, error: types.ResponseError | None = None) -> None:
        future = self._request_futures.get(msg_id)
        if future is not None and future.cancelled():
            del self._request_futures[msg_id]
            return
        super()._handle_response(msg_id, result, error)

    # 3

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(partial(self._forget, msg_id))

    def _forget(self, msg_id: int | str, _: Future[Any]) -> None:
        self._request_futures.pop(msg_id, None)

    # 4

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """As pygls does it, with documents that know what a line is."""
        result = yield from super().lsp_initialize(params)
        before = self.workspace
        self._workspace = EditorWorkspace(
            before.root_uri, workspace_folders=list(before.folders.values()), position_encoding=before.position_encoding
        )
        return result


class EditorWorkspace(Workspace):
    """pygls' workspace, of such documents."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return EditorDocument(doc_uri, source, version, language_id, sync_kind=self._sync_kind, position_codec=self._position_codec)


class EditorDocument(TextDocument):
    """pygls' document, cut into lines as the protocol says."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends."""
        return lines_of(self.source)


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text with their ends, as editors count them."""
    return tuple(_LINE.findall(text))


def _what_is_wrong(message: dict[str, Any], error: JsonRpcException) -> str:
    """Names the message and the fields that do not fit, and nothing of what stands in them."""
    name = message.get("method", "The answer")
    cause = error.__cause__
    if cause is None:
        return f"{name}: {error}"
    return f"{name}: {'; '.join(_in_the_words_of_the_wire(line) for line in transform_error(cause, path='message'))}"


def _in_the_words_of_the_wire(line: str) -> str:
    what, _, where = line.partition(" @ message")
    where = re.sub(r"_([a-z])", lambda match: match[1].upper(), where.lstrip("."))
    return f"{where}: {what}" if where else what
