"""What pygls 2.1.1 gets wrong and cannot be told otherwise. Delete each part once a release has it.

The private names that are touched here are why pyproject.toml pins that version exactly.

1. A message that does not fit its type is never answered, so that the client waits forever.
2. The answer to a request of ours whose waiting was given up raises `InvalidStateError` (issue 621).
3. Every notification leaves an entry in `_request_futures` for good, 1.8 kB for each key typed in an editor.
4. Lines are cut by `str.splitlines`, which also cuts at form feeds and other signs that no editor takes for a line end; all
   later edits of such a document would go to the wrong place. And each change cuts and joins the whole text (`document_text.py`).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, cast

from cattrs import transform_error
from cattrs.v import format_exception
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.workspace import TextDocument, Workspace

from ullage.lsp.document_text import DocumentText, Units, changed, lines_of
from ullage.lsp.values import NotOfItsType

LONGEST = 20_000_000
"""Characters of a document that is kept as the editor has it. VS Code itself takes no part in editing files of that size."""


LONG = 500_000
"""Characters of a document whose lines are found in another thread."""

MANY = 200
"""Changes in one message that are made in another thread: these take a millisecond or two."""


class FixedProtocol(LanguageServerProtocol):
    """pygls' protocol with the corrections."""

    # 1

    def handle_message(self, message: Any) -> None:
        """Reads a message and passes it on; answers one that cannot be read."""
        try:
            structured = self._structured(message)
        except JsonRpcException as error:
            self._refuse_unread(message, error)
        else:
            super().handle_message(structured)

    async def handle_large_message(self, message: Any) -> None:
        """The same in another thread, as far as it takes long. Nothing else may be handled before it is done: the order counts."""
        await self._change_ahead(message)
        try:
            structured = await asyncio.to_thread(self._structured, message)
        except JsonRpcException as error:
            self._refuse_unread(message, error)
        else:
            super().handle_message(structured)

    def _refuse_unread(self, message: Any, error: JsonRpcException) -> None:
        self.refuse(message, error)
        self._server.report_server_error(error, JsonRpcInvalidParams)

    def knows(self, method: str) -> bool:
        """Whether anybody would do anything about such a message."""
        handlers: Mapping[str, Any] = {**self.fm.builtin_features, **self.fm.features}  # pyright: ignore[reportUnknownMemberType]
        return method in handlers or method == types.CANCEL_REQUEST or self.get_message_type(method) is not None

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

    def takes_long(self, message: Any) -> bool:
        """Whether a message is the first change of a long document, whose lines are found first."""
        match message:
            case {"method": types.TEXT_DOCUMENT_DID_CHANGE, "params": {"textDocument": {"uri": str(uri)}}} if self._workspace is not None:
                text = self._text_of(uri)
                return text is not None and not text.is_cut and len(text.whole) > LONG
            case _:
                return False

    def _text_of(self, uri: str) -> DocumentText | None:
        document = self.workspace.get_text_document(uri)
        return document.text if isinstance(document, EditorDocument) and document.is_mirrored else None

    def _is_change(self, message: Any) -> bool:
        match message:
            case {"method": types.TEXT_DOCUMENT_DID_CHANGE, "params": {"textDocument": {"uri": str()}, "contentChanges": list()}}:
                return True
            case _:
                return False

    async def _change_ahead(self, message: Any) -> None:
        """Applies many changes of a document to a copy in another thread: they become one, which costs nothing, and need not be read one by
        one. Of few the document's lines are found."""
        if not self._is_change(message) or (text := self._text_of(message["params"]["textDocument"]["uri"])) is None:
            return
        changes: list[Any] = message["params"]["contentChanges"]
        if len(changes) <= MANY:
            await asyncio.to_thread(lambda: text.lines)
            return
        whole = await asyncio.to_thread(changed, text.copy(), changes)
        if whole is not None:
            changes[:] = [{"text": whole}]

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
    """pygls' document, whose text changes place by place, cut into lines as the protocol says."""

    def __init__(self, uri: str, source: str | None = None, *more: Any, **options: Any) -> None:
        super().__init__(uri, None, *more, **options)
        self.text: DocumentText | None = None
        """None where the document is not open."""
        self.is_mirrored = True
        """Whether its text is kept here; not where it is too long (`LONGEST`)."""
        if source is not None:
            self.take(source)

    def take(self, text: str) -> None:
        """Another text in the place of all."""
        self.is_mirrored = len(text) <= LONGEST
        self.text = DocumentText(text if self.is_mirrored else "", self.units)

    @property
    def units(self) -> Units:
        """What the client counts characters in."""
        match self.position_codec.encoding:
            case types.PositionEncodingKind.Utf8:
                return "utf-8"
            case types.PositionEncodingKind.Utf32:
                return "utf-32"
            case _:
                return "utf-16"

    @property
    def source(self) -> str:
        """The text."""
        return super().source if self.text is None else self.text.whole

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends."""
        return lines_of(self.source) if self.text is None else tuple(self.text.lines)

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Takes over one change of the user; costs what it changes."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            if self.text is None:
                self.text = DocumentText(self.source, self.units)
            if self.is_mirrored:
                start, end = change.range.start, change.range.end
                self.text.change((start.line, start.character), (end.line, end.character), change.text)
        else:
            self.take(change.text)


def _what_is_wrong(message: dict[str, Any], error: JsonRpcException) -> str:
    """Names the message and the fields that do not fit, and nothing of what stands in them."""
    name = message.get("method", "The answer")
    cause = error.__cause__
    if cause is None:
        return f"{name}: {error}"
    lines = transform_error(cause, path="message", format_exception=_in_words)
    return f"{name}: {'; '.join(map(_in_the_words_of_the_wire, lines))}"


def _in_words(error: BaseException, kind: type[Any] | None) -> str:
    return str(error) if isinstance(error, NotOfItsType) else format_exception(error, kind)


def _in_the_words_of_the_wire(line: str) -> str:
    what, _, where = line.partition(" @ message")
    where = re.sub(r"_([a-z])", lambda match: match[1].upper(), where.lstrip("."))
    return f"{where}: {what}" if where else what
