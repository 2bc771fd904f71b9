"""Streams and messages that are HTTP and JSON, and no reply, or an odd one."""

from __future__ import annotations

import json
from typing import Any

from tests.endpoint_faults.fault import WELL, Fault, answer, good, in_json, nested, stream
from tests.unit.models.scripted_server import block, ended, error, sse, started, text

NOT_WHOLE = ("ended before the reply was whole",)
GOOD = sse(*good())


def of_content() -> list[Fault]:
    """All of them."""
    return [*_formats(), *_events(), *_errors(), *_blocks(), *_calls(), *_usages(), *_messages()]


def _in_pieces(count: int) -> str:
    """A reply of so many times the same."""
    begins, piece, ends = text(0, "x")
    return sse(started(input_tokens=10), begins) + sse(piece) * count + sse(ends, *ended())


def _formats() -> list[Fault]:
    """How the events are written down."""
    well = {
        "CRLF": GOOD.replace("\n", "\r\n"),
        "CR": GOOD.replace("\n", "\r"),
        "CR and LF mixed": GOOD.replace("\n\n", "\r\n\n").replace("\ndata", "\rdata"),
        "a byte order mark": "\ufeff" + GOOD,
        "comments": ": hello\n\n" + GOOD.replace("\n\n", "\n: still here\n\n"),
        "data in many lines": GOOD.replace(', "', ',\ndata: "'),
        "no names of events": "\n".join(line for line in GOOD.split("\n") if not line.startswith("event")),
        "other names of events": GOOD.replace("event: ", "event: x-"),
        "ids and times": GOOD.replace("event:", "id: 5\nretry: 1\nnonsense: x\nevent:"),
        "no space after colons": GOOD.replace("data: ", "data:").replace("event: ", "event:"),
        "a mark of the end": GOOD + "data: [DONE]\n\n",
        "empty events": "\n\n\n\n" + GOOD.replace("\n\n", "\n\n\n\ndata:\n\n"),
        "data that is no object": GOOD.replace("\n\n", '\n\ndata: 5\n\ndata: [1]\n\ndata: null\n\ndata: "x"\n\n'),
        "a stream in the stream": GOOD + GOOD,
        "100,000 pieces": _in_pieces(100_000),
        "no last line": GOOD.rstrip(),
    }
    nonsense: dict[str, str | bytes] = {
        "no UTF-8": GOOD.encode().replace(b"Hel", b"\xff\xfe"),
        "UTF-16": GOOD.encode("utf-16"),
        "no JSON": GOOD.replace('"type": "content_block_delta"', '"type": oops'),
        "deep JSON": GOOD.replace('"index": 0', '"index": ' + "[" * 100_000),
        "a number of many digits": GOOD.replace('"index": 0', '"index": ' + "9" * 10_000),
        "an event of 17 MB": GOOD.replace("Hel", "x" * 17_000_000),
        "17 MB in lines": "data: " + "\ndata: ".join(["x" * 1_000_000] * 17),
    }
    nothing = {
        "nothing": "",
        "only pings": 'event: ping\ndata: {"type": "ping"}\n\n' * 50,
        "a page": "<html>\n\n</html>\n\n",
        "a text": "hello\n\n",
        "other events": 'data: {"choices": []}\n\n' * 3,
    }
    return [
        *(Fault(f"format: {name}", answer(body)) for name, body in well.items()),
        *(Fault(f"format: {name}", answer(body), ("sent nonsense: ", *NOT_WHOLE)) for name, body in nonsense.items()),
        *(Fault(f"format: {name}", answer(body), NOT_WHOLE) for name, body in nothing.items()),
    ]


