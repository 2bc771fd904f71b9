"""What a rule that refuses is about: anything that could be what is meant, and it counts before all that allows."""

from __future__ import annotations

import pytest

from tests.unit.tools.allowed import covers
from tests.unit.tools.command_lines.sites import make_site
from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import command_need, edit_need, extras_of, hosts_need, with_extras
from ullage.tools.rules.covering import AskFor, Judging, PermissionRule, check_rule, explanation_of
from ullage.tools.rules.patterns import RuleAction
from ullage.tools.tool import PermissionNeed


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("refusing") / "work"
    folder.mkdir()
    return make_site(folder, caged=True)


def never(action: RuleAction, pattern: str) -> PermissionRule:
    return PermissionRule(action, pattern, "workspace", refuses=True)


def refused(rule: PermissionRule, need: PermissionNeed) -> bool:
    return Judging([rule], "notHarmless", lambda pattern: "").decide(need).refused is rule


@pytest.mark.parametrize(
    ("pattern", "command", "expected"),
    [
        ("git push *", "git push", True),
        ("git push *", "git push origin main --force", True),
        ("git push *", "git push /elsewhere", True),
        ("git push *", "ls && git push", True),
        ("git push *", "cd src && git push", True),
        ("git push *", "cd .. && git push", True),
        ("git push *", "export X=1; git push", True),
        ("git push *", "/usr/bin/git push", True),
        ("git push *", "sudo git push", True),
        ("git push *", "env X=1 timeout 5 git push origin", True),
        ("git push *", "bash -c 'git push'", True),
        ("git push *", "echo x | xargs git push", True),
        ("git push *", "command git push", True),
        ("git push *", "$(git push)", True),
        ("git push *", "git push > out.txt", True),
        ("git push *", "X=1 git push", True),
        ("git push *", "git \\\n push", True),
        ("git push *", "git pus?", True),
        ("git push *", "git pull", False),
        ("git push *", "grep -rn 'git push' src", False),
        ("git push *", "echo git push", False),
        ("git push *", "git log --grep=push", False),
        ("git push", "git push", True),
        ("git push", "git push --force", False),
        ("git * --force *", "git push origin --force", True),
        ("git * --force *", "git push origin", False),
        ("git push *", "git -C x push", True),
        ("git push *", "git -C x push origin main", True),
        ("git push *", "git -Cx push", True),
        ("git push *", "git --git-dir=x/.git push", True),
        ("git push *", "git --git-dir x/.git --work-tree x push", True),
        ("git push *", "git -c push.default=current push", True),
        ("git push *", "git --no-pager -c a=b -C x push -f", True),
        ("git push *", "sudo git -c a=b push", True),
        ("git push *", "bash -c 'git -C x push'", True),
        ("git push *", "git -C push status", False),
        ("git push *", "git -C x commit -m push", False),
        ("git push *", "git --no-pager log push", False),
        ("git push *", "git -c alias.x=push status", False),
        ("git push", "git -C x push", True),
        ("git push", "git -C x push --force", False),
        ("git pu*", "git -C x push", True),
        ("git -C x *", "git -C x push", True),
        ("git -C x *", "git -C y push", False),
        ("npm publish *", "npm --prefix x publish", True),
        ("npm publish *", "npm --silent publish --tag next", True),
        ("npm publish *", "npm --new-option x publish", True),
        ("npm publish *", "npm --prefix publish test", False),
        ("pnpm publish *", "pnpm -C x --filter y publish", True),
        ("yarn npm publish *", "yarn --cwd x npm publish", True),
        ("docker push *", "docker --context live push image", True),
        ("docker push *", "docker -H tcp://x:2375 push image", True),
        ("docker compose up *", "docker --context live compose -f x.yml up -d", True),
        ("docker push *", "docker --context push ps", False),
        ("cargo publish *", "cargo +nightly publish", True),
        ("cargo publish *", "cargo -C x -q publish", True),
        ("kubectl delete *", "kubectl -n live delete pod x", True),
        ("kubectl delete *", "kubectl --context=live delete pod x", True),
        ("kubectl delete *", "kubectl -n delete get pods", False),
        ("terraform apply *", "terraform -chdir=live apply", True),
        ("make deploy *", "make -C live deploy", True),
        ("deployer run *", "deployer --stage live run", True),
        ("deployer run *", "deployer --fast run", True),
        ("rm *", "rm -r src", True),
        ("rm *", "/bin/rm x", True),
        ("rm *", "find . -exec rm {} +", True),
        ("rm *", "rmdir x", False),
        ("npm run deploy:*", "npm run deploy:live", True),
        ("npm run deploy:*", "npm run build", False),
        ("exactly: make all > out", " make all > out ", True),
        ("exactly: make all > out", "make all", False),
    ],
)
def test_commands(site: Site, pattern: str, command: str, expected: bool) -> None:
    rule = never("command", pattern)
    assert check_rule(rule) == ""
    assert refused(rule, command_need(command, site)) is expected


