"""pygls' protocol, corrected and extended by the methods of PROTOCOL.md.

`FixedProtocol` corrects what pygls 2.1.1 gets wrong and cannot be told otherwise. Delete each part once a release has it. The private names
that it touches are why pyproject.toml pins that version exactly.

1. A message that does not fit its type is never answered, so that the client waits forever.
2. The answer to a request of ours whose waiting was given up raises `InvalidStateError` (issue 621).
3. Every notification leaves an entry in `_request_futures` for good, 1.8 kB for each key typed in an editor.
4. Documents are cut into lines at the wrong places, and changed as a whole (`documents.py`).
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Protocol, cast

from cattrs import transform_error
from cattrs.v import format_exception
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from ullage.lsp.documents import EditorWorkspace, change_ahead, changes_a_long_one
from ullage.lsp.messages import MESSAGES, REQUESTS_OF_CLIENT, RESULTS
from ullage.lsp.protocol import CANCEL, PROTOCOL_VERSION, SessionParams
from ullage.lsp.protocol.items import NotOfItsType
from ullage.lsp.transport import Writer

MOST_ASKED = 500
"""Requests that wait for their answer at once; what is asked beyond is refused. A panel has some."""

TOO_MANY = -32803
"""LSP 3.17, `RequestFailed`: the request is right and could not be answered."""

_REFUSED = b'{"jsonrpc": "2.0", "id": %%b, "error": {"code": %d, "message": %b}}'


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
        """Does what `handle_message` does, with the slow parts in another thread. No other message may be handled before it is done,
        because their order counts."""
        await change_ahead(message, self._workspace)
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
        """Whether anything here handles messages with this method name."""
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
        """Answers a message that cannot be read with an error. The message is None if it is not even JSON. A notification gets no
        answer."""
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
        return changes_a_long_one(message, self._workspace)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Answers `initialize` as pygls does, then puts a workspace in place whose documents are cut into lines as the protocol says."""
        result = yield from super().lsp_initialize(params)
        before = self.workspace
        self._workspace = EditorWorkspace(
            before.root_uri, workspace_folders=list(before.folders.values()), position_encoding=before.position_encoding
        )
        return result


class Answering(Protocol):
    """The object that answers requests about the sessions."""

    async def answer(self, method: str, params: object) -> object:
        """Does what a request asks for. Raises `JsonRpcException`."""
        ...


