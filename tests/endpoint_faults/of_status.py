"""Errors by their status, in the API's form and in any other; redirects; wishes to be called again."""

from __future__ import annotations

import json

from tests.endpoint_faults.fault import WELL, Fault, answer, bomb, in_json
from tests.unit.models.scripted_server import error

SAYS = {
    401: "does not accept the API key",
    402: "no credit left",
    403: "does not allow this",
    404: "not as the Messages API does",
    405: "not as the Messages API does",
    408: "failing",
    409: "failing",
    413: "too long",
    429: "limiting how often",
    501: "not as the Messages API does",
    503: "overloaded",
    529: "overloaded",
}
"""What is told of a status; of others that the request was refused (4xx) or that the server is failing (5xx)."""

REFUSED = [
    400,
    401,
    402,
    403,
    404,
    405,
    406,
    408,
    409,
    410,
    411,
    412,
    413,
    414,
    415,
    418,
    421,
    422,
    423,
    424,
    425,
    426,
    428,
    429,
    431,
    451,
    499,
]
FAILED = [500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 521, 522, 524, 529, 598, 599]

BODIES = {
    "a web page": b"<!doctype html><html><h1>Bad Gateway</h1></html>",
    "empty": b"",
    "another API's form": b'{"detail": [{"loc": ["body"], "msg": "no"}]}',
    "a text": b"upstream connect error",
    "deep JSON": b'{"error": ' + b"[" * 100_000,
    "JSON of another shape": b'{"error": [1, {"message": 5}], "message": {"a": null}}',
    "a number": b"5",
    "null": b"null",
    "no UTF-8": b'{"error": {"message": "\xff\xfe\x80"}}',
    "5 MB": b'{"error": {"message": "' + b"x" * 5_000_000 + b'"}}',
    "control characters": json.dumps(error("x", "a\u202eb\u200b\x1b[31mred\x00\r\nnext [Fix](command:x)")).encode(),
    "half a pair": b'{"type": "error", "error": {"type": "\\ud800", "message": "\\ud800 half"}}',
    "a number of many digits": b'{"error": {"message": "x", "n": ' + b"9" * 100_000 + b"}}",
}


def says(status: int) -> tuple[str, ...]:
    told = SAYS.get(status, "failing" if status >= 500 else "refused the request")
    return (told,)


def of_status() -> list[Fault]:
    """All of them."""
    faults = [
        Fault(f"HTTP {status}", in_json(error("some_error", "the reason"), f"{status} Status"), says(status))
        for status in (*REFUSED, *FAILED)
    ]
    for status in (400, 401, 429, 500):
        faults += [
            Fault(f"HTTP {status}, {name}", answer(body, f"{status} Status", "application/json"), says(status))
            for name, body in BODIES.items()
        ]
    faults += [
        Fault(f"HTTP {status} without a body", answer(b"", f"{status} Status", ""), ("not as the Messages API does",))
        for status in (201, 202, 204, 206, 226, 299)
    ]
    faults += [
        Fault(
            f"HTTP {status}, a packed body",
            answer(bomb(b"x", 50), f"{status} S", "text/plain", "content-encoding: gzip"),
            says(status),
        )
        for status in (400, 500)
    ]
    for status in (300, 301, 302, 303, 304, 307, 308):
        faults.append(Fault(f"HTTP {status} without an address", answer(b"", f"{status} Moved"), ("redirects the request",)))
    for to in (
        "http://127.0.0.1:9/v1/messages",
        "/v1/messages/",
        "javascript:alert(1)",
        "http://[",
        "//",
        "\x01",
        "x" * 9_000,
        "https://user:secret@example.com/",
    ):
        faults.append(
            Fault(
                f"a redirect to {to[:30]!r}", answer(b"", "307 Moved", "text/html", f"location: {to}"), ("redirects the request", "no HTTP")
            )
        )
    wishes = [
        "0",
        "-5",
        "0.0001",
        "59",
        "61",
        "1e9",
        "inf",
        "-inf",
        "nan",
        "soon",
        "",
        "9" * 500,
        "Wed, 21 Oct 2015 07:28:00 GMT",
        "Fri, 21 Oct 9999 07:28:00 GMT",
        "0x10",
        "1_0",
    ]
    for wish in wishes:
        busy = answer(json.dumps(error("rate_limit_error", "slow down")), "429 Too Many", "application/json", f"retry-after: {wish}")
        faults.append(Fault(f"retry-after {wish[:40]!r}", busy, says(429)))
        faults.append(Fault(f"retry-after {wish[:40]!r}, twice", busy, WELL if wish not in BEYOND else says(429), times=2))
    for words, told in TOO_LONG.items():
        faults.append(Fault(f"too long: {words[:40]}", in_json(error("invalid_request_error", words), "400 Bad"), told, times=1))
    for wish in ("true", "false", "maybe", "\x80"):
        faults.append(
            Fault(
                f"x-should-retry {wish!r}",
                answer(json.dumps(error("api_error", "no")), "500 Oops", "application/json", f"x-should-retry: {wish}"),
                ("failing", "refused the request"),
            )
        )
    return faults


BEYOND = ("61", "1e9", "Fri, 21 Oct 9999 07:28:00 GMT")
"""Wishes that nobody waits for."""

_NOT_HELPED = ("too long",)
TOO_LONG = {
    "prompt is too long: 3000 tokens > 1 maximum": _NOT_HELPED,
    "prompt is too long: 3000 tokens > 2000 maximum": _NOT_HELPED,
    "prompt is too long: 1 tokens > 30000 maximum": _NOT_HELPED,
    "prompt is too long: " + "9" * 5_000 + " tokens > " + "8" * 4_500 + " maximum": _NOT_HELPED,
    "prompt is too long: -5 tokens > -7 maximum": _NOT_HELPED,
    "request (5000 tokens) exceeds the available context size (0 tokens)": _NOT_HELPED,
    "This model's maximum context length is 0 tokens": _NOT_HELPED,
    "context length exceeded": _NOT_HELPED,
}
"""A session of one prompt cannot be made shorter, so the user is told; the next prompt is answered."""
