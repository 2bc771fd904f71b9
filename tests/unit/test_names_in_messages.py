"""Messages name settings and commands as VS Code shows them, so that the user finds them there."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.trees import below
from ullage.session.reading_settings import name_on_the_page

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "client-extension"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
TEXTS: dict[str, str] = json.loads((EXTENSION / "package.nls.json").read_text(encoding="utf-8"))
CONTRIBUTED = MANIFEST["contributes"]
SETTINGS: set[str] = {name for group in CONTRIBUTED["configuration"] for name in group["properties"]}
COMMANDS = {f"{each.get('category', '')}: {TEXTS[each['title'].strip('%')]}" for each in CONTRIBUTED["commands"]}

BY_ID = re.compile("|".join(re.escape(name) + r"\b" for name in sorted(SETTINGS)))
ON_THE_PAGE = re.compile(r"Ullage › [^\"”`*]+")
A_COMMAND = re.compile(r"(?:\*\*|[\"“])(Ullage: [^\"”*]+)")
AN_IMPORT = re.compile(r"^\s*(?:from|import) ullage\..*", re.MULTILINE)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`' + r"|'((?:[^'\\\n]|\\.)*)'")


def of_python() -> Iterator[tuple[Path, str]]:
    """The texts of the server that are no docstrings, of the files that have a name of Ullage's in something else than an import."""
    for path in sorted((ROOT / "server").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if re.search(r"ullage\.|Ullage", AN_IMPORT.sub("", source)) is None:
            continue
        nodes = list(below(ast.parse(source)))
        told = {node.value for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in told:
                yield path, node.value


def of_typescript() -> Iterator[tuple[Path, str]]:
    """The texts of the extension that have words in them; keys and ids have no space."""
    for folder in ("src", "webview"):
        for path in sorted((EXTENSION / folder).rglob("*.ts")):
            code = re.sub(r"/\*.*?\*/|(?m:^\s*//.*$)", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            yield from ((path, text) for groups in LITERAL.findall(code) if " " in (text := "".join(groups)))


def of_the_manifest() -> Iterator[tuple[Path, str]]:
    yield from ((EXTENSION / "package.nls.json", text) for text in TEXTS.values())
    yield from ((path, path.read_text(encoding="utf-8")) for path in sorted((EXTENSION / "media" / "walkthrough").glob("*.md")))


@cache
def all_texts() -> list[tuple[Path, str]]:
    return [*of_python(), *of_typescript(), *of_the_manifest()]


def test_no_message_names_a_setting_by_its_id() -> None:
    # `#ullage.server.interpreter#` is a link that VS Code itself writes out.
    assert [(path.name, text) for path, text in all_texts() if BY_ID.search(re.sub(r"#[\w.]+#", "", text))] == []


def test_settings_are_named_as_the_settings_page_names_them() -> None:
    there = {name_on_the_page(name) for name in SETTINGS}
    named = {(path.name, found.strip()) for path, text in all_texts() for found in ON_THE_PAGE.findall(text)}
    assert {(path, name) for path, name in named if name not in there} == set()
    assert named


def test_commands_are_named_as_the_palette_names_them() -> None:
    named = {(path.name, found) for path, text in all_texts() for found in A_COMMAND.findall(text)}
    assert {(path, name) for path, name in named if name not in COMMANDS} == set()
    assert named


def test_the_names_of_the_page() -> None:
    # As its `settingKeyToDisplayFormat` makes them.
    assert name_on_the_page("ullage.model.baseUrl") == "Ullage › Model: Base Url"
    assert name_on_the_page("ullage.compaction.cap") == "Ullage › Compaction: Cap"
