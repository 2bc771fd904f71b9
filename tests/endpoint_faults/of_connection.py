"""What is no HTTP, breaks off, stands still, or is packed."""

from __future__ import annotations

import gzip
import zlib

from tests.endpoint_faults.endpoint import After, Raw
from tests.endpoint_faults.fault import WELL, Fault, answer, bomb, good
from tests.unit.models.scripted_server import sse, started, text

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
GOOD = sse(*good()).encode()
NOT_REACHED = ("cannot be reached", "sent nonsense", "broke in the middle", "not as the Messages API", "ended before the reply was whole")


def of_connection() -> list[Fault]:
    """All of them."""
    faults = [Fault(name, Raw(wire), NOT_REACHED) for name, wire in NO_HTTP.items()]
    faults += [
        Fault("closed at once", Raw(b""), ("cannot be reached",)),
        Fault("reset at once", Raw(b"", "reset"), ("cannot be reached",)),
    ]
    faults += [Fault(name, Raw(wire), told) for name, (wire, told) in ODD_HTTP.items()]
    faults += _broken_off()
    faults += _standing_still()
    faults += _packed()
    return faults


NO_HTTP = {
    "a greeting of SSH": b"SSH-2.0-OpenSSH_9.6\r\n",
    "an alert of TLS": b"\x15\x03\x01\x00\x02\x02\x46",
    "noise": bytes(range(256)) * 20,
    "zeros": b"\x00" * 5_000,
    "HTTP/0.9": b"<html>hello</html>",
    "another protocol": b"ICY 200 OK\r\n\r\n",
    "HTTP/2 by itself": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a status of letters": b"HTTP/1.1 OK\r\n\r\n",
    "a status of four digits": b"HTTP/1.1 2000 OK\r\n\r\n",
    "half a head": b"HTTP/1.1 200 OK\r\ncontent-ty",
    "a head of 300 KB": b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000 + b"\r\n\r\n" + GOOD,
    "a header without a colon": b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n" + GOOD,
    "a zero byte in a header": b"HTTP/1.1 200 OK\r\nx: a\x00b\r\n\r\n" + GOOD,
    "a length of letters": HEAD + b"content-length: many\r\n\r\n" + GOOD,
    "a negative length": HEAD + b"content-length: -5\r\n\r\n" + GOOD,
    "two lengths": HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\n" + GOOD,
    "a length that never comes": HEAD + b"content-length: 999999\r\n\r\n" + sse(started()).encode(),
    "a length of 0": HEAD + b"content-length: 0\r\n\r\n",
    "pieces without a size": HEAD + b"transfer-encoding: chunked\r\n\r\nnonsense\r\n",
    "a piece that never comes": HEAD + b"transfer-encoding: chunked\r\n\r\nffffff\r\nevent: mess",
    "a piece of endless size": HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"f" * 200 + b"\r\nx",
    "an unknown transfer": HEAD + b"transfer-encoding: nonsense\r\n\r\n" + GOOD,
    "5,000 interim answers": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 5_000,
    "a switch of protocols": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n\x81\x05hello",
}

ODD_HTTP = {
    "100 before the answer": (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"connection: close\r\n\r\n" + GOOD, WELL),
    "10,000 headers": (HEAD + b"x: y\r\n" * 10_000 + b"connection: close\r\n\r\n" + GOOD, WELL),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + GOOD, WELL),
    "no content type": (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + GOOD, WELL),
    "a content type in capitals": (
        b"HTTP/1.1 200 OK\r\nContent-Type: TEXT/EVENT-STREAM; Charset=x\r\nconnection: close\r\n\r\n" + GOOD,
        WELL,
    ),
    "no codec by that name": (HEAD.replace(b"stream", b"stream; charset=rot13") + b"connection: close\r\n\r\n" + GOOD, WELL),
    "a web page": (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=rot13\r\nconnection: close\r\n\r\n<h1>Log in</h1>",
        ("not as the Messages API",),
    ),
    "an image": (b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\nconnection: close\r\n\r\n\x89PNG", ("not as the Messages API",)),
    "no phrase": (b"HTTP/1.1 500\r\nconnection: close\r\n\r\n", ("failing",)),
    "a phrase of 50 KB": (b"HTTP/1.1 500 " + b"very bad " * 5_000 + b"\r\nconnection: close\r\n\r\n", ("failing",)),
    "cookies": (HEAD + b"set-cookie: a=b; domain=.com\r\nset-cookie: \xff\r\nconnection: close\r\n\r\n" + GOOD, WELL),
}