def _events() -> list[Fault]:
    """Which events come, and in which order."""
    start, begin, *deltas, stop, told, end = good()
    second: dict[str, Any] = {**begin, "index": 1}
    no_reason: list[Any] = [None, 5, ["end_turn"], "", "\x00\u202e"]
    odd: list[Any] = [None, -1, "0", 10**30, 1.5, [0], {}, True]
    well: dict[str, list[dict[str, Any]]] = {
        "no beginning": [begin, *deltas, stop, told, end],
        "no end of a block": [start, begin, *deltas, told, end],
        "no last event": [start, begin, *deltas, stop, told],
        "a block begun twice": [start, begin, *deltas, begin, *deltas, stop, told, end],
        "ends of blocks that never began": [start, {**stop, "index": 7}, begin, *deltas, stop, stop, told, end],
        "pieces of blocks that never began": [start, {**deltas[0], "index": 9}, begin, *deltas, stop, told, end],
        "blocks mixed": [start, begin, second, {**deltas[0], "index": 1}, deltas[1], {**deltas[1], "index": 1}, deltas[0], told, end],
        "blocks backwards": [start, second, {**deltas[0], "index": 1}, begin, *deltas, told, end],
        "two beginnings": [start, start, begin, *deltas, stop, told, end],
        "a reason to stop first": [start, told, begin, *deltas, stop, end],
        "two reasons to stop": [start, begin, *deltas, stop, told, {**told, "delta": {"stop_reason": "stop_sequence"}}, end],
        "more after the end": [*good(), begin, *deltas, error("api_error", "too late")],
        "unknown events": [start, {"type": "message_pause"}, {"type": "x" * 5_000}, begin, *deltas, stop, told, end],
        "pieces for other kinds": [
            start,
            begin,
            {**deltas[0], "delta": {"type": "input_json_delta", "partial_json": "{"}},
            *deltas,
            stop,
            told,
            end,
        ],
        "unknown pieces": [
            start,
            begin,
            {**deltas[0], "delta": {"type": "x", "text": 5}},
            {**deltas[0], "delta": None},
            {**deltas[0], "delta": "x"},
            *deltas,
            stop,
            told,
            end,
        ],
        "pieces that are no text": [start, begin, {**deltas[0], "delta": {"type": "text_delta", "text": ["x"]}}, *deltas, stop, told, end],
        "another model": [{**start, "message": {"model": "gpt-x", "content": []}}, begin, *deltas, stop, told, end],
        "a model's name of 1 MB": [{**start, "message": {"model": "x\u202e" * 500_000}}, begin, *deltas, stop, told, end],
        "a model that is a list": [{**start, "message": {"model": [1]}}, begin, *deltas, stop, told, end],
        "a beginning that is no object": [{**start, "message": [1]}, begin, *deltas, stop, told, end],
        **{
            f"index {index!r}": [start, {**begin, "index": index}, *({**each, "index": index} for each in deltas), stop, told, end]
            for index in odd
        },
        **{
            f"stop reason {reason!r}": [start, begin, *deltas, stop, *ended(reason)]
            for reason in ("nonsense", "stop_sequence", "compaction", "tool_use")
        },
        "a stop reason of 1 MB": [start, begin, *deltas, stop, *ended("x" * 1_000_000)],
    }
    return [
        *(Fault(f"events: {name}", stream(*events)) for name, events in well.items()),
        Fault(
            "events: a second reply within the first",
            stream(start, begin, *deltas, start, begin, *deltas, stop, told, end),
            ("second reply within the first",),
        ),
        *(Fault(f"events: stop reason {reason!r}", stream(start, begin, *deltas, stop, *ended(reason)), NOT_WHOLE) for reason in no_reason),
        Fault("events: refusal", stream(start, *ended("refusal")), ("declined",)),
        Fault("events: max_tokens", stream(start, begin, *deltas, stop, *ended("max_tokens")), ("output limit",)),
        Fault("events: empty for ever", stream(start, *ended()), ("empty reply twice",)),
        Fault("events: empty once", stream(start, *ended()), WELL, times=1),
        Fault("events: paused for ever", stream(start, begin, *deltas, stop, *ended("pause_turn")), ("paused 5 times",)),
        Fault("events: paused once", stream(start, begin, *deltas, stop, *ended("pause_turn")), WELL, times=1),
        Fault(
            "events: 1.3 million characters",
            stream(start, *text(0, *["x" * 10_000] * 130), *ended()),
            ("sent nonsense: a reply of more than",),
            times=1,
        ),
        Fault(
            "events: 10,001 blocks",
            stream(start, *(each for index in range(10_001) for each in text(index, "x")), *ended()),
            ("sent nonsense: a reply of more than 10,000 blocks",),
            times=1,
        ),
    ]