@pytest.mark.parametrize(
    ("pattern", "command", "expected"),
    [
        ("git push *", "git push origin", True),
        ("git push *", "git -C src push", False),
        ("git push *", "git --git-dir=x/.git push", False),
        ("git push *", "git -c push.default=current push", False),
        ("npm publish *", "npm --prefix src publish", False),
        ("kubectl delete *", "kubectl -n live delete pod x", False),
        ("cargo publish *", "cargo +nightly publish", False),
        ("make deploy *", "make -C src deploy", False),
    ],
)
def test_what_allows_is_not_widened_by_options_before_a_subcommand(site: Site, pattern: str, command: str, expected: bool) -> None:
    assert covers([PermissionRule("command", pattern, "workspace")], command_need(command, site), site) is expected


def test_without_a_shell_of_unix_the_words_are_looked_for_anywhere() -> None:
    assert refused(never("command", "git push *"), command_need("git push && dir", None))


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("migrations/**", "migrations/0001.sql", True),
        ("migrations/**", "Migrations/0001.SQL", True),
        ("migrations/**", "src/migrations/0001.sql", False),
        ("**/.env", "app/.env", True),
        ("**/.env", ".env", True),
        (".git/**", ".git/config", True),
    ],
)
def test_edits(pattern: str, path: str, expected: bool) -> None:
    assert refused(never("edit", pattern), edit_need(path)) is expected


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("**/.env", ".env", True),
        ("**/.env", "app/.ENV", True),
        ("**/.env", "/other/root/.env", True),
        ("**/.env", "app/.env.example", False),
        ("**/.env", "app/", False),
        ("secrets/**", "secrets/", True),
        ("secrets/**", "secrets/a/b.txt", True),
        ("secrets", "secrets/a.txt", True),
        ("secrets/*.pem", "secrets/", False),
        ("src/a.py", "a.py", False),
    ],
)
def test_reading(pattern: str, name: str, expected: bool) -> None:
    rule = never("read", pattern)
    assert check_rule(rule) == ""
    assert refused(rule, PermissionNeed("read", "", "", subject=name)) is expected
    if not name.endswith("/"):
        assert refused(rule, edit_need(name)) is expected


def test_a_rule_for_reading_cannot_allow() -> None:
    assert check_rule(PermissionRule("read", "src/**", "workspace"))


def test_connections(site: Site) -> None:
    rule = never("host", "*.example.org")
    assert refused(rule, hosts_need(["a.example.org"]))
    assert refused(rule, with_extras(command_need("make", site), "make", extras_of({"network": ["x.org", "b.example.org"]}, site.folder)))
    assert not refused(rule, hosts_need(["example.org"]))


@pytest.mark.parametrize("ask_for", ["everything", "notHarmless", "outsideSandbox"])
def test_it_counts_before_all_that_allows(site: Site, ask_for: AskFor) -> None:
    for pattern, command in (("git *", "git commit -m x"), ("cat *", "cat README.md"), ("make *", "make all > out")):
        allowing = [PermissionRule("command", pattern, "session"), PermissionRule("command", f"exactly: {command}", "everywhere")]
        assert covers(allowing, command_need(command, site), site, ask_for)
        assert not covers([*allowing, never("command", pattern)], command_need(command, site), site, ask_for)
    writing = [PermissionRule("edit", "**", "everywhere"), never("edit", "src/a.py")]
    assert not covers(writing, edit_need("src/a.py"), site, ask_for)
    assert covers(writing, edit_need("src/b.py"), site, ask_for)


def test_it_allows_nothing(site: Site) -> None:
    assert not covers([never("command", "make *")], command_need("make all", site), site)
    assert not covers([never("command", "make *")], command_need("touch x", site), site)


@pytest.mark.parametrize("pattern", ["harmless: ls", "runs: npm test", "", "* x", "a && b", "git push > x"])
def test_what_cannot_be_one_is_said(pattern: str) -> None:
    assert check_rule(never("command", pattern))


@pytest.mark.parametrize(
    ("action", "pattern", "said"),
    [
        ("command", "git push *", "Refuses `git push` with any words."),
        ("command", "git push", "Refuses `git push` with no other words."),
        ("command", "git * --force *", "Refuses commands that fit `git * --force *` word by word."),
        ("command", "exactly: x > y", "Refuses just this line, as it stands."),
        ("edit", "src/**", "Refuses edits of all files below `src`. Commands can still change them."),
        ("read", "**/.env", "Refuses reading and editing files whose path fits `**/.env`, and commands that name them."),
        ("host", "*.example.org", "Refuses connections to every host below `example.org`."),
        ("host", "example.org", "Refuses connections to `example.org`."),
    ],
)
def test_what_it_refuses_in_words(action: RuleAction, pattern: str, said: str) -> None:
    assert explanation_of(never(action, pattern)).startswith(said)
