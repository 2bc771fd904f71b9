"""The wire types as a JSON Schema (draft 2020-12), for authors of other clients: `docs/protocol.schema.json` is written from here.

`python -m ullage.lsp.json_schema` writes it to stdout. What it takes is what `messages.py` takes.
"""

from __future__ import annotations

import json
import sys
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs

from ullage.lsp import messages
from ullage.lsp.messages import TAGGED_UNIONS, camel_case
from ullage.lsp.protocol import PROTOCOL_VERSION, REQUEST_FAILED
from ullage.lsp.protocol.items import AtMost
from ullage.session.errors import Reason

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NAMES_OF_UNIONS = ("AttachmentRef", "Item", "Update", "SentPart", "ReplyPart")
"""The names of the unions in `TAGGED_UNIONS`, in their order."""

_SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number", "minimum": 0},
}


def protocol_schema() -> Schema:
    """The schema of every shape, by its name in `$defs`; `methods` says which method has which.

    A value is checked against one of them: `{"$ref": "#/$defs/PromptParams"}`.
    """
    shapes = _Shapes()
    methods = {
        method: {"from": sender, "params": shapes.of(params), **({} if result is None else {"result": shapes.of(result)})}
        for sender, method, params, result in _methods()
    }
    return {
        "$schema": DIALECT,
        "title": "Ullage's own methods beside the Language Server Protocol",
        "$comment": "Generated from server/ullage/lsp by `npm run generate`; PROTOCOL.md says what it means.",
        "protocolVersion": PROTOCOL_VERSION,
        "methods": methods,
        "$defs": dict(sorted({**shapes.found, "Refusal": _refusal()}.items())),
    }


def _methods() -> list[tuple[str, str, Any, Any]]:
    asked = [("client", method, *types) for method, types in messages.REQUESTS_OF_CLIENT.items()]
    asked += [("server", method, *types) for method, types in messages.REQUESTS_OF_SERVER.items()]
    asked += [("client", method, params, None) for method, params in messages.NOTIFICATIONS_OF_CLIENT.items()]
    return [*asked, *(("server", method, params, None) for method, params in messages.NOTIFICATIONS_OF_SERVER.items())]


def _refusal() -> Schema:
    reason = {"type": "object", "properties": {"reason": {"enum": list(get_args(Reason))}}, "required": ["reason"]}
    refused = {"properties": {"code": {"const": REQUEST_FAILED}}}
    return {
        "description": "The error of a request; with `data` where a session refused it.",
        "type": "object",
        "properties": {"code": {"type": "integer"}, "message": {"type": "string", "minLength": 1}, "data": reason},
        "required": ["code", "message"],
        "if": refused,
        "then": {"required": ["data"]},
    }


class _Shapes:
    """Collects the schemas of classes by name, as they are found on the way from the methods."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}
        self._kinds: dict[str, Any] = {}
        self._tags = {kind: tag for _, kinds in TAGGED_UNIONS for kind, tag in kinds.items()}

    def of(self, kind: Any) -> Schema:
        """The schema of a type; for a class a reference to its schema in `found`."""
        for name, (union, kinds) in zip(_NAMES_OF_UNIONS, TAGGED_UNIONS, strict=True):
            if kind == union:
                return self._named(name, union, lambda kinds=kinds: {"oneOf": [self.of(each) for each in kinds]})
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin is Annotated:
            limits = [each.characters for each in arguments[1:] if isinstance(each, AtMost)]
            return {**self.of(arguments[0]), "maxLength": min(limits)}
        if origin is list:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin in (Union, UnionType):
            return {"anyOf": [{"type": "null"} if each is NoneType else self.of(each) for each in arguments]}
        return self._named(kind.__name__, kind, lambda: self._object(kind))

    def _named(self, name: str, kind: Any, make: Any) -> Schema:
        if self._kinds.setdefault(name, kind) != kind:
            raise ValueError(f"two shapes are called {name}")
        if name not in self.found:
            self.found[name] = {}  # a shape may hold another of its kind
            self.found[name] = make()
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, kind: Any) -> Schema:
        attrs.resolve_types(kind)
        fields = attrs.fields(kind)
        tag = self._tags.get(kind)
        told_apart: Schema = {} if tag is None else {"kind": {"const": tag}}
        required = [camel_case(field.name) for field in fields if field.default is attrs.NOTHING]
        return {
            "description": " ".join((kind.__doc__ or "").split()),
            "type": "object",
            "properties": {**told_apart, **{camel_case(field.name): self.of(field.type) for field in fields}},
            **({"required": [*told_apart, *required]} if told_apart or required else {}),
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(protocol_schema(), indent=2, ensure_ascii=False) + "\n")
