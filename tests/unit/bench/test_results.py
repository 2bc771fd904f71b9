"""RESULTS.md: a section is written anew, the others stay."""

from __future__ import annotations

from pathlib import Path

from bench.results import sections, table, write_section


def test_a_section_takes_its_own_place_and_leaves_the_others(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    write_section("policies", "## Policies\n\n| a |", file)
    write_section("peers", "## Peers, first", file)
    write_section("peers", "## Peers, second\n", file)
    text = file.read_text()
    assert sections(text) == {"peers": "## Peers, second", "policies": "## Policies\n\n| a |"}
    assert text.startswith("# Results\n")
    assert text.index("Peers") < text.index("Policies")
    assert "first" not in text


def test_the_same_sections_again_change_nothing(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    write_section("peers", "## Peers", file)
    before = file.read_text()
    write_section("peers", "## Peers", file)
    assert file.read_text() == before


def test_a_table_has_its_first_column_left_and_the_others_right() -> None:
    assert table(["", "x"], [["a", "1"]]) == "|  | x |\n| --- | ---: |\n| a | 1 |"
