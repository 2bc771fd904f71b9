"""The Agent Client Protocol over stdio, held against the package's own client and the strict fake of the API."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, embedded_text_resource, image_block, resource_block, resource_link_block, schema, text_block

from tests.fake_api import Call, FakeApi, HoldsAfter, Reply, Say, Think
from tests.patience import PATIENCE
from tests.server import forked
from tests.server.acp_client import KEY, AcpEditor, acp_editor, acp_lines
from tests.server.client import environment
from tests.unit.context.pictures import png
from ullage.store.folder import VARIABLE
from ullage.store.user_state import KeptRule, UserState


async def begun(editor: AcpEditor, folder: Path, **capabilities: Any) -> str:
    """A session of an editor that has just started."""
    await editor.initialize(**capabilities)
    return (await editor.new_session(folder)).session_id


async def refused(work: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        async with asyncio.timeout(PATIENCE):
            await work
    return caught.value


async def test_a_prompt_is_answered_in_pieces_and_ends(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        told = await editor.initialize()
        assert told.protocol_version == 1
        session = await editor.new_session(folder)
        fake.enqueue(Reply((Think("A greeting."), Say("Good morning, pump house.")), chunk_size=4))
        assert await editor.prompt(session.session_id, "hello") == "end_turn"
        assert editor.said() == "Good morning, pump house."
        assert editor.said(schema.AgentThoughtChunk) == "A greeting."
        assert "hello" in str(fake.requests[-1].body["messages"])
        usage = editor.of(schema.UsageUpdate)[-1]
        assert 0 < usage.used < usage.size
        assert usage.cost is not None
        assert usage.cost.currency == "USD"
        assert editor.of(schema.SessionInfoUpdate)[-1].title == "hello"


async def test_an_edit_is_asked_about_shown_as_a_diff_and_written(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        fake.enqueue(Call("write_file", {"path": "new.txt", "content": "hello\n"}, "toolu_w"), Say("Written."))
        assert await editor.prompt(session, "write it") == "end_turn"
        asked, options = editor.asked[0]
        assert (asked.tool_call_id, options[0], options[-1]) == ("toolu_w", "allow_once", "reject_once")
        assert isinstance((asked.content or [])[0], schema.FileEditToolCallContent)
        call = editor.call("toolu_w")
        assert (call["kind"], call["status"]) == ("edit", "completed")
        assert call["raw_input"] == {"path": "new.txt", "content": "hello\n"}
        assert [each.path for each in call["locations"]] == [str(folder / "new.txt")]
        (diff,) = call["content"]
        assert (diff.path, diff.old_text, diff.new_text) == (str(folder / "new.txt"), None, "hello\n")
        assert (folder / "new.txt").read_text() == "hello\n"

        # what is always allowed is not asked again; what is refused is not run
        editor.answer = "allow_always"
        fake.enqueue(Call("bash", {"command": "make one"}, "toolu_1"), Call("bash", {"command": "make one"}, "toolu_2"), Say("Twice."))
        await editor.prompt(session, "touch it twice")
        assert len(editor.asked) == 2
        assert editor.call("toolu_2")["status"] == editor.call("toolu_1")["status"] == "failed"  # there is nothing to make
        for number, answer in enumerate(("reject_once", "cancelled", "no such option")):
            editor.answer = answer
            fake.enqueue(Call("bash", {"command": f"mkdir d{number}"}, f"toolu_r{number}"), Say("As you wish."))
            await editor.prompt(session, "make a folder")
            assert editor.call(f"toolu_r{number}")["status"] == "failed"
            assert not (folder / f"d{number}").exists()


async def test_a_turn_is_cancelled_and_what_waits_with_it(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        fake.enqueue(Reply((Say("One two three four five six."),), interruption=HoldsAfter(1), chunk_size=8))
        first = asyncio.create_task(editor.prompt(session, "count"))
        await fake.until_held()
        second = asyncio.create_task(editor.prompt(session, "and then"))
        await editor.until(lambda: True if editor.said() else None)
        await editor.agent.list_sessions(cwd=str(folder))  # by its answer the second prompt has been read, too
        await editor.agent.cancel(session_id=session)
        assert (await first, await second) == ("cancelled", "cancelled")
        count = len(editor.updates)
        await editor.agent.list_sessions(cwd=str(folder))
        assert len(editor.updates) == count  # the answer is the last that is told of a cancelled turn
        assert editor.said() == "One two "

        # a question that is open is over with the turn
        editor.answer = None
        fake.enqueue(Call("bash", {"command": "touch made"}))
        waits = asyncio.create_task(editor.prompt(session, "touch it"))
        await editor.until(lambda: editor.asked or None)
        await editor.agent.cancel(session_id=session)
        assert await waits == "cancelled"
        assert not (folder / "made").exists()
        fake.enqueue(Say("Going on."))
        assert await editor.prompt(session, "go on") == "end_turn"
        assert "and then" not in str(fake.requests[-1].body["messages"])


async def test_modes_models_effort_plans_and_commands(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        await editor.initialize()
        made = await editor.new_session(folder)
        session = made.session_id
        assert made.modes is not None
        assert (made.modes.current_mode_id, [mode.id for mode in made.modes.available_modes]) == ("act", ["ask", "plan", "act"])
        options = {option.id: option for option in made.config_options or ()}
        assert (options["mode"].category, options["model"].category) == ("mode", "model")
        assert {choice.value for choice in options["model"].options} >= {"claude-opus-5-5"}
        offered = await editor.until(lambda: editor.of(schema.AvailableCommandsUpdate) or None)
        assert {"compact", "preview", "undo", "timeline"} <= {command.name for command in offered[0].available_commands}

        await editor.agent.set_session_mode(session_id=session, mode_id="ask")
        fake.enqueue(Call("write_file", {"path": "no.txt", "content": ""}, "toolu_n"), Say("I may not."))
        await editor.prompt(session, "write it")
        assert editor.call("toolu_n")["status"] == "failed"
        assert editor.of(schema.CurrentModeUpdate)[-1].current_mode_id == "ask"
        other = next(choice.value for choice in options["model"].options if choice.value != options["model"].current_value)
        for option, value in (("mode", "act"), ("model", other)):
            answer = await editor.agent.set_config_option(session_id=session, config_id=option, value=value)
            assert {each.id: each.current_value for each in answer.config_options}[option] == value
        effort = next(each for each in answer.config_options if each.id == "effort")
        assert effort.category == "thought_level"
        await editor.agent.set_config_option(session_id=session, config_id="effort", value="low")
        todo = {"todos": [{"content": "Mend the pump", "status": "in_progress"}]}
        fake.enqueue(Call("todo", todo), Say("Planned."))
        await editor.prompt(session, "plan")
        assert fake.requests[-1].body["model"] == other
        assert [(each.content, each.status) for each in editor.of(schema.AgentPlanUpdate)[-1].entries] == [("Mend the pump", "in_progress")]

        for option, value in (("mode", "fly"), ("effort", "none"), ("colour", "red")):
            error = await refused(editor.agent.set_config_option(session_id=session, config_id=option, value=value))
            assert (error.code, (error.data or {})["reason"]) == (-32602, "invalid")

        before = len(editor.updates)
        assert await editor.prompt(session, "/context") == "end_turn"
        assert "tokens" in "".join(each.content.text for _, each in editor.updates[before:] if isinstance(each, schema.AgentMessageChunk))
        requests = len(fake.requests)
        assert await editor.prompt(session, "/timeline") == "end_turn"
        assert len(fake.requests) == requests


async def test_a_session_is_listed_loaded_resumed_forked_and_closed(folder: Path, state: Path) -> None:
    async with FakeApi() as fake:
        async with acp_editor(state, fake) as editor:
            session = await begun(editor, folder)
            fake.enqueue(Call("bash", {"command": "echo drip"}, "toolu_e"), Say("It drips."))
            await editor.prompt(session, "listen to the tap")
        async with acp_editor(state, fake) as editor:
            await editor.initialize()
            assert (await editor.agent.list_sessions(cwd=str(folder / "missing"))).sessions == []
            listed = (await editor.agent.list_sessions(cwd=str(folder))).sessions
            assert [(each.session_id, each.cwd, each.title) for each in listed] == [(session, str(folder), "listen to the tap")]
            await editor.agent.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
            said = [type(update).__name__ for _, update in editor.updates]
            assert said[:3] == ["UserMessageChunk", "ToolCallStart", "AgentMessageChunk"]
            assert (editor.said(schema.UserMessageChunk), editor.said()) == ("listen to the tap", "It drips.")
            assert "drip" in editor.call("toolu_e")["content"][0].content.text
            fake.enqueue(Say("Still."))
            await editor.prompt(session, "and now?")
            assert editor.said() == "It drips.Still."
            forked = (await editor.agent.fork_session(session_id=session, cwd=str(folder), mcp_servers=[])).session_id
            fake.enqueue(Say("In the fork."))
            await editor.prompt(forked, "here, too?")
            assert "listen to the tap" in str(fake.requests[-1].body["messages"])
            await editor.agent.close_session(session_id=session)
            assert (await refused(editor.prompt(session, "hello?"))).code == -32002
            count = len(editor.updates)
            await editor.agent.resume_session(cwd=str(folder), session_id=session, mcp_servers=[])
            fake.enqueue(Say("Resumed."))
            await editor.prompt(session, "again")
            told = [update for _, update in editor.updates[count:]]
            assert "".join(each.content.text for each in told if isinstance(each, schema.AgentMessageChunk)) == "Resumed."


async def test_a_turn_ends_with_its_session_and_with_its_client(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        fake.enqueue(*(Reply((Say("One two three four five six."),), interruption=HoldsAfter(1), chunk_size=8) for _ in range(2)))
        asked = asyncio.create_task(editor.prompt(session, "count"))
        await fake.until_held()
        await editor.until(lambda: True if editor.said() else None)
        # loaded again by a client that has lost its view: what runs goes on
        await editor.agent.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        assert editor.said(schema.UserMessageChunk) == "count"
        await editor.agent.close_session(session_id=session)
        assert await asked == "cancelled"
        fake.release()
        await editor.agent.resume_session(cwd=str(folder), session_id=session, mcp_servers=[])
        asked = asyncio.create_task(editor.agent.prompt(session_id=session, prompt=[text_block("again")]))
        await fake.until_held()
    assert editor.server.returncode == 0
    with pytest.raises((ConnectionError, asyncio.CancelledError)):
        await asked


async def test_a_prompt_brings_images_links_and_texts(folder: Path, state: Path) -> None:
    (folder / "pump.py").write_text("pressure = 3\n")
    (folder / "tank.txt").write_text("one\ntwo\nthree\n")
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        fake.enqueue(Say("Seen."))
        pump, tank = folder / "pump.py", folder / "tank.txt"
        await editor.prompt(
            session,
            "Compare ",
            resource_link_block("pump.py", pump.as_uri()),
            resource_link_block("tank.txt", f"{tank.as_uri()}#L2:3"),
            resource_block(embedded_text_resource("zed:///terminal", "$ make\nboom\n")),
            image_block(base64.b64encode(png(8, 8)).decode(), "image/png"),
        )
        sent = json.dumps(fake.requests[-1].body["messages"])
        assert "Compare @pump.py" in sent
        assert all(each in sent for each in ("pressure = 3", "two", "boom", '"image/png"'))
        assert "one" not in sent
        error = await refused(editor.prompt(session, schema.AudioContentBlock(type="audio", data="", mime_type="audio/wav")))
        assert error.code == -32602


async def test_what_a_rule_refuses_to_have_read_comes_by_no_block(folder: Path, state: Path) -> None:
    env = folder / ".env"
    env.write_text("KEY=hunter2\n")
    UserState(state).add_rule(None, KeptRule("never read", "**/.env", 1.0))
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        blob = schema.BlobResourceContents(blob=base64.b64encode(png(8, 8)).decode(), mime_type="image/png", uri=env.as_uri())
        for block in (
            resource_link_block(".env", env.as_uri()),
            resource_block(embedded_text_resource(env.as_uri(), "KEY=hunter2")),
            resource_block(embedded_text_resource(f"{env.as_uri()}#L1:1", "KEY=hunter2")),
            resource_block(embedded_text_resource("vscode-remote://wsl/home/me/.env", "KEY=hunter2")),
            resource_block(blob),
            schema.ImageContentBlock(type="image", data=blob.blob, mime_type="image/png", uri=env.as_uri()),
        ):
            error = await refused(editor.prompt(session, "look ", block))
            assert (error.code, (error.data or {})["reason"]) == (-32602, "invalid")
            assert "your rule `**/.env` refuses to have it read" in str(error)
        assert not fake.requests


async def test_without_a_key_the_client_is_told_what_to_do(folder: Path, state: Path) -> None:
    async with acp_editor(state) as editor:
        told = await editor.initialize()
        assert [each.id for each in told.auth_methods or ()] == ["api-key", "practice"]
        error = await refused(editor.new_session(folder))
        assert (error.code, "ANTHROPIC_API_KEY" in str(error)) == (-32000, True)
        assert (await refused(editor.agent.authenticate(method_id="api-key"))).code == -32000
        assert (await refused(editor.agent.authenticate(method_id="telepathy"))).code == -32602
        await editor.agent.authenticate(method_id="practice")
        session = (await editor.new_session(folder)).session_id
        assert await editor.prompt(session, "hello") == "end_turn"
        assert editor.said()


async def test_an_address_of_the_environment_is_confirmed_first(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, env={"ANTHROPIC_BASE_URL": fake.base_url, "ANTHROPIC_API_KEY": KEY}) as editor:
        told = await editor.initialize()
        assert "confirm-address" in [each.id for each in told.auth_methods or ()]
        assert (await refused(editor.new_session(folder))).code == -32000
        assert not fake.requests
        await editor.agent.authenticate(method_id="confirm-address")
        session = (await editor.new_session(folder)).session_id
        fake.enqueue(Say("Here."))
        await editor.prompt(session, "hello")
        assert editor.said() == "Here."


async def test_a_refused_key_and_a_failed_turn_are_answers_of_the_prompt(folder: Path, state: Path) -> None:
    async with FakeApi(keys=["another"]) as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        error = await refused(editor.prompt(session, "hello"))
        assert error.code == -32000
        assert KEY not in str(error)


async def test_bad_input_is_answered_and_passed_over(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        early = await refused(editor.new_session(folder))
        assert early.code == -32600
        told = await editor.agent.initialize(protocol_version=2)
        assert told.protocol_version == 1
        for cwd in ("relative", str(folder / "missing"), "/\0"):
            assert (await refused(editor.agent.new_session(cwd=cwd, mcp_servers=[]))).code == -32602
        for wrong in ("s0123456789ab", "../../etc"):
            assert (await refused(editor.agent.load_session(cwd=str(folder), session_id=wrong, mcp_servers=[]))).code == -32002
            assert (await refused(editor.prompt(wrong, "hello"))).code == -32002
        assert (await refused(editor.agent.ext_method("ullage/fly", {}))).code == -32601
        session = (await editor.new_session(folder)).session_id
        fake.enqueue(Say("Still here."))
        assert await editor.prompt(session, "hello") == "end_turn"
        assert (await refused(editor.prompt(session, "   "))).code == -32602


async def test_lines_that_are_no_messages_are_answered_and_the_next_is_read(state: Path) -> None:
    async with acp_lines(state) as say:
        assert (await say(b"nonsense"))["error"]["code"] == -32700
        assert (await say(b"\xff\xfe"))["error"]["code"] == -32700
        for line in (b"[1, 2]", b"3", b'{"id": [1], "result": 1}', b'{"id": 77}', b'{"method": 3, "id": "x"}', b"{}"):
            assert (await say(line))["error"]["code"] == -32600
        assert (await say(b'{"jsonrpc": "2.0", "id": "q", "method": "session/fly", "params": {}}'))["error"]["code"] == -32601
        answer = await say(b'{"jsonrpc": "2.0", "id": "r", "method": "session/prompt", "params": {"sessionId": 7}}')
        assert (answer["id"], answer["error"]["code"]) == ("r", -32602)
        answer = await say(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}')
        assert answer["result"]["agentInfo"]["name"] == "ullage"


async def test_a_client_that_closes_its_end_at_once_gets_its_answers(state: Path) -> None:
    server = await forked.start(("--state-folder", str(state)), environment({VARIABLE: str(state)}), "acp")
    server.stdin.write(_request(1, "initialize", protocolVersion=1) + b"\n" + _request(2, "session/list") + b"\n")
    server.stdin.close()
    async with asyncio.timeout(PATIENCE):
        answers = [json.loads(line) for line in (await server.stdout.read()).splitlines()]
        told = await server.stderr.read()
        assert await server.wait() == 0
    assert [(each["id"], "result" in each) for each in answers] == [(1, True), (2, True)]
    assert told == b""


async def test_a_client_that_knows_compactions_is_told_of_them(folder: Path, state: Path) -> None:
    (folder / "long.txt").write_text("pressure and flow\n" * 2_000)
    able: dict[str, Any] = {"session": {"compaction": {}}}
    async with acp_lines(state, settings={"model": {"provider": "practice"}}) as say:
        await say(_request(1, "initialize", protocolVersion=1, clientCapabilities=able))
        session = (await say(_request(2, "session/new", cwd=str(folder), mcpServers=[])))["result"]["sessionId"]
        link = {"type": "resource_link", "name": "long.txt", "uri": (folder / "long.txt").as_uri()}
        for number in (3, 4):
            await say(_request(number, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "hello "}, link]))
        compact = [{"type": "text", "text": "/compact"}]
        assert (await say(_request(5, "session/prompt", sessionId=session, prompt=compact)))["result"]["stopReason"] == "end_turn"
        updates = [each["params"]["update"] for each in say.told if each.get("method") == "session/update"]
        made = [each for each in updates if each["sessionUpdate"] == "compaction_update"]
        assert [each["status"] for each in made[:1] + made[-1:]] == ["in_progress", "completed"]
        assert len({each["compactionId"] for each in made}) == 1
        assert not any("ompact" in str(each.get("title")) for each in updates)
        for number in (6, 7):  # what is not there counts as deleted
            assert (await say(_request(number, "session/delete", sessionId=session)))["result"] == {}
        assert (await say(_request(8, "session/list", cwd=str(folder))))["result"]["sessions"] == []
        assert (await say(_request(9, "session/prompt", sessionId=session, prompt=compact)))["error"]["code"] == -32002


async def test_settings_that_cannot_be_read_end_it_and_others_are_named(state: Path, tmp_path: Path) -> None:
    kept = tmp_path / "settings.json"
    kept.write_text('{"model": {"provider": "practice"}, "colour": "red"}')
    for given, code, words in (
        ("{bad", 1, "--settings"),
        (str(tmp_path / "missing.json"), 1, "--settings"),
        (str(kept), 0, "ullage.colour"),
    ):
        server = await forked.start(("--settings", given, "--state-folder", str(state)), environment({VARIABLE: str(state)}), "acp")
        server.stdin.close()
        async with asyncio.timeout(PATIENCE):
            told = (await server.stderr.read()).decode()
            assert await server.wait() == code
        assert words in told


async def test_nothing_is_told_of_a_session_that_the_client_does_not_know_yet(folder: Path, state: Path) -> None:
    async with acp_lines(state, settings={"model": {"provider": "practice"}}) as say:
        await say(_request(1, "initialize", protocolVersion=1))
        first = (await say(_request(2, "session/new", cwd=str(folder), mcpServers=[])))["result"]["sessionId"]
        assert say.told == []
        await say(_request(3, "session/prompt", sessionId=first, prompt=[{"type": "text", "text": "hello"}]))
        assert say.told
        forked = (await say(_request(4, "session/fork", sessionId=first, cwd=str(folder), mcpServers=[])))["result"]["sessionId"]
        assert {each["params"]["sessionId"] for each in say.told} == {first}
        await say(_request(5, "session/prompt", sessionId=forked, prompt=[{"type": "text", "text": "hello"}]))
        assert {each["params"]["sessionId"] for each in say.told} == {first, forked}


def _request(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


async def test_files_are_read_and_written_through_the_client(folder: Path, state: Path) -> None:
    pump = folder / "pump.py"
    pump.write_text("pressure = 3\n")
    able = schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder, fs=able)
        editor.files[str(pump)] = "pressure = 4  # unsaved\n"
        edit = {"path": "pump.py", "old_text": "pressure = 4", "new_text": "pressure = 5"}
        fake.enqueue(Call("read_file", {"path": "pump.py"}), Call("edit_file", edit, "toolu_e"), Say("Done."))
        await editor.prompt(session, "raise it")
        assert "unsaved" in str(fake.requests[1].body["messages"])
        assert editor.written == [str(pump)]
        assert pump.read_text() == "pressure = 5  # unsaved\n"

        # what a command changes on disk afterwards is what is read next
        fake.enqueue(Call("bash", {"command": "echo 'pressure = 9' > pump.py"}), Call("read_file", {"path": "pump.py"}), Say("Nine."))
        await editor.prompt(session, "set it to nine")
        assert "pressure = 9" in str(fake.requests[-1].body["messages"][-1])
        # a file that is not there yet is made on disk
        fake.enqueue(Call("write_file", {"path": "new.txt", "content": "new\n"}), Say("Made."))
        await editor.prompt(session, "make one")
        assert (folder / "new.txt").read_text() == "new\n"
        # nor is one of which the client says that it is empty
        editor.files[str(folder / "more.txt")] = ""
        fake.enqueue(Call("write_file", {"path": "more.txt", "content": "more\n"}, "toolu_m"), Say("Made."))
        await editor.prompt(session, "make another")
        assert (folder / "more.txt").read_text() == "more\n"
        assert "Created" in str(fake.requests[-1].body["messages"][-1])
        # nothing outside of the folder is asked for
        assert all(Path(each).is_relative_to(folder) for each in editor.read)


async def test_a_compaction_is_previewed_made_shown_and_undone(folder: Path, state: Path) -> None:
    (folder / "pump.py").write_text("pressure = 3\n")
    async with FakeApi() as fake, acp_editor(state, fake, settings={"compaction": {"summary": "digest"}}) as editor:
        told = await editor.initialize()
        assert told.agent_capabilities is not None
        methods = (told.agent_capabilities.field_meta or {})["ullage"]["methods"]
        session = (await editor.new_session(folder)).session_id

        async def ask(name: str, **params: Any) -> dict[str, Any]:
            assert f"_ullage/{name}" in methods
            return await editor.agent.ext_method(f"ullage/{name}", {"sessionId": session, **params})

        for number in range(3):
            fake.enqueue(Call("bash", {"command": f"echo {number} drip; seq 300"}), Say(f"Number {number} drips. " * 60))
            await editor.prompt(session, f"look at tap {number}")
        preview = await ask("preview", focus="taps")
        assert preview["tokensAfter"] < preview["tokensBefore"]
        before = editor.of(schema.UsageUpdate)[-1].used
        assert await editor.prompt(session, "/compact taps") == "end_turn"
        made = (await ask("timeline"))["epochs"][-1]
        shown = editor.call(made["compactionId"])
        assert (shown["kind"], shown["status"]) == ("think", "completed")
        assert editor.of(schema.UsageUpdate)[-1].used < before
        assert (await ask("undo"))["compactionId"] == made["compactionId"]
        assert (await ask("timeline"))["epochs"][0]["current"]
        assert (await ask("redo"))["compactionId"]
        assert (await ask("pin", path="pump.py"))["pinnedFiles"] == ["pump.py"]
        requests = len(fake.requests)
        link = resource_link_block("pump.py", (folder / "pump.py").as_uri())
        assert await editor.prompt(session, "/unpin", link) == "end_turn"
        assert len(fake.requests) == requests
        assert (await ask("timeline"))["pinnedFiles"] == []
        assert (await refused(ask("pin", pinned="yes", path="pump.py"))).code == -32602
        assert (await refused(ask("preview", focus=[1]))).code == -32602


async def test_a_plan_is_read_before_it_is_accepted(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        await editor.agent.set_session_mode(session_id=session, mode_id="plan")
        fake.enqueue(Call("propose_plan", {"plan": "# Mend\n\n1. Close the valve\n2. Mend the pump"}, "toolu_p"), Say("Mended."))
        assert await editor.prompt(session, "mend it") == "end_turn"
        asked, _ = editor.asked[0]
        assert asked.kind == "switch_mode"
        assert "Close the valve" in str(asked.content)
        assert editor.of(schema.CurrentModeUpdate)[-1].current_mode_id == "act"
        assert [each.content for each in editor.of(schema.AgentPlanUpdate)[-1].entries] == ["Close the valve", "Mend the pump"]


QUESTIONS = {
    "questions": [
        {
            "header": "Valve",
            "question": "Which valve is closed first?",
            "options": [{"label": "Inlet", "description": "Upstream"}, {"label": "Outlet", "description": "Downstream"}],
        },
        {
            "header": "Pumps",
            "question": "Which pumps are mended?",
            "options": [{"label": "Main", "description": "The large one"}, {"label": "Spare", "description": "The other"}],
            "multiSelect": True,
        },
    ]
}


async def test_questions_are_a_form_where_the_client_has_forms(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder, elicitation=schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities()))

        async def told(answer: Any) -> str:
            """What the model is told where the form is answered so."""
            editor.form_answer = answer
            fake.enqueue(Call("ask_user", QUESTIONS), Say("Good."))
            assert await editor.prompt(session, "mend it") == "end_turn"
            return str(fake.requests[-1].body["messages"][-1]["content"][0]["content"])

        accepted = schema.AcceptElicitationResponse(action="accept", content={"answer1": "2", "answer2": ["2", "1"], "words1": "gently"})
        assert await told(accepted) == (
            "The user answered:\n1. Which valve is closed first?\n   They chose: “Outlet”\n   They wrote: gently\n"
            "2. Which pumps are mended?\n   They chose: “Main”, “Spare”"
        )
        message, mode = editor.forms[0]
        assert message == "The agent has 2 questions. An answer allows nothing."
        properties = mode.requested_schema.properties
        assert [(name, each.title) for name, each in properties.items()] == [
            ("answer1", "Valve"),
            ("words1", "Valve: in your own words"),
            ("answer2", "Pumps"),
            ("words2", "Pumps: in your own words"),
        ]
        assert [each.title for each in properties["answer1"].one_of] == ["Inlet", "Outlet"]
        assert [each.title for each in properties["answer2"].items.any_of] == ["Main", "Spare"]
        assert "they skipped the question" in await told(schema.DeclineElicitationResponse(action="decline"))
        assert "they skipped the question" in await told(schema.CancelElicitationResponse(action="cancel"))
        for unusable in ({"answer1": "9"}, {"answer1": ["1", "2"]}):
            assert "cannot be shown here" in await told(schema.AcceptElicitationResponse(action="accept", content=unusable))
        assert "cannot be shown here" in await told(None)
        assert editor.asked == []


async def test_a_client_without_forms_has_the_agent_ask_in_words(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder)
        fake.enqueue(Call("ask_user", QUESTIONS), Say("Which valve is closed first?"))
        assert await editor.prompt(session, "mend it") == "end_turn"
        assert "Ask in your own words" in str(fake.requests[-1].body["messages"][-1]["content"][0]["content"])
        assert (editor.forms, editor.asked) == ([], [])
