"""What a rule refuses to have read does not get to the model, on any of the ways on which texts of files do."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, fill, summaries
from tests.unit.session.harness import OpenEditor, Stage, calls, compactions, stage
from tests.unit.tools.workplace import TAKE_A_PATH, Workplace, needed
from ullage.context.blocks import Json
from ullage.session.attachments import FileRef, PastedRef, ProblemsRef, TextRef
from ullage.session.commit_message import Changed
from ullage.session.compacting.ahead import source_texts
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.tools.rules.covering import PermissionRule
from ullage.workspace.files import Diagnostic

CANARY = "hunter2-canary"

NEVER_ENV = PermissionRule("read", "**/.env", "workspace", refuses=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    (made / "vault").mkdir(parents=True)
    (made / ".env").write_text(f"KEY={CANARY}\n")
    (made / "linked.txt").symlink_to(made / ".env")
    (made / "vault" / "key.py").write_text(f"KEY = '{CANARY}'\n")
    (made / "tank.py").write_text("KEY = 1\n")
    picture = BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    (made / "vault" / "card.png").write_bytes(picture.getvalue())
    return made


class WithSecretProblem(OpenEditor):
    """An editor whose language server quotes what must not be read."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        return [
            Diagnostic(self._path, 1, "error", "x", f"unused {CANARY}"),
            Diagnostic(self._path.parent / "tank.py", 1, "hint", "x", "fine"),
        ]


def refusing(session: Session, *patterns: str) -> None:
    for pattern in patterns:
        session.permits.add(PermissionRule("read", pattern, "workspace", refuses=True))


def told(here: Stage) -> str:
    return json.dumps(here.fake.requests[-1].body["messages"])


def tool(name: str, **input: Json) -> Call:
    return Call(name, input)


@pytest.mark.parametrize(
    "call",
    [
        tool("read_file", path=".env"),
        tool("read_file", path="./vault/../.env"),
        tool("read_file", path="linked.txt"),
        tool("read_file", path="vault/card.png"),
        tool("search", pattern="KEY", path=".env"),
        tool("list_files", path="vault"),
        tool("diagnostics", path=".env"),
        tool("edit_file", path=".env", old_text="KEY", new_text="LOCK"),
        tool("write_file", path="vault/new.txt", content="x"),
        tool("bash", command="cat .env"),
        tool("bash", command="cd vault && cat key.py"),
    ],
)
async def test_a_call_that_names_such_a_file_fails_and_says_by_which_rule(folder: Path, call: Call) -> None:
    async with stage(folder, ask_for="outsideSandbox") as here:
        session = await here.new()
        refusing(session, "**/.env", "vault")
        here.fake.enqueue(call, Say("I cannot."))
        await here.say(session, "Go")
        assert CANARY not in told(here)
        assert "A rule of the user's refuses this call" in told(here)
        assert [shown.failure for shown in calls(session)] == ["refused"]
        assert sum(rule.used for rule in session.permits.rules()) == 1


@pytest.mark.parametrize("name", TAKE_A_PATH)
async def test_no_tool_that_takes_a_path_goes_past_such_a_rule(folder: Path, name: str) -> None:
    (folder / "vault" / ".env").mkdir()  # what takes a folder is refused one
    async with stage(folder, ask_for="outsideSandbox") as here:
        session = await here.new()
        refusing(session, "**/.env")
        input = needed(Workplace().tools[name])
        here.fake.enqueue([tool(name, **{**input, "path": path}) for path in (".env", "vault/.env")], Say("I cannot."))
        await here.say(session, "Go")
        assert CANARY not in told(here)
        assert [shown.failure for shown in calls(session)] == ["refused", "refused"]


async def test_what_finds_files_by_itself_leaves_them_out_and_says_so(folder: Path) -> None:
    async with stage(folder, editor=WithSecretProblem(folder / ".env")) as here:
        session = await here.new()
        refusing(session, "**/.env", "vault/**")
        found = [tool("search", pattern="KEY"), tool("list_files"), tool("diagnostics"), tool("list_files", path="vault")]
        here.fake.enqueue([*found], Say("Seen."))
        await here.say(session, "Look around")
        assert CANARY not in told(here)
        search, listed, problems, inside = (shown.output for shown in calls(session))
        assert "tank.py:1: KEY = 1" in search
        assert "(No file was searched that rules of the user's refuse to have read: `**/.env`, `vault/**`.)" in search
        assert "tank.py" in listed
        assert ".env" not in listed.splitlines()
        assert "rules of the user's refuse reading" in listed
        assert "fine" in problems
        assert "key.py" not in inside
        assert "A rule of the user's" not in inside


