"""What a pattern matches, as data; what cannot be one, and why."""

from __future__ import annotations

import pytest

from tests.unit.tools.allowed import covers
from tests.unit.tools.command_lines.sites import make_site
from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import command_need, edit_need, extras_of, with_extras
from ullage.tools.rules.covering import AskFor, Judging, PermissionRule, check_rule
from ullage.tools.rules.patterns import RuleAction, explained, host_matches, warning_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("rules") / "work"
    folder.mkdir()
    for name in ("nested/.git", "nested/deeper", "node_modules/x", ".hidden", "src/deep"):
        (folder / name).mkdir(parents=True)
    (folder / "src" / "deep" / "out").symlink_to(folder.parent)
    return make_site(folder, caged=True)


COMMANDS = [
    ("npm test *", "npm test", True),
    ("npm test *", "npm test -- --watch src/a.py", True),
    ("npm test *", "npm testing", False),
    ("npm test *", "npm run test", False),
    ("npm test", "npm test", True),
    ("npm test", "npm test x", False),
    ("npm run test:*", "npm run test:unit", True),
    ("npm run test:*", "npm run test:unit x", False),
    ("npm run *", "npm run build --if-present", True),
    ("git commit *", "git commit -m 'Add /health, and more'", True),
    ("git commit *", "git commit -m x && git push", False),
    ("git commit *", "git commit -m $(cat x)", False),
    ("git commit *", 'git commit -m "`cat x`"', False),
    ("git commit *", "git commit -F ../outside/secret", False),
    ("git commit *", "git commit -F/etc/passwd", False),
    ("git commit *", "git commit --file=/etc/passwd", False),
    ("git commit **", "git commit --file=/etc/passwd", True),
    ("make *", "make all > out.txt", False),
    ("make *", "make all >> ~/.bashrc", False),
    ("make *", "make all > /dev/null 2>&1", True),
    ("make *", "make all & rm x", False),
    ("make *", "make all\nrm x", False),
    ("make *", "make all; rm x", False),
    ("make *", "make all | tee out", False),
    ("make *", "make all | cat", False),
    ("make *", "cd src && make all", True),
    ("make *", "cd . && make all", True),
    ("make *", "cd {work} && make all", True),
    ("make *", "cd {work}/src && make all", True),
    ("make *", "cd './src' && make all && make x > /dev/null", True),
    ("make *", "cd src && make all; make b | make c", True),
    ("make *", "cd src/deep && make all", True),
    ("make *", "cd inner-link && make all", True),
    ("make *", "cd src; make all", False),
    ("make *", "cd src || make all", False),
    ("make *", "cd src | make all", False),
    ("make *", "cd src", False),
    ("make *", "make all && cd src && make all", False),
    ("make *", "cd src && cd deep && make all", False),
    ("make *", "cd src && make all && cd deep && make all", False),
    ("make *", "cd src && rm x", False),
    ("make *", "cd && make all", False),
    ("make *", "cd - && make all", False),
    ("make *", "cd .. && make all", False),
    ("make *", "cd src/../.. && make all", False),
    ("make *", "cd ../outside && make all", False),
    ("make *", "cd link && make all", False),
    ("make *", "cd /tmp && make all", False),
    ("make *", "cd s* && make all", False),
    ("make *", "cd $X && make all", False),
    ("make *", "cd ~ && make all", False),
    ("make *", "cd -P src && make all", False),
    ("make *", "cd src deep && make all", False),
    ("make *", "cd src && make ../../outside/secret", False),
    ("make *", "cd src && make ../link", False),
    ("make *", "cd src && make deep/out/secret", False),
    ("make *", "cd src && export PATH=. && make all", False),
    ("make *", "cd src && pushd deep && make all", False),
    ("make *", "cd nested && make all", False),
    ("make *", "cd nested/deeper && make all", False),
    ("make *", "cd node_modules/x && make all", False),
    ("make *", "cd .hidden && make all", False),
    ("npm test *", "cd src && npm test -- --watch", True),
    ("npm run build", "cd src && npm run build", True),
    ("pytest -q --tb=*", "cd src && pytest -q --tb=short", True),
    ("rm src/*", "cd src && rm src/a.py", False),
    ("rm a.py", "cd src && rm a.py", False),
    ("rm -r lib", "cd src && rm -r lib", False),
    ("rm missing/*", "cd src && rm missing/x", False),
    ("cp a*", "cd src && cp a.py", False),
    ("./x *", "cd src && ./x y", False),
    ("tool --config=a.py", "cd src && tool --config=a.py", False),
    ("tool -ca.py", "cd src && tool -ca.py", False),
    ("tool @a.py", "cd src && tool @a.py", False),
    ("make *", "X=1 make all", False),
    ("make *", "sudo make all", False),
    ("make *", "./make all", False),
    ("make *", "make file-link", False),
    ("make *", "make link/secret", False),
    ("make *", "make src/a.py", True),
    ("make *", "make src/*", True),
    ("make *", "make -f@/etc/passwd", False),
    ("make *", "make -xf/etc/passwd", False),
    ("make *", "make -Isrc/a", True),
    ("make *", "make -Csrc", True),
    ("make *", "make -C../outside", False),
    ("make *", "make x:/etc/passwd", False),
    ("make *", "make https://example.org/a/../b", True),
    ("make *", "make file:///etc/passwd", False),
    ("make src/*.py", "make src/a.py", True),
    ("make src/*.py", "make lib/a.py", False),
    ("make 'a b' *", "make 'a b' c", True),
    ("make 'a b' *", "make a b c", False),
    ("make * end", "make a b end", True),
    ("make * end", "make end", True),
    ("make * end", "make a b", False),
    ("make '*'", "make '*'", True),
    ("make '*'", "make x", False),
    ("printf *", "printf x", True),
    ("printf *", "printf -v PATH evil && make", False),
    ("exactly: make all > out.txt", "make all > out.txt", True),
    ("exactly: make all > out.txt", "make all > out.txt ", False),
    ("exactly: make *", "make all", False),
]


