"""The sentences that the extension knows to say in other languages are those of the server's code, word for word."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import ullage

ROOT = Path(__file__).parents[2]
KNOWN = ROOT / "client-extension" / "src" / "server" / "serverSentences.ts"


def test_every_known_sentence_stands_in_the_code() -> None:
    sentences = [json.loads(literal) for literal in re.findall(r"known\(\s*(\"(?:[^\"\\]|\\.)*\"),?\s*\)", KNOWN.read_text("utf-8"))]
    assert len(sentences) > 100
    said = _said_in(Path(ullage.__file__).parent)
    assert [sentence for sentence in sentences if _without_names(sentence) not in said] == []


@pytest.mark.parametrize(
    ("source", "form"), [('f"Read {path}"', "Read {}"), ('"a" "b {}"', "ab {}"), ('f"{one}{two!r} of {n:,}"', "{}{} of {}")]
)
def test_the_form_of_a_sentence(source: str, form: str) -> None:
    assert form in _forms(source)


def _said_in(package: Path) -> set[str]:
    return {form for path in package.rglob("*.py") for form in _forms(path.read_text("utf-8"))}


def _forms(source: str) -> set[str]:
    forms = (_form(node) for node in ast.walk(ast.parse(source)))
    return {_without_names(form) for form in forms if form is not None}


def _form(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def _without_names(sentence: str) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", sentence)