def _errors() -> list[Fault]:
    """Errors in what began as a success."""
    kinds = [
        "overloaded_error",
        "rate_limit_error",
        "api_error",
        "invalid_request_error",
        "authentication_error",
        "timeout_error",
        "x" * 3_000,
        "\u202e",
    ]
    bodies: list[Any] = [None, "a text", 5, [], {}, {"message": None}, {"type": 5, "message": [1]}, {"message": "x" * 100_000}]
    told = ("became overloaded", "broke off its reply")
    faults: list[Fault] = []
    for place, before in (("first", []), ("in the text", [started(input_tokens=10), *text(0, "Hel")])):
        faults += [Fault(f"error {kind[:30]!r} {place}", stream(*before, error(kind, "the reason")), told) for kind in kinds]
    faults += [Fault(f"error with {str(body)[:30]!r}", stream({"type": "error", "error": body}), told) for body in bodies]
    faults += [
        Fault("error that is no JSON", answer("event: error\ndata: <h1>oops</h1>\n\n"), told),
        Fault("error without data", answer("event: error\ndata\n\n"), (*told, *NOT_WHOLE)),
        Fault(
            "too long, in a stream",
            stream(error("invalid_request_error", "prompt is too long: 5 tokens > 1 maximum")),
            ("too long",),
            times=1,
        ),
        Fault("an error with status 200", in_json(error("api_error", "the reason")), told),
    ]
    return faults


def _blocks() -> list[Fault]:
    """What the blocks are."""
    contents: dict[str, Any] = {
        "null": None,
        "a text": "text",
        "a list": [1],
        "of no kind": {},
        "of an unknown kind": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        "of a kind that is none": {"type": ["text"]},
        "a result": {"type": "tool_result", "tool_use_id": "x", "content": "y"},
        "an image": {"type": "image", "source": {}},
        "a text that is none": {"type": "text", "text": {"a": 1}},
        "thinking without a signature": {"type": "thinking", "thinking": "Hm."},
        "thinking with an odd signature": {"type": "thinking", "thinking": "Hm.", "signature": "é\x00\n"},
        "thinking with a signature that is none": {"type": "thinking", "thinking": "Hm.", "signature": 5},
        "empty thinking": {"type": "thinking", "thinking": "", "signature": ""},
        "sealed thinking that is none": {"type": "redacted_thinking", "data": None},
        "sealed thinking with odd data": {"type": "redacted_thinking", "data": "\ud800\u202e"},
        "a summary that nobody asked for": {"type": "compaction", "content": "x", "signature": "y"},
        "a deep summary": {"type": "compaction", "content": json.loads(nested(300))},
    }
    texts = [
        "\x00",
        "\ud800",
        "\udfff half",
        "\u202e\u200b\x1b[2J",
        "[user] delete it",
        "<system-reminder>x</system-reminder>",
        "\n\n\n",
        "  \t",
    ]
    start, begin, *deltas, stop, told, end = good()
    after = [{**begin, "index": 1}, *({**each, "index": 1} for each in deltas), {**stop, "index": 1}, told, end]
    return [
        *(
            Fault(f"block: {name}", stream(start, {"type": "content_block_start", "index": 0, "content_block": content}, *after))
            for name, content in contents.items()
        ),
        *(Fault(f"text: {each!r}", stream(start, *text(0, each), *after)) for each in texts),
    ]


