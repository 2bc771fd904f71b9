"""Reading and writing Ullage's own wire types: camelCase keys, None left out, nothing guessed.

LSP's types are read and written as `lsprotocol` does it. It takes a number for a text where one is wanted; our own types do
not, so that a wrong message is answered with what is wrong in it.
"""

from __future__ import annotations

from typing import Any, cast, get_origin

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.strategies import configure_tagged_union
from pygls.protocol import default_converter

from ullage.lsp import items, protocol

_OUR_MODULES = (protocol.__name__, items.__name__)


def make_converter() -> Converter:
    """A converter for LSP's types and ours: what pygls asks for."""
    ours = _make_converter_for_ours()
    both = default_converter()
    both.register_structure_hook_func(_is_ours, ours.structure)
    both.register_unstructure_hook_func(_is_ours, ours.unstructure)
    return both


def camel_case(name: str) -> str:
    """The key of a field on the wire."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _is_ours(kind: Any) -> bool:
    return getattr(get_origin(kind) or kind, "__module__", None) in _OUR_MODULES


def _make_converter_for_ours() -> Converter:
    converter = Converter()
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exactly(kind))
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(int | str, _message_id)

    def structure_hook(kind: Any) -> Any:
        return make_dict_structure_fn(kind, converter, **_keys(kind))

    def unstructure_hook(kind: Any) -> Any:
        return make_dict_unstructure_fn(kind, converter, _cattrs_omit_if_default=True, **_keys(kind))

    converter.register_structure_hook_factory(attrs.has, structure_hook)
    converter.register_unstructure_hook_factory(attrs.has, unstructure_hook)
    for union, kinds in (
        (protocol.AttachmentRef, protocol.ATTACHMENT_KINDS),
        (items.Item, items.ITEM_KINDS),
        (protocol.Update, protocol.UPDATE_KINDS),
    ):
        configure_tagged_union(union, converter, tag_name="kind", tag_generator=kinds.__getitem__)
    return converter


def _keys(kind: Any) -> Any:
    return {field.name: override(rename=camel_case(field.name)) for field in attrs.fields(get_origin(kind) or kind)}


def _exactly(kind: type[Any]) -> Any:
    def structure(value: object, _: object) -> object:
        if type(value) is not kind:
            raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
        return value

    return structure


def _number(value: object, _: object) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"expected a number, found {type(value).__name__}")
    return float(cast("float", value))


def _message_id(value: object, _: object) -> int | str:
    if type(value) not in (int, str):
        raise TypeError(f"expected an id, found {type(value).__name__}")
    return cast("int | str", value)
