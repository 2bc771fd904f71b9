"""What went wrong with a call of a model, in words for the user: exceptions of the SDK and of the HTTP client in, `Failure`s out.

The words name what failed, with what, and what to do. They never hold an API key, even where a server repeats it.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ullage.models.clouds.words import cloud_refusal, credentials_refusal
from ullage.models.endpoint_checks import mapping, plausible_window, string
from ullage.models.errors import (
    AuthenticationFailed,
    BlockRefused,
    Endpoint,
    EndpointRefused,
    EndpointUnreachable,
    ErrorResponse,
    MediaRefused,
    ModelError,
    Nonsense,
    NonsenseSent,
    NothingMore,
    Overloaded,
    PromptTooLong,
    RequestRefused,
    StreamBroken,
    ThinkingRefused,
    Unanswered,
    UnknownModel,
    public_url,
    quoted,
)
from ullage.models.retry import Failure, NothingCame, retry_after

if TYPE_CHECKING:
    import httpx2

BUSY_ATTEMPTS = 7
"""How often a busy or failing endpoint is tried: about half a minute with the default delays."""
NONSENSE_ATTEMPTS = 2
"""How often a call is tried that gets no reply, or one that stops coming: once may be chance; what took minutes once takes them again."""
UNREACHABLE_ATTEMPTS = 4
"""How often a connection that fails is tried: a few seconds, since most often the address is wrong or the server is not started."""

TOO_LONG = (
    "prompt is too long",  # Anthropic
    "exceed_context_size_error",  # llama.cpp, the error's type
    "exceeds the available context size",  # llama.cpp, its message
    "maximum context length",  # vLLM, LiteLLM and most OpenAI-compatible servers
    "context length exceeded",  # Ollama
    "context_length_exceeded",  # OpenAI, the error's code
    "input is too long for requested model",  # Amazon Bedrock
    "input token count",  # Gemini, with "exceeds the maximum number of tokens allowed"
)
"""What servers say of a prompt that is too long. No error code exists for it, so the words have to do."""

BLOCK_REFUSED = ("compaction_signature_", "compaction_content_", "compaction_tool_changes_", "compaction_block_")
"""How the error codes begin of a request whose compaction block is not taken back (the codes are in the SDK's types)."""

_QUOTA_ENDED = "insufficient_quota"
"""OpenAI's code for an account without credit; it comes with a 429, and no waiting helps."""

OTHER_CONVERSATION = "The block is bound to a different conversation"
"""What the API says of thinking whose prefix has changed (anthropic-api.md 2.6); no error code exists for it."""

_UNKNOWN_MODEL = re.compile(
    r"model\W.*(not found|does not exist|not exist|unknown|invalid)|(unknown|invalid|no such) model|^model: ",
    re.IGNORECASE | re.DOTALL,
)
_WINDOW = re.compile(
    r"tokens? > (\d{1,12}) maximum"
    r"|available context size \((\d{1,12}) tokens\)"
    r"|maximum context length (?:is|of) (\d{1,12})\b"
    r"|maximum number of tokens allowed \((\d{1,12})\)",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"(\d{1,12}) tokens? > |request \((\d{1,12}) tokens\)|you requested (\d{1,12})\b", re.IGNORECASE)
_INPUT = re.compile(
    r"(\d{1,12}) tokens? > |request \((\d{1,12}) tokens\)|\((\d{1,12}) in the messages|(\d{1,12}) input tokens"
    r"|messages resulted in (\d{1,12}) tokens|input token count \((\d{1,12})\)",
    re.IGNORECASE,
)
"""Finds the size of the input that a refusal names, without the reply that was asked for, which vLLM and others count in."""
_MEDIA = re.compile(r"\b(images?|pdfs?|documents?|multimodal|mmproj|only text)\b", re.IGNORECASE)
"""Words in a refusal that is about an image or a document; no error code exists for it."""


class ErrorInReply(Exception):
    """The endpoint answered as if all were well and then sent an error; `body` is what it sent."""

    def __init__(self, body: Mapping[str, object]) -> None:
        super().__init__("an error in a reply")
        self.body = body


def understand(problem: Exception, endpoint: Endpoint) -> Failure:
    """The failure behind an exception that a call raised."""
    from httpx2 import HTTPError, InvalidURL

    if isinstance(problem, ModelError):
        attempts = BUSY_ATTEMPTS if isinstance(problem, StreamBroken) else 1
        return Failure(problem, attempts)
    if isinstance(problem, ErrorInReply):
        return _inside_a_reply(problem.body, endpoint)
    if isinstance(problem, Nonsense):
        return _nonsense(problem, endpoint)
    if isinstance(problem, NothingCame):
        reason = f"{endpoint.name} {problem}"
        return Failure(NothingMore(f"{reason}. The connection was ended. Press Continue to try again."), NONSENSE_ATTEMPTS, reason=reason)
    if isinstance(problem, TimeoutError):
        return Failure(_not_in_time(endpoint))
    if isinstance(problem, EndpointRefused):
        return _status(problem.answered, endpoint)
    if isinstance(problem, Unanswered):
        return _connection(problem.__cause__ or problem, endpoint)
    if isinstance(problem, HTTPError):
        error = StreamBroken(
            f"The connection to {_lower(endpoint.name)} broke in the middle of the reply"
            f" ({type(problem).__name__}). Press Continue to try again."
        )
        return Failure(error, BUSY_ATTEMPTS)
    if isinstance(problem, InvalidURL):
        return Failure(_not_a_url(endpoint))
    refused = credentials_refusal(problem, endpoint)
    return Failure(refused) if refused is not None else _of_the_sdk(problem, endpoint)


def _of_the_sdk(problem: Exception, endpoint: Endpoint) -> Failure:
    from anthropic import AnthropicError, APIConnectionError, APIResponseValidationError, APIStatusError, CredentialsError

    if isinstance(problem, APIStatusError):
        code = "" if problem.error_code is None else str(problem.error_code)
        return _status(ErrorResponse(problem.response, problem.body, problem.message, str(problem.type), code), endpoint)
    if isinstance(problem, APIConnectionError):
        return _connection(problem.__cause__ or problem, endpoint)
    if isinstance(problem, APIResponseValidationError):
        return _nonsense(Nonsense("a reply that is no JSON"), endpoint)
    if isinstance(problem, CredentialsError):
        return Failure(AuthenticationFailed(f"{_NO_KEY} The credentials of the environment cannot be used: {problem}"))
    if isinstance(problem, AnthropicError | TypeError) and "authentication" in str(problem):
        return Failure(AuthenticationFailed(_NO_KEY))
    raise problem


def not_this_api(response: httpx2.Response, endpoint: Endpoint) -> EndpointUnreachable:
    """The error where an endpoint answers, but with something else: a web page, another API."""
    kind = response.headers.get("content-type", "no content type").partition(";")[0]
    return EndpointUnreachable(
        f"{endpoint.name} answers, but not as the {endpoint.api.name} does"
        f" (HTTP {response.status_code}, {kind}). Check the address: it ends before `{endpoint.api.page}`."
    )


def _window_named_in(message: str) -> int | None:
    """The window (tokens) that a server named when it refused a prompt as too long; None if it named none, or one that can be none."""
    return plausible_window(_number(_WINDOW, message))


def _number(pattern: re.Pattern[str], message: str) -> int | None:
    found = pattern.search(message)
    return int(next(group for group in found.groups() if group)) if found else None


_NO_KEY = 'There is no API key. Set one with the command "Ullage: Set API key…", or connect another server with "Ullage: Connect a model…".'


def _status(problem: ErrorResponse, endpoint: Endpoint) -> Failure:
    said = _said(problem, endpoint)
    status = problem.response.status_code
    if 300 <= status < 400:
        return Failure(_elsewhere(problem.response, endpoint))
    if status == 413 or is_too_long_by(f"{problem.type} {problem.message} {problem.body}"):
        return Failure(prompt_too_long(said))
    refused = cloud_refusal(problem, said, endpoint)
    if refused is not None:
        return Failure(refused)
    if status == 402 or "credit balance" in said.lower() or problem.code == _QUOTA_ENDED:
        return Failure(
            AuthenticationFailed(f"{endpoint.name} says that there is no credit left: {said}. Add credit to the account, then continue.")
        )
    if status in (401, 403):
        return Failure(_not_accepted(status, said, endpoint))
    if status in (400, 404, 422) and _UNKNOWN_MODEL.search(said):
        return Failure(_unknown_model(said, endpoint))
    if status in (404, 405, 501) or status < 200:
        return Failure(not_this_api(problem.response, endpoint))
    if _may_be_tried_again(problem) and not _MEDIA.search(said):  # llama.cpp says so with a 500
        reason = f"{endpoint.name} is {_busy(status)} (HTTP {status}: {said})"
        asked = retry_after(problem.response.headers)
        return Failure(Overloaded(f"{reason}. {_when(asked)}"), BUSY_ATTEMPTS, asked, reason)
    return Failure(_refusal(problem)(f"{endpoint.name} refused the request (HTTP {status}): {said}"))


def _refusal(problem: ErrorResponse) -> type[RequestRefused]:
    if _MEDIA.search(problem.message):
        return MediaRefused
    if problem.code.startswith(BLOCK_REFUSED):
        return BlockRefused
    return ThinkingRefused if OTHER_CONVERSATION in problem.message else RequestRefused


def _inside_a_reply(body: Mapping[str, object], endpoint: Endpoint) -> Failure:
    """The failure behind an error in what had begun as a success: an `error` event of a stream, or an error with the status 200."""
    said = quoted(_words(body) or "no reason given", endpoint)
    kind = quoted(string(mapping(body.get("error")), "type") or "error", endpoint, 60)
    code = string(mapping(body.get("error")), "code")
    if is_too_long_by(f"{kind} {code} {said}"):
        return Failure(prompt_too_long(said))
    if kind in ("overloaded_error", "rate_limit_error"):
        reason = f"{endpoint.name} became overloaded while it replied ({said})"
        return Failure(Overloaded(f"{reason}. Wait a moment, then press Continue."), BUSY_ATTEMPTS, reason=reason)
    reason = f"{endpoint.name} broke off its reply with an error ({kind}: {said})"
    return Failure(StreamBroken(f"{reason}. Press Continue to try again."), BUSY_ATTEMPTS, reason=reason)


def _connection(cause: BaseException, endpoint: Endpoint) -> Failure:
    from httpx2 import ConnectTimeout, InvalidURL, LocalProtocolError, RemoteProtocolError, TimeoutException, UnsupportedProtocol

    if isinstance(cause, Nonsense):
        return _nonsense(cause, endpoint)
    if isinstance(cause, UnsupportedProtocol | InvalidURL):
        return Failure(_not_a_url(endpoint))
    if isinstance(cause, LocalProtocolError) and "header" in str(cause):
        return Failure(
            AuthenticationFailed('The API key has a character that cannot be sent. Set it anew with the command "Ullage: Set API key…".')
        )
    if isinstance(cause, TimeoutException) and not isinstance(cause, ConnectTimeout):
        return Failure(_not_in_time(endpoint))
    if isinstance(cause, RemoteProtocolError) and "disconnected" not in str(cause):
        return _nonsense(Nonsense(f"an answer that is no HTTP ({quoted(str(cause), endpoint, 200)})"), endpoint)
    if not _is_web_address(endpoint.base_url):
        return Failure(_not_a_url(endpoint))
    what = f"{endpoint.name} cannot be reached: {quoted(_why_not_reached(cause), endpoint)}"
    return Failure(EndpointUnreachable(f"{what}. {_look_at(endpoint)}"), UNREACHABLE_ATTEMPTS, reason=what)


def _is_web_address(url: str) -> bool:
    try:
        return url == "" or bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _why_not_reached(cause: BaseException) -> str:
    """What the system said, in words: its own begin with a number ("[Errno -2]"), and of several attempts the last one tells."""
    from httpx2 import ConnectTimeout

    known: BaseException | None = cause
    while known is not None and not (isinstance(known, OSError) and known.errno is not None):
        known = known.__cause__ or known.__context__
    if isinstance(cause, ConnectTimeout | TimeoutError) or isinstance(known, TimeoutError):
        return "nothing answers there"
    if isinstance(known, socket.gaierror):
        return "no machine of that name is known here"
    if isinstance(known, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(known, ssl.SSLError):
        return f"no safe connection comes about ({known.reason or known})"
    said = str(cause) if known is None else str(known.strerror or known)
    return said.rstrip(".") or type(cause).__name__


def _nonsense(problem: Nonsense, endpoint: Endpoint) -> Failure:
    reason = f"{endpoint.name} sent nonsense: {problem}"
    told = f"{reason}. Press Continue to try again. If it happens again, look at what runs there, or choose another endpoint or model."
    return Failure(NonsenseSent(told), NONSENSE_ATTEMPTS, reason=reason)


def _not_in_time(endpoint: Endpoint) -> EndpointUnreachable:
    # Not tried again: what took minutes once takes them again, so the user decides.
    return EndpointUnreachable(f"{endpoint.name} took the request but did not answer in time. {_look_at(endpoint)}")


def _elsewhere(response: httpx2.Response, endpoint: Endpoint) -> EndpointUnreachable:
    """The error for a redirect, which is not followed: it would take the prompt with it."""
    to = quoted(public_url(response.headers.get("location", "")), endpoint, 200) or "nowhere"
    return EndpointUnreachable(
        f"{endpoint.name} redirects the request (HTTP {response.status_code}) to {to}. Nothing was sent there. If that is the"
        f" right address, enter it instead, without `{endpoint.api.page}`."
    )


def _look_at(endpoint: Endpoint) -> str:
    if endpoint.base_url:
        return "Check the address, and that the server runs."
    return "Check the region and the network." if endpoint.title else "Check the network."


def _not_a_url(endpoint: Endpoint) -> EndpointUnreachable:
    return EndpointUnreachable(
        f'The setting "Ullage › Model: Base Url" is no web address: `{public_url(endpoint.base_url)}`. One looks like'
        " `http://127.0.0.1:8080`."
    )


def _unknown_model(said: str, endpoint: Endpoint) -> UnknownModel:
    if said.strip() == f"model: {endpoint.model}":  # all that Anthropic's API says of it
        return UnknownModel(
            f"{endpoint.name} does not know the model `{endpoint.model}`. Choose another with `/model`, or in the setting"
            ' "Ullage › Model: Name".'
        )
    return UnknownModel(
        f"{endpoint.name} does not know the model `{endpoint.model}` ({said}). Choose another with `/model`, or in the setting"
        ' "Ullage › Model: Name".'
    )


def _not_accepted(status: int, said: str, endpoint: Endpoint) -> AuthenticationFailed:
    if not endpoint.api_key:
        return AuthenticationFailed(f'{endpoint.name} asks for a key ({said}). Set one with the command "Ullage: Set API key…".')
    if status == 403:
        return AuthenticationFailed(
            f"{endpoint.name} does not allow this with the API key in use: {said}. Choose another model with `/model`,"
            ' or another key with the command "Ullage: Set API key…".'
        )
    return AuthenticationFailed(
        f'{endpoint.name} does not accept the API key ({said}). Set the right one with the command "Ullage: Set API key…".'
    )


def prompt_too_long(said: str) -> PromptTooLong:
    """The error for a refusal that says that the prompt is too long, with the sizes that it names."""
    return PromptTooLong(
        f"The conversation is too long for the model ({said}). Compact it or begin a new session.",
        window=_window_named_in(said),
        tokens=_number(_TOKENS, said),
        input_tokens=_number(_INPUT, said),
    )


def sizes_that_cannot_be(endpoint: Endpoint) -> PromptTooLong:
    """The error for such a refusal whose numbers are not believed: it does not repeat them beside a gauge that shows others."""
    return PromptTooLong(
        f"{endpoint.name} refused the conversation as too long, but named impossible sizes. Compact it, or begin a new session."
    )


def is_too_long_by(text: str) -> bool:
    """Whether a refusal speaks of a prompt that is too long."""
    return any(words in text.lower() for words in TOO_LONG)


def _may_be_tried_again(problem: ErrorResponse) -> bool:
    wish = problem.response.headers.get("x-should-retry")
    if wish in ("true", "false"):
        return wish == "true"
    status = problem.response.status_code
    return status in (408, 409, 429) or status >= 500


def _busy(status: int) -> str:
    if status == 429:
        return "limiting how often it may be called"
    return "overloaded" if status in (503, 529) else "failing"


def _when(seconds: float | None) -> str:
    if not seconds:
        return "Wait a moment, then press Continue."
    if seconds < 120:
        return f"It asks to be called again in {max(1.0, seconds):.0f} s."
    if seconds < 86_400:
        return f"It asks to be called again in {seconds / 60:.0f} min."
    return (
        f"It asks to be called again in {seconds / 86_400:.0f} days."
        if seconds < 86_400_000
        else "It asks not to be called again for years."
    )


def _said(problem: ErrorResponse, endpoint: Endpoint) -> str:
    """The endpoint's own words, short and without keys."""
    return quoted(_words(problem.body) or problem.response.reason_phrase or "no reason given", endpoint)


def _words(body: object) -> str:
    """What an error says in words: in the API's envelope or in that of others; empty if it is a web page or says nothing."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    error = mapping(body).get("error")
    for words in (mapping(error).get("message"), mapping(body).get("message"), mapping(body).get("detail"), error):
        if words:
            return words if isinstance(words, str) else repr(words)
    return ""


def _lower(name: str) -> str:
    return f"t{name[1:]}" if name.startswith("The ") else name
