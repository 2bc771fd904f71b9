"""What can go wrong with a model call, in words for the user.

ModelError
├── PromptTooLong            the input is over the window (also HTTP 413)
├── AuthenticationFailed     no key, a wrong key, no permission, no credit
│   └── CloudRefused         the same in a cloud, where no key of Ullage's would help
├── UnknownModel             the endpoint does not know the model
├── RequestRefused           any other 4xx: the request itself was wrong
│   ├── BlockRefused         the API does not take back the compaction block that it wrote
│   └── ThinkingRefused      the API takes what stands before replayed thinking for changed
├── EndpointUnreachable      no network, nothing listens, or what answers is another API
├── NotSetUp                 what a cloud needs is not there: a package, a region, a project; nothing was sent
├── ListRefused              the endpoint does not list its models; it may answer messages all the same
├── Overloaded               429, 529 and 5xx after all retries
├── StreamBroken             the reply ended before it was whole, or an error came inside it
├── NothingMore              the reply stopped coming, though the connection stands
└── NonsenseSent             what came is no reply: undecodable, nested without end, far too large

Beside them stand `Nonsense`, which whatever reads a reply raises, and `EndpointRefused` and `Unanswered`, which a call without an SDK does;
`failures.py` makes one of the above of them.

How an endpoint is named in such words, and how its own words are quoted, is said here too (`Endpoint`, `quoted`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from ullage.context.quoting import visible_line

if TYPE_CHECKING:
    import httpx2

_KEY_LIKE = re.compile(
    r"\bsk-[A-Za-z0-9_\-*.]{6,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"  # ids of AWS keys, which name an account
    r"|\bABSK[A-Za-z0-9+/=]{12,}|\bbedrock-api-key-[A-Za-z0-9+/=._-]{12,}"  # keys of Bedrock
    r"|(?<=x-amz-security-token:)\s*\S+|(?<=Signature=)[0-9a-f]{16,}"  # in errors about signatures, which repeat what was signed
    r"|\bya29\.[A-Za-z0-9_-]{8,}",  # tokens of Google
    re.IGNORECASE,
)
_QUOTED_CHARACTERS = 500


class ModelError(Exception):
    """`str()` is one or two sentences for the user: what failed, with what, and what to do."""


class PromptTooLong(ModelError):
    """The input alone is over the model's window.

    In tokens, each None if the endpoint did not say it: `window` is what it said that is, `tokens` what it said of the request, with the
    reply that was asked for where it counts that in, `input_tokens` what it said of the input alone: the gauge shows this.
    """

    def __init__(self, message: str, window: int | None = None, tokens: int | None = None, input_tokens: int | None = None) -> None:
        super().__init__(message)
        self.window = window
        self.tokens = tokens
        self.input_tokens = input_tokens


class AuthenticationFailed(ModelError):
    """The endpoint does not accept the credentials."""


class CloudRefused(AuthenticationFailed):
    """A cloud does not accept the credentials, or not for that: they are the cloud's own, and Ullage keeps none."""


class UnknownModel(ModelError):
    """The endpoint does not know the model that was asked for."""


class RequestRefused(ModelError):
    """The endpoint refused the request for another reason; its own words are in the message."""


class BlockRefused(RequestRefused):
    """The endpoint does not take back a compaction block, such as one that another account's key was used for."""


class MediaRefused(RequestRefused):
    """The endpoint takes no images or documents, or not these."""


class ThinkingRefused(RequestRefused):
    """The endpoint takes a thinking block for one of another conversation."""


class EndpointUnreachable(ModelError):
    """Nothing that speaks the API answers at the base URL."""


class NotSetUp(ModelError):
    """What is needed to ask a cloud is not there. Nothing was sent."""


class ListRefused(ModelError):
    """The endpoint does not list its models. It may answer messages all the same."""


class Overloaded(ModelError):
    """The endpoint is busy or failing; it was tried several times."""


class StreamBroken(ModelError):
    """The reply was cut off after output had begun, so it was not tried again."""


class NothingMore(ModelError):
    """The endpoint keeps the connection open and sends nothing of the reply."""


class NonsenseSent(ModelError):
    """The endpoint sent what the API does not send."""


class Nonsense(Exception):
    """What came is no reply of the API. `str()` says in a few words what it was, as it stands after "sent"."""


@dataclass(frozen=True, slots=True)
class Api:
    """What an endpoint speaks: its name, and the page that is asked for a reply, as it stands after the address."""

    name: str
    page: str


MESSAGES = Api("Messages API", "/v1/messages")
CHAT_COMPLETIONS = Api("Chat Completions API", "/chat/completions")
BEDROCK = Api("runtime of Amazon Bedrock", "/model/")
VERTEX = Api("API of Vertex AI", "/projects/")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What the words for the user need to know of the call that failed."""

    model: str
    base_url: str
    """The address as the user set it; empty for the SDK's own default."""
    api_key: str | None = None
    api: Api = MESSAGES
    title: str = ""
    """The name that the user knows it by, where that is not its address."""

    @property
    def name(self) -> str:
        """The name of the endpoint for the user: its title, its address without credentials, or Anthropic."""
        if self.title:
            return self.title
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


def quoted(words: str, endpoint: Endpoint, most: int = _QUOTED_CHARACTERS) -> str:
    """Words of a server as they may stand in a message: on one line, without keys, and with escapes for what cannot be seen."""
    words = _redacted(" ".join(words[: 20 * most].split()), endpoint)
    return visible_line(words) if len(words) <= most else f"{visible_line(words[:most])}…"


def _redacted(words: str, endpoint: Endpoint) -> str:
    if endpoint.api_key:
        for key in (endpoint.api_key, repr(endpoint.api_key)[1:-1]):  # also as an error quotes it
            words = words.replace(key, "[key]")
    return _KEY_LIKE.sub("[key]", words)


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An answer with an error status, whatever API it is of: what it says, whole and by the parts that errors have."""

    response: httpx2.Response
    body: object
    message: str
    type: str = ""
    code: str = ""


class EndpointRefused(Exception):
    """An answer with an error status, of an endpoint that is called without an SDK."""

    def __init__(self, answered: ErrorResponse) -> None:
        super().__init__(f"HTTP {answered.response.status_code}")
        self.answered = answered


class Unanswered(Exception):
    """No answer came, for the error of the HTTP client that caused this."""