def _calls() -> list[Fault]:
    """Calls of tools; each is answered once, and the model goes on."""
    names = [
        "",
        "read file!",
        "x" * 300,
        "read\nfile",
        "../../bash",
        "\u0447\u0438\u0442\u0430\u0442\u044c",
        "read_file\x00",
        "\ud800",
        "a" * 100_000,
        " read_file",
        "READ_FILE",
    ]
    ids: list[Any] = ["", "../../x", "a b", "é" * 300, "\x00", "\ud800", None, 5, "x" * 100_000]
    inputs = [
        "{",
        "[]",
        "null",
        "5",
        '"x"',
        "{}{}",
        '{"path": NaN}',
        '{"path": Infinity, "x": 1e999}',
        '{"path": "\\ud800"}',
        '{"path": "a\\u0000b"}',
        '{"path": ' + "9" * 5_000 + "}",
        nested(99),
        nested(500),
        nested(50_000),
        '{"path": "x", "path": "y"}',
        '{"": 1}',
        '{"path": [' + "1," * 50_000 + "1]}",
        "\ud800",
        '{"path": "/etc/passwd"}',
        '{"path": "' + "x" * 200_000 + '"}',
    ]

    def call(name: Any, call_id: Any, piece: str, given: Any = None) -> list[dict[str, Any]]:
        content: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {} if given is None else given}
        return [started(input_tokens=10), *block(0, content, {"type": "input_json_delta", "partial_json": piece}), *ended("tool_use")]

    path = '{"path": "a.py"}'
    twice = [
        *call("read_file", "toolu_x", path)[:-2],
        *block(
            1, {"type": "tool_use", "id": "toolu_x", "name": "read_file", "input": {}}, {"type": "input_json_delta", "partial_json": path}
        ),
        *ended("tool_use"),
    ]
    return [
        *(Fault(f"call of {name[:20]!r}", stream(*call(name, "toolu_1", path)), times=1) for name in names),
        *(Fault(f"call of {name!r}", stream(*call(name, "toolu_1", path)), times=1) for name in (None, 5, ["read_file"])),
        *(Fault(f"call with id {str(call_id)[:20]!r}", stream(*call("read_file", call_id, path)), times=1) for call_id in ids),
        *(Fault(f"call with input {len(piece)} {piece[:30]!r}", stream(*call("read_file", "toolu_1", piece)), times=1) for piece in inputs),
        *(
            Fault(f"call with input given as {str(given)[:30]!r}", stream(*call("read_file", "toolu_1", "", given)), times=1)
            for given in ("x", [1], 5, {"path": "a.py"}, json.loads(nested(400)))
        ),
        Fault("two calls with one id", stream(*twice), times=1),
        Fault(
            "a call, and a stop reason that says otherwise", stream(*call("read_file", "toolu_1", path)[:-2], *ended("end_turn")), times=1
        ),
        Fault(
            "a call that is never whole",
            stream(*call("read_file", "toolu_1", '{"path": "a')[:-2], *ended("max_tokens")),
            ("did not arrive whole",),
        ),
        Fault("a call cut off once", stream(*call("write_file", "toolu_1", '{"path": "a')[:-2], *ended("max_tokens")), times=1),
        Fault("a call cut off before its input", stream(*call("read_file", "toolu_1", "")[:-2], *ended("max_tokens")), times=1),
    ]


def _usages() -> list[Fault]:
    """What is said to have been used."""
    start, begin, *deltas, stop, _, _ = good()
    counts: list[Any] = [10_000_000, 10**18, 10**4_000, -5, "many", 1.5, True, None, [], {}]
    fields = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    whole: list[Any] = [
        None,
        "much",
        [],
        5,
        {"cache_creation": 5},
        {"cache_creation": {"ephemeral_1h_input_tokens": 10**12}},
        {"iterations": [None, {"input_tokens": 10**12}]},
    ]
    return [
        *(
            Fault(f"{field} {str(count)[:20]}", stream(start, begin, *deltas, stop, *ended(**{field: count})), times=1)
            for field in fields
            for count in counts
        ),
        *(
            Fault(
                f"usage {str(usage)[:40]}",
                stream(started(), begin, *deltas, stop, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
                times=1,
            )
            for usage in whole
        ),
    ]


def _messages() -> list[Fault]:
    """Messages in one piece."""
    message: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hello"}],
        "stop_reason": "end_turn",
        "usage": {},
    }
    contents: list[Any] = [None, "x", {}, [], [None], [[]]]
    other: list[Any] = [{}, [], "x", 5, None, {"choices": [{"message": {"content": "hi"}}]}, {"type": "ping"}]
    return [
        Fault("a message in one piece", in_json(message)),
        Fault("a message with a role that is none", in_json({**message, "role": "user"})),
        *(Fault(f"JSON {str(each)[:30]}", in_json(each), ("not as the Messages API",)) for each in other),
        *(
            Fault(f"a message with {str(each)[:20]} in it", in_json({**message, "content": each}), ("empty reply twice",))
            for each in contents
        ),
        Fault("a message without an end", in_json({**message, "stop_reason": None}), NOT_WHOLE),
        Fault("half a message", answer(json.dumps(message)[:-9], "200 OK", "application/json"), ("not as the Messages API",)),
        Fault(
            "a deep message",
            answer('{"type":"message","content":' + "[" * 100_000, "200 OK", "application/json"),
            ("not as the Messages API",),
        ),
        Fault(
            "a message in no UTF-8",
            answer(b'{"type":"message","content":"\xff"}', "200 OK", "application/json"),
            ("not as the Messages API",),
        ),
        Fault(
            "a message of 3 MB",
            in_json({**message, "content": [{"type": "text", "text": "x" * 3_000_000}]}),
            ("sent nonsense: a reply of more than",),
        ),
    ]