class AgentProtocol(FixedProtocol):
    """LSP and Ullage's own methods over one connection."""

    _our_writer: Writer | None = None

    at_once: Mapping[str, Callable[[Any], object]] = {}
    """The functions that answer requests that wait for nothing, by method; empty until the sessions are open. They raise
    `JsonRpcException`."""

    has_to_wait: Callable[[], bool] = staticmethod(lambda: False)
    """Whether something that came before has to be taken over first: nothing but a stop is answered at once then."""

    opened: Callable[[], Awaitable[Answering]]
    """Waits until the sessions are open, and gives the object that answers all requests about them. Raises `JsonRpcException`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._asked: Counter[str | None] = Counter()
        """Our own requests that are not answered yet, by session."""
        self._asked_in_all = 0

    on_exit: Callable[[int], None]
    """Called with the exit code when the client sends `exit`."""

    @property
    def is_initialized(self) -> bool:
        """Whether `initialize` was answered; nothing may be sent before."""
        return self._workspace is not None

    is_shutting_down = False
    """Whether the client has sent `shutdown`."""

    # pygls caches both per method, which pyright takes for another kind of member.
    def get_message_type(self, method: str) -> type[Any] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The type by which a whole message with this method is read; None if nobody knows the method."""
        return MESSAGES.get(method) or super().get_message_type(method)

    def get_result_type(self, method: str) -> type[Any] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The type of the answer to a request of ours with this method; None if nobody knows the method."""
        return RESULTS.get(method) or super().get_result_type(method)

    def handle_message(self, message: Any) -> None:
        """Reads a message and passes it on. Params that are left out are `{}`; before `initialize` nothing is answered."""
        if self._admits(message):
            super().handle_message(message)

    async def handle_large_message(self, message: Any) -> None:
        """Does what `handle_message` does for a message that takes long, with the slow parts in another thread."""
        if self._admits(message):
            await super().handle_large_message(message)

    def _admits(self, message: Any) -> bool:
        """Whether a message is to be handled further. One that can be refused at once is answered here: a method that nobody knows costs no
        more than to read its name."""
        if not isinstance(message, dict):
            return True
        fields = cast("dict[str, Any]", message)
        method = fields.get("method")
        if "method" in fields and not self.is_initialized and method not in (types.INITIALIZE, types.EXIT):
            self.refuse(message, JsonRpcServerNotInitialized("The first request has to be initialize"))
            return False
        if "method" in fields and self.is_shutting_down and method != types.EXIT:
            self.refuse(message, JsonRpcInvalidRequest("The server is shutting down; only exit may follow"))
            return False
        if method == types.INITIALIZE and self.is_initialized:
            self.refuse(message, JsonRpcInvalidRequest("initialize was answered before"))
            return False
        if not isinstance(method, str):
            return True
        if not self.knows(method):
            self.refuse(message, JsonRpcMethodNotFound.of(method))
            return False
        if method in MESSAGES and fields.get("params") is None:
            fields["params"] = {}
        return True

    def is_asked(self, message_id: object) -> bool:
        """Whether a request with that id is not answered yet."""
        return message_id in self._request_futures

    def refuse_unknown(self, method: bytes, message_id: bytes) -> None:
        """Answers a request whose method nobody knows. Both arguments are as they stand in the message, so that it costs next to
        nothing."""
        self._write(_unknown(method) % message_id)

    def refuse_if_too_many(self, method: bytes, message_id: bytes) -> bool:
        """Refuses one of Ullage's own requests if too many others wait already (`MOST_ASKED`). False if it was not refused."""
        name = method.decode()
        if self._asked_in_all < MOST_ASKED or name not in REQUESTS_OF_CLIENT or name in self.at_once:
            return False
        self._write(_refusal(self._too_many()) % message_id)
        return True

    def stop_ahead(self, session_id: str) -> None:
        """Stops what a session does now. The message that asks for it still has its turn, and is answered then: done twice is done once."""
        stop = self.at_once.get(CANCEL)
        if stop is not None:
            with suppress(JsonRpcException):  # its turn says so
                stop(SessionParams(session_id))

    def _write(self, body: bytes) -> None:
        if self._our_writer is not None:
            self._our_writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _too_many(self) -> JsonRpcException:
        return JsonRpcException(f"{self._asked_in_all} requests wait for their answers. Wait for some of them", TOO_MANY)

    def _handle_request(self, msg_id: int | str, method_name: str, params: Any) -> None:
        """Answers at once what waits for nothing, unless something that was asked before about the same session is still to be done."""
        if method_name not in REQUESTS_OF_CLIENT:
            super()._handle_request(msg_id, method_name, params)
            return
        session_id: str | None = getattr(params, "session_id", None)
        answer = self.at_once.get(method_name)
        if answer is not None and not self._asked[session_id] and (method_name == CANCEL or not self.has_to_wait()):
            self._answer_at_once(msg_id, answer, params)
        elif self._asked_in_all >= MOST_ASKED and method_name != CANCEL:
            self._send_response(msg_id, error=self._too_many().to_response_error())
        else:
            super()._handle_request(msg_id, method_name, params)
            self._count(self._request_futures.get(msg_id), session_id)

    def answer_to(self, method: str) -> Callable[[object, Any], Awaitable[object]]:
        """The function that pygls calls to answer one of Ullage's own requests."""

        async def answer(_: object, params: Any) -> object:
            answers = await self.opened()
            return await answers.answer(method, params)

        return answer

    def _answer_at_once(self, msg_id: int | str, answer: Callable[[Any], object], params: Any) -> None:
        try:
            result = answer(params)
        except JsonRpcException as error:
            self._send_response(msg_id, error=error.to_response_error())
        else:
            self._send_response(msg_id, result=result)

    def _count(self, answering: Future[Any] | None, session_id: str | None) -> None:
        if answering is None:
            return

        def answered(_: Future[Any]) -> None:
            self._asked_in_all -= 1
            self._asked[session_id] -= 1
            if not self._asked[session_id]:
                del self._asked[session_id]

        self._asked_in_all += 1
        self._asked[session_id] += 1
        answering.add_done_callback(answered)

    @property
    def waiting(self) -> int:
        """Bytes that were sent and that the client has not read."""
        return 0 if self._our_writer is None else self._our_writer.waiting

    def set_writer(self, writer: Any, include_headers: bool = True) -> None:
        """Sets where messages are written from now on."""
        super().set_writer(writer, include_headers)
        self._our_writer = writer

    async def ask(self, method: str, params: object) -> Any:
        """Asks the client and waits; tells it when the waiting is given up. Raises `JsonRpcException`."""
        message_id = str(uuid.uuid4())
        try:
            return await self.send_request_async(method, params, msg_id=message_id)
        except asyncio.CancelledError:
            self.notify(types.CANCEL_REQUEST, types.CancelParams(id=message_id))
            raise

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Answers `initialize` as pygls does, and names our protocol's version."""
        result = yield from super().lsp_initialize(params)
        result.capabilities.experimental = {"ullage": {"protocolVersion": PROTOCOL_VERSION}}
        return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: object) -> Generator[Any, Any, None]:
        """Answers `shutdown` as pygls does. An `exit` that comes before it is done is in order too."""
        self.is_shutting_down = True
        return (yield from super().lsp_shutdown(*args))  # pyright: ignore[reportUnknownMemberType]

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: object) -> Generator[Any, Any, None]:
        """Ends the server in good order, where pygls would end the process on the spot."""
        yield from ()
        self.on_exit(0 if self.is_shutting_down else 1)


def _refusal(error: JsonRpcException) -> bytes:
    """The bytes of a whole answer that refuses a request, with a `%b` where its id belongs."""
    return _REFUSED % (error.code, json.dumps(error.message).encode().replace(b"%", b"%%"))


@lru_cache(maxsize=100)
def _unknown(method: bytes) -> bytes:
    """The bytes of the answer that nobody knows that method, with a `%b` where the id of the request belongs."""
    return _refusal(JsonRpcMethodNotFound.of(method.decode()))


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
