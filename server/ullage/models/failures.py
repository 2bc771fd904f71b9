"""What went wrong with a call of the Messages API, in words for the user: exceptions of the SDK in, `Failure`s out.

The words name what failed, with what, and what to do. They never hold an API key, even where a server repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from json import JSONDecodeError
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit, urlunsplit

from ullage.models.errors import (
    AuthenticationFailed,
    BlockRefused,
    EndpointUnreachable,
    MediaRefused,
    ModelError,
    Overloaded,
    PromptTooLong,
    RequestRefused,
    StreamBroken,
    ThinkingRefused,
    UnknownModel,
)
from ullage.models.retry import Failure

if TYPE_CHECKING:
    import httpx2
    from anthropic import APIStatusError

BUSY_ATTEMPTS = 7
"""For a busy or failing endpoint: about half a minute with the default delays."""
UNREACHABLE_ATTEMPTS = 4
"""For a connection that fails: a few seconds, since most often the address is wrong or the server is not started."""

TOO_LONG = (
    "prompt is too long",  # Anthropic
    "exceed_context_size_error",  # llama.cpp, the error's type
    "exceeds the available context size",  # llama.cpp, its message
    "maximum context length",  # vLLM, LiteLLM and most OpenAI-compatible servers
    "context length exceeded",  # Ollama
)
"""No error code exists for it, so the words have to do."""

BLOCK_REFUSED = ("compaction_signature_", "compaction_content_", "compaction_tool_changes_", "compaction_block_")
"""How the error codes begin of a request whose compaction block is not taken back (the codes are in the SDK's types)."""

OTHER_CONVERSATION = "The block is bound to a different conversation"
"""What the API says of thinking whose prefix has changed (anthropic-api.md 2.6); no error code exists for it."""

_UNKNOWN_MODEL = re.compile(
    r"model\W.*(not found|does not exist|not exist|unknown|invalid)|(unknown|invalid|no such) model|^model: ",
    re.IGNORECASE | re.DOTALL,
)
_WINDOW = re.compile(
    r"tokens? > (\d+) maximum"
    r"|available context size \((\d+) tokens\)"
    r"|maximum context length (?:is|of) (\d+)",
    re.IGNORECASE,
)
_MEDIA = re.compile(r"\b(images?|pdfs?|documents?|multimodal|mmproj|only text)\b", re.IGNORECASE)
"""What a refusal speaks of that is about an image or a document; no error code exists for it."""
_KEY_LIKE = re.compile(r"\bsk-[A-Za-z0-9_\-*.]{6,}")
_QUOTED_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What the words need to know of the call that failed."""

    model: str
    base_url: str
    """As the user set it; empty for the SDK's own default."""
    api_key: str | None = None

    @property
    def name(self) -> str:
        """The endpoint for the user: its address without credentials, or Anthropic."""
        if not self.base_url:
            return "The Anthropic API"
        return f"The server at {public_url(self.base_url)}"


def public_url(url: str) -> str:
    """The URL without user name and password."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def understand(problem: Exception, endpoint: Endpoint) -> Failure:
    """The failure behind an exception that a call raised."""
    from anthropic import AnthropicError, APIConnectionError, APIStatusError, CredentialsError
    from httpx2 import HTTPError, InvalidURL

    if isinstance(problem, ModelError):
        attempts = BUSY_ATTEMPTS if isinstance(problem, StreamBroken) else 1
        return Failure(problem, attempts)
    if isinstance(problem, APIStatusError):
        if problem.status_code < 300:
            return _inside_a_stream(problem, endpoint)
        return _status(problem, endpoint)
    if isinstance(problem, APIConnectionError):
        return _connection(problem.__cause__ or problem, endpoint)
    if isinstance(problem, HTTPError):
        error = StreamBroken(
            f"The connection to {_lower(endpoint.name)} broke in the middle of the reply"
            f" ({type(problem).__name__}). Send the prompt again or continue the turn."
        )
        return Failure(error, BUSY_ATTEMPTS)
    if isinstance(problem, InvalidURL):
        return Failure(_not_a_url(endpoint))
    if isinstance(problem, JSONDecodeError):
        return Failure(StreamBroken(f"{endpoint.name} sent an event that is no JSON ({problem}). Continue the turn to try again."))
    if isinstance(problem, CredentialsError):
        return Failure(AuthenticationFailed(f"{_NO_KEY} The credentials of the environment cannot be used: {problem}"))
    if isinstance(problem, AnthropicError | TypeError) and "authentication" in str(problem):
        return Failure(AuthenticationFailed(_NO_KEY))
    raise problem


def not_the_messages_api(response: httpx2.Response, endpoint: Endpoint) -> EndpointUnreachable:
    """For an endpoint that answers, but with something else: a web page, another API."""
    kind = response.headers.get("content-type", "no content type").partition(";")[0]
    return EndpointUnreachable(
        f"{endpoint.name} answers, but not as the Messages API does"
        f" (HTTP {response.status_code}, {kind}). Check the setting `ullage.model.baseUrl`:"
        " it is the address without `/v1/messages`."
    )


def window_named_in(message: str) -> int | None:
    """The window (tokens) that a server named when it refused a prompt as too long; None where it named none."""
    found = _WINDOW.search(message)
    return int(next(group for group in found.groups() if group)) if found else None


_NO_KEY = (
    'There is no API key. Set one with the command "Ullage: Set API key", or name a local server in the setting `ullage.model.baseUrl`.'
)


def _status(problem: APIStatusError, endpoint: Endpoint) -> Failure:
    said = _said(problem, endpoint)
    status = problem.status_code
    if status == 413 or _is_too_long(problem):
        return Failure(_too_long(said))
    if status == 402 or "credit balance" in said.lower():
        return Failure(
            AuthenticationFailed(f"{endpoint.name} says that there is no credit left: {said}. Add credit to the account, then continue.")
        )
    if status in (401, 403):
        return Failure(_not_accepted(status, said, endpoint))
    if status in (400, 404, 422) and _UNKNOWN_MODEL.search(said):
        return Failure(
            UnknownModel(
                f"{endpoint.name} does not know the model `{endpoint.model}` ({said}). Choose another in the setting `ullage.model.name`."
            )
        )
    if status in (404, 405, 501) or 300 <= status < 400:
        return Failure(not_the_messages_api(problem.response, endpoint))
    if _may_be_tried_again(problem) and not _MEDIA.search(said):  # llama.cpp says so with a 500
        reason = f"{endpoint.name} is {_busy(status)} (HTTP {status}: {said})"
        return Failure(Overloaded(f"{reason}. {_when(problem)}"), BUSY_ATTEMPTS, _retry_after(problem), reason)
    return Failure(_refusal(problem)(f"{endpoint.name} refused the request (HTTP {status}): {said}"))


def _refusal(problem: APIStatusError) -> type[RequestRefused]:
    if _MEDIA.search(problem.message):
        return MediaRefused
    if str(problem.error_code).startswith(BLOCK_REFUSED):
        return BlockRefused
    return ThinkingRefused if OTHER_CONVERSATION in problem.message else RequestRefused


def _inside_a_stream(problem: APIStatusError, endpoint: Endpoint) -> Failure:
    """An `error` event in a stream that had begun as a success."""
    said = _said(problem, endpoint)
    if _is_too_long(problem):
        return Failure(_too_long(said))
    kind = str(problem.type or "error")
    if kind in ("overloaded_error", "rate_limit_error"):
        reason = f"{endpoint.name} became overloaded while it replied ({said})"
        return Failure(Overloaded(f"{reason}. Continue in a while."), BUSY_ATTEMPTS, reason=reason)
    reason = f"{endpoint.name} broke off its reply with an error ({kind}: {said})"
    return Failure(StreamBroken(f"{reason}. Continue the turn to try again."), BUSY_ATTEMPTS, reason=reason)


def _connection(cause: BaseException, endpoint: Endpoint) -> Failure:
    from httpx2 import ConnectTimeout, InvalidURL, LocalProtocolError, TimeoutException, UnsupportedProtocol

    if isinstance(cause, UnsupportedProtocol | InvalidURL):
        return Failure(_not_a_url(endpoint))
    if isinstance(cause, LocalProtocolError) and "header" in str(cause):
        return Failure(
            AuthenticationFailed('The API key has a character that cannot be sent. Set it anew with the command "Ullage: Set API key".')
        )
    if isinstance(cause, TimeoutException) and not isinstance(cause, ConnectTimeout):
        # What took minutes once takes them again: the user decides.
        return Failure(EndpointUnreachable(f"{endpoint.name} took the request but did not answer in time. {_look_at(endpoint)}"))
    said = _redacted(str(cause).rstrip(".") or type(cause).__name__, endpoint)
    what = f"{endpoint.name} cannot be reached ({said})"
    return Failure(EndpointUnreachable(f"{what}. {_look_at(endpoint)}"), UNREACHABLE_ATTEMPTS, reason=what)


def _look_at(endpoint: Endpoint) -> str:
    if endpoint.base_url:
        return "Check that the server runs and that the setting `ullage.model.baseUrl` names it."
    return "Check the network."


def _not_a_url(endpoint: Endpoint) -> EndpointUnreachable:
    return EndpointUnreachable(
        f"The setting `ullage.model.baseUrl` is no web address: `{public_url(endpoint.base_url)}`. It looks like `http://127.0.0.1:8080`."
    )


def _not_accepted(status: int, said: str, endpoint: Endpoint) -> AuthenticationFailed:
    if not endpoint.api_key:
        return AuthenticationFailed(f'{endpoint.name} asks for a key ({said}). Set one with the command "Ullage: Set API key".')
    if status == 403:
        return AuthenticationFailed(
            f"{endpoint.name} does not allow this with the API key in use: {said}. Choose another model in the"
            ' setting `ullage.model.name` or another key with the command "Ullage: Set API key".'
        )
    return AuthenticationFailed(
        f'{endpoint.name} does not accept the API key ({said}). Set the right one with the command "Ullage: Set API key".'
    )


def _too_long(said: str) -> PromptTooLong:
    return PromptTooLong(
        f"The conversation is too long for the model ({said}). Compact it or begin a new session.",
        window=window_named_in(said),
    )


def _is_too_long(problem: APIStatusError) -> bool:
    text = f"{problem.type} {problem.message} {problem.body}".lower()
    return any(words in text for words in TOO_LONG)


def _may_be_tried_again(problem: APIStatusError) -> bool:
    wish = problem.response.headers.get("x-should-retry")
    if wish in ("true", "false"):
        return wish == "true"
    return problem.status_code in (408, 409, 429) or problem.status_code >= 500


def _busy(status: int) -> str:
    if status == 429:
        return "limiting how often it may be called"
    return "overloaded" if status in (503, 529) else "failing"


def _retry_after(problem: APIStatusError) -> float | None:
    headers = problem.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if seconds >= 0:
            return seconds
    return None


def _when(problem: APIStatusError) -> str:
    seconds = _retry_after(problem)
    if seconds is None:
        return "Continue in a while."
    if seconds < 120:
        return f"It asks to be called again in {seconds:.0f} s."
    return f"It asks to be called again in {seconds / 60:.0f} min."


def _said(problem: APIStatusError, endpoint: Endpoint) -> str:
    """The endpoint's own words, short and without keys."""
    body = problem.body
    words = problem.api_message
    if not words and isinstance(body, Mapping):
        # Servers without the API's error envelope.
        detail = cast(Mapping[str, object], body)
        words = str(detail.get("message") or detail.get("detail") or detail.get("error") or "")
    if not words and isinstance(body, str) and not body.lstrip().startswith("<"):
        words = body
    words = _redacted(" ".join((words or problem.response.reason_phrase or "no reason given").split()), endpoint)
    return words if len(words) <= _QUOTED_CHARACTERS else words[:_QUOTED_CHARACTERS] + "…"


def _redacted(words: str, endpoint: Endpoint) -> str:
    if endpoint.api_key:
        for key in (endpoint.api_key, repr(endpoint.api_key)[1:-1]):  # also as an error quotes it
            words = words.replace(key, "[key]")
    return _KEY_LIKE.sub("[key]", words)


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]
