"""Nothing that goes beyond a command that is always allowed is covered by it, whatever is added and wherever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tools.allowed import covers, rules_for
from tests.unit.tools.command_lines.sites import parts
from ullage.tools.command_lines.judge import RULES, Site
from ullage.tools.permission import EXACTLY, command_need


@pytest.mark.parametrize("name", sorted(RULES))
def test_no_command_leaves_the_workspace(caged: Site, name: str) -> None:
    rule = RULES[name]
    if rule.operands in ("text", "anything"):
        return
    first = [] if rule.first is None else [{"date": "+1", "jq": ".", "sed": "1p"}.get(name, "x")]
    for place in ("/etc/passwd", "../x", "a/../../x", "~", "~/x", "a=/etc/x", "@x"):
        assert parts(" ".join([name, *first, place]), caged)[0].startswith(EXACTLY)


@pytest.mark.parametrize("name", sorted(RULES))
def test_no_command_takes_an_option_that_is_not_listed(caged: Site, name: str) -> None:
    if RULES[name].operands == "anything":
        return
    for option in ("--nobody-knows", "--nobody-knows=a", "-Ω", "-exec a", "--exec", "--output=a", "--config=a", "--eval=a"):
        assert parts(f"{name} {option}", caged)[0].startswith(EXACTLY)


GRANTED = [
    "pytest -q",
    "ls -la",
    "git status",
    "git diff -- src",
    "npm test",
    "npm run build",
    "cd src && pytest",
    "echo 'a b'",
    "rm -r build",
]

granted = st.sampled_from(GRANTED)
words = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
unknown = words.filter(lambda word: word not in {name.split()[0] for name in RULES})


def covered(site: Site, command: str, by: str) -> bool:
    return covers(rules_for(command_need(by, site)), command_need(command, site), site)


@given(granted, unknown, st.sampled_from([";", "&&", "||", "|", "&", "|&", "\n", ";\n", " ; ", " && "]), st.booleans())
def test_a_second_program_is_not_covered(caged: Site, command: str, other: str, between: str, first: bool) -> None:
    assert covered(caged, command, by=command)
    line = f"{other}{between}{command}" if first else f"{command}{between}{other}"
    assert not covered(caged, line, by=command)
    assert covered(caged, line, by=line)


@given(granted, words, st.sampled_from([">", ">>", "<", "<<", "<<<", "2>", "&>", ">|", "<>", "1>", "0<", ">&"]), st.sampled_from(["", " "]))
def test_a_redirection_is_not_covered(caged: Site, command: str, file: str, how: str, blank: str) -> None:
    assert not covered(caged, f"{command} {how}{blank}f{file}", by=command)
    assert not covered(caged, f"{how}{blank}f{file} {command}", by=command)


@given(granted, words, st.sampled_from(["$({})", "`{}`", '"$({})"', '"`{}`"', "<({})", ">({})", "${{{}}}", "$(({}))", "$'{}'"]), st.data())
def test_a_substitution_is_not_covered(caged: Site, command: str, inner: str, how: str, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([index for index, character in enumerate(f"{command} ") if character == " "]))
    line = f"{command[:place]} {how.format(inner)}{command[place:]}"
    outside_of_quotes = "'" not in command[:place] or command[:place].count("'") % 2 == 0
    assert not covered(caged, line, by=command) or not outside_of_quotes


@given(st.text(), st.text())
def test_an_exact_line_covers_itself_alone(caged: Site, one: str, another: str) -> None:
    patterns = parts(one, caged)
    if patterns == (f"{EXACTLY}{one}",) and one != another:
        assert not covered(caged, another, by=one)