@pytest.mark.parametrize(("pattern", "command", "expected"), COMMANDS)
def test_a_rule_for_commands(site: Site, pattern: str, command: str, expected: bool) -> None:
    rule = PermissionRule("command", pattern, "workspace")
    command = command.replace("{work}", str(site.folder))
    assert check_rule(rule) == ""
    assert covers([rule], command_need(command, site), site) is expected


@pytest.mark.parametrize(
    ("ask_for", "command", "expected"),
    [
        ("everything", "cat README.md", False),
        ("notHarmless", "cat README.md", True),
        ("notHarmless", "cat README.md && make all", True),
        ("everything", "cat README.md && make all", False),
        ("notHarmless", "cat /etc/passwd && make all", False),
        ("notHarmless", "make all | cat", True),
        ("notHarmless", "cd src && make all", True),
        ("notHarmless", "cd src && ls && make all", True),
        ("everything", "cd src && ls && make all", False),
        ("notHarmless", "cd . && make all", True),
        ("notHarmless", "make all; rm -r src", False),
        ("outsideSandbox", "rm -r src", True),
    ],
)
def test_harmless_parts_beside_what_a_rule_allows(site: Site, ask_for: AskFor, command: str, expected: bool) -> None:
    rule = PermissionRule("command", "make *", "workspace")
    assert covers([rule], command_need(command, site), site, ask_for) is expected


def test_a_rule_that_names_a_file_holds_in_the_workspace_folder_alone(site: Site) -> None:
    need = command_need("cd src && build it", site)
    assert covers([PermissionRule("command", "build *", "workspace")], need, site)
    assert not covers([PermissionRule("command", "build *", "workspace", files="as it was")], need, site)


def test_a_rule_holds_in_no_other_folder_where_that_could_have_a_program_of_its_own(site: Site) -> None:
    loose = Site(site.folder, f"{site.search_path}:.", site.workspaces, caged=True)
    assert not covers([PermissionRule("command", "make *", "workspace")], command_need("cd src && make all", loose), loose)


def test_what_is_said_and_offered_of_a_line_that_goes_to_a_folder_first(site: Site) -> None:
    asked = Judging([], "everything", lambda pattern: "").decide(command_need("cd src && npm test -- -q && rm a.py", site))
    assert [part.standing for part in asked.parts] == ["harmless", "asked", "asked"]
    assert [each.pattern for each in asked.proposals] == ["exactly: cd src && npm test -- -q && rm a.py"], "`rm a.py` is another file there"
    asked = Judging([], "everything", lambda pattern: "").decide(command_need("cd src && npm test -- -q", site))
    assert [each.pattern for each in asked.proposals] == ["npm test *"]
    rule = PermissionRule("command", "npm test *", "workspace")
    free = Judging([rule], "everything", lambda pattern: "").decide(command_need("cd src && npm test -- -q", site))
    assert [part.why for part in free.parts][1:] == ["your rule `npm test *` allows it, also in `src`"]


def test_outside_of_a_sandbox_nothing_is_left_to_it(site: Site) -> None:
    bare = Site(site.folder, site.search_path, site.workspaces, caged=False)
    assert not covers([], command_need("rm -r src", bare), bare, "outsideSandbox")