def _broken_off() -> list[Fault]:
    """A good stream that ends early. Once it is whole nobody waits for the rest."""
    faults: list[Fault] = []
    whole = GOOD.index(b"event: message_stop")  # the event before tells why the model stopped
    cuts = sorted({*range(0, len(GOOD), max(1, len(GOOD) // 16)), whole, len(GOOD) - 1})
    ways: tuple[After, ...] = ("close", "reset")
    for at in cuts:
        for how in ways:
            told = WELL if at >= whole else ("ended before", "broke in the middle", "sent nonsense", "cannot be reached")
            faults.append(Fault(f"{how} after {at} bytes", Raw(HEAD + b"connection: close\r\n\r\n" + GOOD[:at], how), told))
    return faults


def _standing_still() -> list[Fault]:
    begun = sse(started(input_tokens=10)).encode()
    said = sse(started(input_tokens=10), *text(0, "Hel")).encode()
    places = {
        "before an answer": b"",
        "in the head": b"HTTP/1.1 200 OK\r\ncont",
        "before the stream": HEAD + b"\r\n",
        "after the beginning": HEAD + b"\r\n" + begun,
        "in the text": HEAD + b"\r\n" + said,
        "in an event": HEAD + b"\r\n" + said + b'event: content_block_delta\ndata: {"ty',
        "in an error": b"HTTP/1.1 500 Oops\r\ncontent-type: application/json\r\n\r\n{",
        "in a message": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{",
    }
    told = ("sent nothing for", "did not answer in time", "sent only pings", "cannot be reached")
    faults = [Fault(f"silence {place}", Raw(wire, "hold"), told, impatient=True) for place, wire in places.items()]
    faults.append(Fault("pings for ever at the beginning", Raw(HEAD + b"\r\n", "pings"), told, impatient=True))
    faults.append(Fault("pings for ever in the text", Raw(HEAD + b"\r\n" + said, "pings"), told, impatient=True))
    faults.append(Fault("silence after the end", Raw(HEAD + b"\r\n" + GOOD, "hold")))
    faults.append(Fault("pings after the end", Raw(HEAD + b"\r\n" + GOOD, "pings")))
    return faults


def _packed() -> list[Fault]:
    def packed(body: bytes, how: str) -> bytes:
        return HEAD + f"content-encoding: {how}\r\nconnection: close\r\n\r\n".encode() + body

    return [
        Fault("packed with gzip", Raw(packed(gzip.compress(GOOD), "gzip"))),
        Fault("packed with deflate", Raw(packed(zlib.compress(GOOD), "deflate"))),
        Fault("not packed, and said", Raw(packed(GOOD, "identity"))),
        Fault("no gzip", Raw(packed(GOOD, "gzip")), ("sent nonsense: bytes that are no gzip",)),
        Fault("half a gzip", Raw(packed(gzip.compress(GOOD)[:-40], "gzip")), ("ended before",)),
        Fault("packed with br", Raw(packed(GOOD, "br")), ("sent nonsense: a reply packed as 'br'",)),
        Fault("packed with zstd", Raw(packed(GOOD, "zstd")), ("sent nonsense: a reply packed",)),
        Fault("packed twice", Raw(packed(GOOD, "gzip, gzip")), ("sent nonsense: a reply packed",)),
        Fault("packed with nonsense", Raw(packed(GOOD, "x" * 3_000)), ("sent nonsense: a reply packed",)),
        Fault("a gzip bomb", Raw(packed(bomb(b"x", 60, b"data: "), "gzip")), ("sent nonsense: a single line of more than 16 MB",)),
        Fault(
            "a gzip bomb of empty lines",
            Raw(packed(bomb(b"\n", 140), "gzip")),
            ("sent nonsense: more than 1,000,000 lines",),
            times=2,
        ),
        Fault(
            "a gzip bomb of JSON",
            answer(bomb(b" ", 140), "200 OK", "application/json", "content-encoding: gzip"),
            ("sent nonsense: a reply of more than",),
            times=2,
        ),
    ]
