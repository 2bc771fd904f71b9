"""Whatever the rules are: a line is free only if every command of it is covered by one of them, or harmless by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tools.allowed import covers
from tests.unit.tools.command_lines.nasty import INSIDE, OTHERS, OUTSIDE, READERS
from tests.unit.tools.command_lines.sites import make_site
from ullage.tools.command_lines.judge import Site, Unknown, judge
from ullage.tools.command_lines.parsing import ParsedLine, follow
from ullage.tools.permission import command_need
from ullage.tools.rules.covering import PermissionRule
from ullage.tools.rules.patterns import command_pattern

RULES = [PermissionRule("command", pattern, "workspace") for pattern in ("make *", "npm test", "tee *", "rm src/*", "mytool * end")]
"""`*` never leaves the folder."""

PROGRAMS = {"make", "npm", "tee", "rm", "mytool"}

GOING = ["cd src &&", "cd . &&", "cd clean && make", "cd link &&", "cd .. &&", "cd lib/out; make", "cd {work}/src && npm test"]

programs = st.sampled_from([*READERS, *OTHERS, *GOING, "make", "npm test", "tee", "rm src/a", "mytool"])
words = st.sampled_from([*INSIDE, *OUTSIDE, "end", "-x", "--opt=../outside/secret", "-C/etc", "'a b'", ">out", "<in", "2>&1"])
between = st.sampled_from([" && ", "; ", " | ", " || ", " & ", "\n", " |& ", " ; ; ", "&&"])


def _command(program: str, more: list[str]) -> str:
    return " ".join((program, *more))


def _line(first: str, rest: list[tuple[str, str]]) -> str:
    return first + "".join(joint + command for joint, command in rest)


commands = st.builds(_command, programs, st.lists(words, max_size=3))
lines = st.builds(_line, commands, st.lists(st.tuples(between, commands), max_size=3))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("beyond") / "work"
    folder.mkdir()
    return make_site(folder)


@given(lines)
def test_every_command_of_a_free_line_is_covered_or_harmless(site: Site, line: str) -> None:
    line = line.replace("{outside}", str(site.folder.parent / "outside")).replace("{work}", str(site.folder))
    if not covers(RULES, command_need(line, site), site, "notHarmless"):
        return
    read = follow(line)
    assert isinstance(read, ParsedLine), "a line that is not followed is covered by no pattern"
    for part in read.texts(line):
        alone = judge(part, site)
        harmless = not isinstance(alone, Unknown) and all(each.effect != "runs" for each in alone)
        assert harmless or part.split()[0] in PROGRAMS, part
        if not harmless:
            assert "outside" not in part, part
            assert "/etc" not in part, part
            assert ">" not in part, part
            assert any(covers([rule], command_need(part, site), site) for rule in RULES), part


@given(lines, st.sampled_from(RULES))
def test_a_rule_alone_is_free_for_nothing_that_its_words_do_not_say(site: Site, line: str, rule: PermissionRule) -> None:
    line = line.replace("{outside}", str(site.folder.parent / "outside")).replace("{work}", str(site.folder))
    if covers([rule], command_need(line, site), site):
        read = follow(line)
        assert isinstance(read, ParsedLine)
        program = command_pattern(rule.pattern).words[0]
        goes = read.commands[0][0].text == "cd" and read.joins(line)[0] == "&&"
        assert {words[0].text for words in read.commands[goes:]} == {program}
