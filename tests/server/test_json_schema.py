"""docs/protocol.schema.json is what the server takes and sends, and the fixtures are examples of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pygls.exceptions import JsonRpcException

from tests.patience import PATIENCE
from tests.server.client import UllageClient
from ullage.lsp import messages, protocol
from ullage.lsp.json_schema import protocol_schema
from ullage.lsp.messages import make_converter
from ullage.lsp.protocol.items import LONGEST_ID
from ullage.lsp.server import UllageServer

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/protocol.schema.json").read_text("utf-8"))
FIXTURES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "tests/protocol/fixtures").glob("*.json"))}
REQUESTS = {each["method"]: each for each in FIXTURES.values() if each["type"] == "request"}
CONVERTER = make_converter()
OPEN_SESSION = "6f1c2ab49d3e8b70"
"""The session of the fixtures: in the tests below a real one stands for it."""


@cache
def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}"})


def name_of(shape: dict[str, str]) -> str:
    return shape["$ref"].removeprefix("#/$defs/")


def check_valid(name: str, value: object) -> None:
    assert [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)] == []


def test_the_schema_in_the_repository_is_up_to_date() -> None:
    assert protocol_schema() == SCHEMA, "run `npm run generate`"


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", FIXTURES)
def test_every_fixture_is_valid(name: str) -> None:
    fixture = FIXTURES[name]
    for variant in ("complete", "minimal"):
        example = fixture[variant]
        if "method" in fixture:
            shapes = SCHEMA["methods"][fixture["method"]]
            for part in {"params", "result"} & set(example):
                check_valid(name_of(shapes[part]), example[part])
        else:
            check_valid("Refusal" if fixture["type"] == "error" else fixture["type"], example)


# What is refused


@pytest.mark.parametrize("method", REQUESTS)
def test_every_request_has_a_refused_example(method: str) -> None:
    check_valid("Refusal", REQUESTS[method]["refused"]["error"])


async def test_the_server_refuses_the_examples_in_these_very_words(client: UllageClient) -> None:
    opened = (await client.open()).session_id
    before = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened))
    for method in messages.REQUESTS_OF_CLIENT:
        refused = REQUESTS[method]["refused"]
        params = json.loads(json.dumps(refused["params"]).replace(OPEN_SESSION, opened))
        answer = client.protocol.send_request_async(method, params)
        with pytest.raises(JsonRpcException) as raised:
            await asyncio.wait_for(answer, PATIENCE)
        error = raised.value
        said = {"code": error.code, "message": error.message, **({} if error.data is None else {"data": error.data})}
        assert json.loads(json.dumps(said).replace(opened, OPEN_SESSION)) == refused["error"], method
    assert await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened)) == before


# What is taken: no more and no less than the schema says

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.just("x" * (LONGEST_ID + 1)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "uri", "data", "x"]), inner, max_size=3),
    max_leaves=5,
)

Place = tuple[str | int, ...]


def places(value: object, place: Place = ()) -> Iterator[Place]:
    """Of the params as a whole and of everything in them."""
    yield place
    match value:
        case dict():
            for key, each in cast("dict[str, object]", value).items():
                yield from places(each, (*place, key))
        case list():
            for index, each in enumerate(cast("list[object]", value)):
                yield from places(each, (*place, index))
        case _:
            pass


def replaced(value: Any, place: Place, by: object) -> Any:
    if not place:
        return by
    copy = deepcopy(value)
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = by
    return copy


PLACES = [(method, place) for method in messages.REQUESTS_OF_CLIENT for place in places(REQUESTS[method]["complete"]["params"])]


def message(method: str, params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def is_taken(method: str, params: object) -> bool:
    try:
        CONVERTER.structure(message(method, params), messages.MESSAGES[method])
    except Exception:  # noqa: BLE001 - whatever it is refused with
        return False
    return True


def is_whole_float(value: object) -> bool:
    """5.0 is an integer to a schema; no client writes one so, and it is refused."""
    match value:
        case float():
            return value.is_integer()
        case list():
            return any(map(is_whole_float, cast("list[object]", value)))
        case dict():
            return any(map(is_whole_float, cast("dict[str, object]", value).values()))
        case _:
            return False


@given(st.sampled_from(PLACES), ANYTHING)
def test_the_server_takes_what_the_schema_takes(where: tuple[str, Place], value: object) -> None:
    method, place = where
    assume(not is_whole_float(value))
    params = replaced(REQUESTS[method]["complete"]["params"], place, value)
    assert is_taken(method, params) == validator(name_of(SCHEMA["methods"][method]["params"])).is_valid(params), params


class Refusing:
    """A server in this process that answers what cannot be read, and notes what would have been done."""

    def __init__(self) -> None:
        self.server = UllageServer(None)
        self.done: list[str] = []
        self.sent: list[dict[str, Any]] = []
        for method in messages.REQUESTS_OF_CLIENT:
            self.server.feature(method)(self._do(method))
        self.server.protocol.set_writer(self)
        self.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        pass

    def ask(self, method: str, params: object) -> dict[str, Any]:
        self.server.protocol.handle_message(message(method, params))
        return self.sent[-1]

    def _do(self, method: str) -> Callable[[Any], None]:
        def do(_: Any) -> None:
            self.done.append(method)

        return do


async def test_what_does_not_fit_is_answered_with_its_name_and_does_nothing() -> None:
    refusing = Refusing()

    @given(st.sampled_from(PLACES), ANYTHING)
    def check(where: tuple[str, Place], value: object) -> None:
        method, place = where
        params = replaced(REQUESTS[method]["complete"]["params"], place, value)
        assume(params is not None)  # params that are left out are {}
        assume(not is_taken(method, params))
        error = refusing.ask(method, params)["error"]
        field = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place if key != "kind")
        assert error["code"] == -32602
        assert f"params{field}" in error["message"]
        assert refusing.done == []

    check()