async def test_a_search_says_the_same_whatever_is_in_such_files(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        refusing(session, "**/.env", "vault/**")
        here.fake.enqueue([tool("search", pattern=CANARY), tool("search", pattern="nowhere-at-all")], Say("Seen."))
        await here.say(session, "Look around")
        one, other = (shown.output for shown in calls(session))
        assert one == other


async def test_it_cannot_be_attached(folder: Path) -> None:
    async with stage(folder, editor=WithSecretProblem(folder / ".env")) as here:
        session = await here.new()
        refusing(session, "**/.env", "vault/**")
        for path in (folder / ".env", folder / "linked.txt", folder / "vault" / "card.png"):
            with pytest.raises(SessionError, match="refuses to have it read"):
                await session.prompt("Look", [FileRef(path)])
        with pytest.raises(SessionError, match=r"your rule `\*\*/.env` refuses"):
            await session.prompt("Look", [FileRef(folder / ".env", (1, 1))])
        here.fake.enqueue(Say("Seen."))
        diff = f"diff --git a/.env b/.env\n+KEY={CANARY}\ndiff --git a/tank.py b/tank.py\n+KEY = 2\n"
        await session.prompt("Look", [FileRef(folder), ProblemsRef(), TextRef("git changes", diff)])
        await here.idle(session)
        assert CANARY not in told(here)
        assert "key.py" not in told(here)
        assert "KEY = 2" in told(here)


async def test_a_file_is_not_attached_by_a_name_that_is_refused_though_it_leads_elsewhere(folder: Path) -> None:
    (folder / "notes.txt").symlink_to(folder / "tank.py")
    async with stage(folder) as here:
        session = await here.new()
        refusing(session, "notes.txt")
        with pytest.raises(SessionError, match="refuses to have it read"):
            await session.prompt("Look", [FileRef(folder / "tank.py", given=str(folder / "notes.txt"))])
        here.fake.enqueue(Say("Seen."))
        await session.prompt("Look", [FileRef(folder / "tank.py")])
        await here.idle(session)


async def test_its_text_is_not_attached_either_wherever_it_comes_from(folder: Path) -> None:
    env, key, elsewhere = folder / ".env", folder / "vault" / "key.py", folder.parent / "other" / ".env"
    async with stage(folder) as here:
        session = await here.new()
        refusing(session, "**/.env", "vault/**", "*")
        texts = [
            TextRef("what I see", CANARY, FileRef(env, (1, 1))),
            TextRef(str(elsewhere), CANARY, FileRef(elsewhere)),
            *(TextRef(name, CANARY) for name in (".env", "linked.txt", "vault/key.py", env.as_uri(), f"vscode-remote://wsl{key}")),
        ]
        for ref in texts:
            with pytest.raises(SessionError, match="refuses to have it read"):
                await session.prompt("Look", [ref])
        card = folder / "vault" / "card.png"
        for image in (PastedRef(card.read_bytes(), file=FileRef(card)), PastedRef(card.read_bytes(), "vault/card.png")):
            with pytest.raises(SessionError, match="refuses to have it read"):
                await session.prompt("Look", [image])
        assert {rule.pattern: rule.used for rule in session.permits.rules()} == {"**/.env": 5, "vault/**": 4, "*": 0}
        here.fake.enqueue(Say("Seen."))
        others = [TextRef("terminal", "14 passed"), TextRef("https://pumps.example/vault/.env", "a page"), TextRef("\0", "odd")]
        await session.prompt("Look", others)
        await here.idle(session)
        assert CANARY not in told(here)
        assert "14 passed" in told(here)


async def test_a_commit_message_is_written_without_it(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        refusing(session, "project/.env", "vault/**")
        here.fake.enqueue(Say("Change the key"))
        diff = f"diff --git a/work/project/.env b/work/project/.env\n+KEY={CANARY}\ndiff --git a/tank.py b/tank.py\n+KEY = 2\n"
        await session.commit_message(Changed(diff, [folder / "vault" / "key.py"]))
        assert CANARY not in told(here)
        assert "KEY = 2" in told(here)


async def test_rules_files_and_maps_of_the_source_leave_it_out(folder: Path) -> None:
    (folder / "AGENTS.md").write_text(f"Remember {CANARY}\n")
    async with stage(folder) as here:
        first = await here.new()
        refusing(first, "AGENTS.md", "vault/**")
        session = await here.new()
        here.fake.enqueue(Say("Hello."))
        await here.say(session, "Hello")
        assert CANARY not in json.dumps(here.fake.requests[-1].body)
        rules = session.permits.reading()
        assert CANARY not in str(await source_texts(rules.folders, rules))


async def test_a_file_that_was_read_before_the_rule_is_not_read_again(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        here.fake.enqueue([tool("read_file", path=".env"), tool("read_file", path="tank.py")], Say("Seen."))
        await here.say(session, "Look")
        refusing(session, "**/.env")
        (folder / ".env").write_text("KEY=another-canary\n")
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert "tank.py" in [file.path for file in card.restored]
        assert ".env" not in [file.path for file in card.restored]
        here.fake.enqueue(Say("Done."))
        await here.say(session, "Go on")
        assert "another-canary" not in told(here)


async def test_a_rule_that_is_taken_back_no_longer_refuses(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        refusing(session, "**/.env")
        session.permits.forget("workspace", "read", "**/.env")
        here.fake.enqueue(tool("read_file", path=".env"), Say("Seen."))
        await here.say(session, "Look")
        assert CANARY in told(here)


async def test_past_calls_show_what_it_would_have_refused(folder: Path) -> None:
    async with stage(folder, ask_for="outsideSandbox") as here:
        session = await here.new()
        here.fake.enqueue(
            [
                tool("read_file", path="linked.txt"),
                tool("read_file", path=".env"),
                tool("read_file", path="tank.py"),
                tool("bash", command="ls .env"),
            ],
            Say("Seen."),
        )
        await here.say(session, "Look")
        checked = session.past_calls.check(NEVER_ENV)
        assert sorted(match.call.text for match in checked.matches) == [".env", "ls .env"]
        assert all(match.refused for match in checked.matches)
        assert (checked.matched, checked.of) == (3, 4)
        assert [match.call.times for match in checked.matches if match.call.text == ".env"] == [2]
