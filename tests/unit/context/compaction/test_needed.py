"""What is taken for a fact, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.compaction.needed import Fact, basenames_in, facts_in, identifiers_in, paths_in, quoted, tail_of

PATHS: list[tuple[str, set[str]]] = [
    ("see server/app/main.py:12.", {"app/main.py"}),
    ("/home/me/project/web/index.html", {"web/index.html"}),
    ("main.go, setup.cfg and util.py", {"main.go", "setup.cfg", "util.py"}),
    ("the end of src/main.c.", {"src/main.c"}),
    ("any suffix after a folder: data/model.onnx", {"data/model.onnx"}),
    ("client.send is no file, nor json.load(", set()),
    ("os.py(", set()),
    ("https://example.com and 1.5 or 3/2.5", set()),
    ("server/app and .gitignore", set()),
    ("...", set()),
    ("**main.go** and **src/io.go, src/net.go** are files", {"main.go", "src/io.go", "src/net.go"}),
    ("src/*.go, *_test.go and **/*.py are none", set()),
    ("**/main.py is one wherever it is", {"main.py"}),
]

IDENTIFIERS: list[tuple[str, set[str]]] = [
    ("call readFile(path) now", {"readFile"}),
    ("snake_case, CONSTANT_CASE and PascalCase", {"snake_case", "CONSTANT_CASE", "PascalCase"}),
    ("module.load_all", {"load_all"}),
    ("plain words, Names, ALLCAPS and main", set()),
    ("a_b is short", set()),
    ("_private is one word", set()),
    ("x" * 120 + "_y", set()),
]

HASHES: list[tuple[str, set[str]]] = [
    ("commit 3f2a9c1 and deadbeef", {"3f2a9c1", "deadbeef"}),
    ("a" * 40, {"a" * 40}),
    ("comment 2734887154", {"2734887154"}),
    ("a/6f0ea30b28/b", {"6f0ea30b28"}),
    ("12345 or 3F2A9C1 or 3f2a9c1z", set()),
    ("b" * 65, set()),
]

ERRORS: list[tuple[str, set[str]]] = [
    ("fatal: bad object HEAD and more", {"fatal: bad object HEAD and more"}),
    ("main.c:3:1: error: expected ';' before '}'", {"error: expected ';' before '}"}),
    ("error[E0308]: mismatched types", {"error[E0308]: mismatched types"}),
    ("  ValueError: could not convert  string", {"ValueError: could not convert string"}),
    ("it said `panic: runtime error` there", {"panic: runtime error` there"}),
    ("panic: index out of range", {"panic: index out of range"}),
    ("ERROR: relation does not exist", {"ERROR: relation does not exist"}),
    ("KeyException: there is no such key", {"KeyException: there is no such key"}),
    ("FAIL: test_of_the_tank", {"FAIL: test_of_the_tank"}),
    ('t.Fatalf("error = %v", err)', set()),
    ("no errors at all", set()),
    ("error: short", set()),
]


@pytest.mark.parametrize(("text", "expected"), PATHS)
def test_paths(text: str, expected: set[str]) -> None:
    assert paths_in(text) == expected


@pytest.mark.parametrize(("text", "expected"), IDENTIFIERS)
def test_identifiers(text: str, expected: set[str]) -> None:
    assert identifiers_in(text) == expected


@pytest.mark.parametrize(("text", "expected"), HASHES)
def test_hashes(text: str, expected: set[str]) -> None:
    assert {fact.text for fact in facts_in(text) if fact.kind == "hash"} == expected


@pytest.mark.parametrize(("text", "expected"), ERRORS)
def test_error_lines(text: str, expected: set[str]) -> None:
    assert {fact.text for fact in facts_in(text) if fact.kind == "error"} == expected


def test_a_text_gives_facts_of_all_kinds() -> None:
    assert facts_in("fixed readFile in src/io.py as 3f2a9c1\nerror: it broke again") == {
        Fact("identifier", "readFile"),
        Fact("path", "src/io.py"),
        Fact("hash", "3f2a9c1"),
        Fact("error", "error: it broke again"),
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/b/c.py", "b/c.py"), ("c.py", "c.py"), (r"C:\a\b\c.py", "b/c.py"), ("a//b/c.py/", "b/c.py"), ("", "")],
)
def test_the_tail_of_a_path(path: str, expected: str) -> None:
    assert tail_of(path) == expected


def test_a_quotation_is_the_beginning_on_one_line() -> None:
    assert quoted("  First line\n\tsecond.  ") == "First line second"
    assert len(quoted("word " * 1_000)) <= 60


def test_a_file_is_found_by_its_basename_alone() -> None:
    assert {"model.onnx", "main.py"} <= basenames_in("The model.onnx and `x/main.py`.")


@given(st.lists(st.text(alphabet="aB_/.3f `:(-\n", max_size=40), min_size=1, max_size=6))
def test_facts_of_the_parts_are_facts_of_the_whole(parts: list[str]) -> None:
    whole = facts_in("\n".join(parts))
    assert all(facts_in(part) <= whole for part in parts)