def test_what_asks_for_more_than_the_sandbox_gives_is_asked_about(site: Site) -> None:
    def need(**more: list[str]):
        extras = extras_of({name: list(value) for name, value in more.items()}, site.folder)
        return with_extras(command_need("make all", site), "make all", extras)

    rules = [PermissionRule("command", "make *", "everywhere"), PermissionRule("host", "*.example.org", "workspace")]
    assert not covers([], need(network=["a.example.org"]), site, "outsideSandbox")
    assert covers(rules, need(network=["a.example.org"]), site)
    assert not covers(rules, need(network=["example.org"]), site)
    assert not covers(rules, need(network=["a.example.org", "b.example.com"]), site)
    assert not covers(rules, need(steering_files=[".envrc"]), site)
    assert not covers(rules, need(steering_files=[".envrc"]), site, "outsideSandbox")


def test_a_rule_that_names_a_file_holds_while_that_stays_the_same(site: Site) -> None:
    from ullage.tools.permission import digest_for_rule

    (site.folder / "s.sh").write_text("echo 1\n")
    rule = PermissionRule("command", "./s.sh *", "workspace", files=digest_for_rule("./s.sh *", site.folder, site.workspaces))
    assert covers([rule], command_need("./s.sh x", site), site)
    (site.folder / "s.sh").write_text("rm -r src\n")
    assert not covers([rule], command_need("./s.sh x", site), site)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/deep/a.py", True),
        ("src/**", "srcs/a.py", False),
        ("src/", "src/deep/a.py", True),
        ("src/*", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**/*.py", "src/a.ts", False),
        ("**/*.md", "README.md", True),
        ("*.md", "docs/a.md", False),
        ("docs/?.md", "docs/a.md", True),
        ("app/[id].tsx", "app/[id].tsx", True),
        ("app/[id].tsx", "app/i.tsx", False),
        ("**", "src/a.py", True),
        ("**", ".git/config", False),
        ("**", "package.json", False),
        ("/second/src/**", "/second/src/a.py", True),
    ],
)
def test_a_rule_for_edits(pattern: str, path: str, expected: bool) -> None:
    assert check_rule(PermissionRule("edit", pattern, "workspace")) == ""
    assert covers([PermissionRule("edit", pattern, "workspace")], edit_need(path)) is expected


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("example.org", "example.org", True),
        ("Example.ORG", "example.org", True),
        ("example.org", "a.example.org", False),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "aexample.org", False),
        ("*.example.org", "a.example.org:8443", False),
        ("*.example.org:8443", "a.example.org:8443", True),
    ],
)
def test_a_rule_for_connections(pattern: str, host: str, expected: bool) -> None:
    assert host_matches(pattern, host) is expected


@pytest.mark.parametrize(
    ("action", "pattern", "why"),
    [
        ("command", "", "Write a command"),
        ("command", "*", "name of a program"),
        ("command", "** test", "name of a program"),
        ("command", "np* test", "name of a program"),
        ("command", "npm test && rm *", "one command"),
        ("command", "npm test;", "one command"),
        ("command", "npm test | tee *", "one command"),
        ("command", "npm test > *", "special meaning"),
        ("command", "npm test > /dev/null", "redirection"),
        ("command", "npm test $HOME", "special meaning"),
        ("command", "npm test `x`", "special meaning"),
        ("command", "X=1 npm test", "sets a variable"),
        ("command", "npm test ?", "no meaning"),
        ("command", "npm te**st", "word of its own"),
        ("command", "npm 'test", "special meaning"),
        ("command", "npm test\u202e", "invisible"),
        ("command", "exactly: ", "behind"),
        ("command", "exactly: ls\u200b", "nobody sees"),
        ("command", "x" * 1_001, "characters"),
        ("edit", "", "Write a file"),
        ("edit", "../x/**", "not followed"),
        ("edit", "./src/**", "not followed"),
        ("edit", "src**", "between slashes"),
        ("edit", "src/{a,b}", "Braces"),
        ("edit", "src\\a", "between folders"),
        ("edit", "a//b", "two slashes"),
        ("host", "", "no host"),
        ("host", "*", "no host"),
        ("host", "*.org", "dot in it"),
        ("host", "*.1.2.3.4", "dot in it"),
        ("host", "a.*.org", "no host"),
        ("host", "https://example.org", "no host"),
    ],
)
def test_a_broken_pattern_is_refused_with_the_reason(action: RuleAction, pattern: str, why: str) -> None:
    assert why in check_rule(PermissionRule(action, pattern, "workspace"))


@pytest.mark.parametrize(
    ("pattern", "warned"),
    [
        ("npm test *", False),
        ("sh *", True),
        ("sh", True),
        ("python3.12 *", True),
        ("python3 build.py", False),
        ("/usr/bin/env *", True),
        ("git *", True),
        ("git commit *", False),
        ("find *", True),
        ("make **", True),
        ("rm *", False),
    ],
)
def test_what_is_wide_is_said(pattern: str, warned: bool) -> None:
    assert bool(warning_of("command", pattern)) is warned
    assert explained("command", pattern).startswith("Runs `")
