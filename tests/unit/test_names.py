"""One name for one thing, among all that has a name of its own: classes here, and types of the extension."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

import ullage
from tests.trees import parsed, statements

SERVER = Path(ullage.__file__).parent
EXTENSION = SERVER.parent.parent / "client-extension"
WIRE = "lsp/protocol/"


def test_no_two_classes_of_the_server_share_a_name():
    found = ((path.relative_to(SERVER).as_posix(), _classes(path)) for path in SERVER.rglob("*.py"))
    assert _shared(found, WIRE) == {}


def test_no_two_types_of_the_extension_share_a_name():
    sources = [path for folder in ("src", "webview") for path in (EXTENSION / folder).rglob("*.ts")]
    found = ((path.relative_to(EXTENSION).as_posix(), _types(path.read_text("utf-8"))) for path in sources)
    assert _shared(found) == {}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"context/a.py": ["Asked"], "store/b.py": ["Asked"]}, {"Asked": ["context/a.py", "store/b.py"]}),
        ({"context/a.py": ["Gauge"], "lsp/protocol/items.py": ["Gauge"]}, {}),
        (
            {"context/a.py": ["Gauge"], "store/b.py": ["Gauge"], "lsp/protocol/items.py": ["Gauge"]},
            {"Gauge": ["context/a.py", "lsp/protocol/items.py", "store/b.py"]},
        ),
        (
            {"lsp/protocol/a.py": ["Gauge"], "lsp/protocol/items.py": ["Gauge"]},
            {"Gauge": ["lsp/protocol/a.py", "lsp/protocol/items.py"]},
        ),
        ({"context/a.py": ["_Line"], "store/b.py": ["_Line"]}, {}),
    ],
)
def test_a_shared_name_is_found(found: Mapping[str, Sequence[str]], expected: Mapping[str, Sequence[str]]):
    assert _shared(found.items(), WIRE) == expected


def test_types_are_found_in_the_extension():
    assert _types("export interface Gauge {\n}\ntype Row = { a: string };\nclass Sheet {}\n") == ["Gauge", "Row", "Sheet"]


def _shared(found: Iterable[tuple[str, Iterable[str]]], wire: str | None = None) -> dict[str, list[str]]:
    """Names that stand for several things, with the files that have them. A type of the wire is called like the value that it carries. What
    begins with `_` is known to its own file alone."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for file, names in found:
        for name in names:
            if not name.startswith("_"):
                places[name].append(file)
    return {name: sorted(files) for name, files in places.items() if len(files) > 1 and not _is_carried(files, wire)}


def _is_carried(files: Sequence[str], wire: str | None) -> bool:
    return wire is not None and len(files) == 2 and sum(file.startswith(wire) for file in files) == 1


def _classes(path: Path) -> list[str]:
    return [node.name for node in statements(parsed(path)) if isinstance(node, ast.ClassDef)]


def _types(text: str) -> list[str]:
    return re.findall(r"^(?:export )?(?:abstract )?(?:interface|class|type|enum) (\w+)", text, re.MULTILINE)
