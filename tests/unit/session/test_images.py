"""Images and PDFs in a session: shown to the model, counted, set aside and brought back, and never the reason for a refused request."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, FakeApi, Say
from tests.fake_api.catalogue import MODELS, with_windows
from tests.unit.context.pictures import pdf, png
from tests.unit.session.harness import MODEL, Stage, calls, compactions, items, kept_of, stage
from ullage.context.counting.media import PDF_PAGE_TOKENS, Room
from ullage.context.entries import UserPrompt
from ullage.session.attachments import FileRef, PastedRef, ref_of
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import ShownMedia, UserItem
from ullage.store.folder import READABLE
from ullage.workspace.folders import Folders, RecordsFolder

PNG = png(800, 600)
TOKENS = 29 * 22
PDF = pdf(2)
WORDS = f"image, 800 × 600, {TOKENS} tokens"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "tank.png").write_bytes(PNG)
    (folder / "docs" / "tank.pdf").write_bytes(PDF)
    (folder / "docs" / "tank.svg").write_text("<svg/>")
    return folder


def source(data: bytes, media_type: str = "image/png") -> dict[str, str]:
    return {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}


def blocks(body: Mapping[str, Any], kind: str = "image") -> list[dict[str, Any]]:
    """All of that kind in a request, in order."""
    found: list[dict[str, Any]] = []
    for message in body["messages"]:
        for block in message["content"]:
            inner = block["content"] if block["type"] == "tool_result" and isinstance(block["content"], list) else [block]
            found += [each for each in inner if each["type"] == kind]
    return found


async def read(here: Stage, session: Session, *paths: str) -> dict[str, Any]:
    """The model reads files at once; gives the request that holds them."""
    here.fake.enqueue([Call("read_file", {"path": path}) for path in paths], Say("I see."))
    await here.say(session, "Look at them")
    return here.fake.requests[-1].body


async def test_the_model_is_shown_what_it_reads(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        before = session.snapshot().gauge.used
        sent = await read(here, session, "docs/tank.png", "docs/tank.pdf", "docs/tank.svg")
        assert [each["source"] for each in blocks(sent)] == [source(PNG)]
        assert [each["source"] for each in blocks(sent, "document")] == [source(PDF, "application/pdf")]
        results = [block["content"] for block in sent["messages"][-1]["content"]]
        assert results[0][0] == {"type": "text", "text": f"`docs/tank.png`: {WORDS}"}
        assert "<svg/>" in results[2]
        image, document, text = calls(session)
        (shown,) = image.media
        assert (shown.name, shown.words) == ("docs/tank.png", WORDS)
        assert (kept_of(folder) / shown.path).read_bytes() == PNG
        assert document.media[0].words == f"PDF, 2 pages, about {2 * PDF_PAGE_TOKENS:,} tokens"
        assert text.media == ()
        gauge = session.snapshot().gauge
        assert gauge.used - before > TOKENS + 2 * PDF_PAGE_TOKENS * 0.8
        assert sum(each.tokens for each in gauge.categories) == gauge.used
        assert here.refused() == []


async def test_an_attached_image_comes_before_the_words(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Say("A tank."))
        await session.prompt("What is it?", [FileRef(folder / "docs" / "tank.png")])
        await here.idle(session)
        name, image, words = here.fake.requests[-1].body["messages"][0]["content"]
        assert name["text"] == f'<attachment name="docs/tank.png">\n{WORDS}\n</attachment>'
        assert image["source"] == source(PNG)
        assert words["text"] == "What is it?"
        prompt = next(item for item in items(session) if isinstance(item, UserItem))
        assert [each.words for each in prompt.media] == [WORDS]
        files = {each.name: each.tokens for each in session.snapshot().gauge.categories}
        assert files["files"] >= TOKENS * 0.8


async def test_a_pasted_image_is_attached_and_can_be_attached_again(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Say("A tank."), Say("The same."))
        for damaged, why in ((b"no image at all", "it is no PNG"), (PNG[:100], "an image that cannot be decoded")):
            with pytest.raises(SessionError, match=why):
                await session.prompt("What is it?", [PastedRef(PNG), PastedRef(damaged)])
        with pytest.raises(SessionError, match=r"tank\.png cannot be attached: it is no PNG"):
            await session.prompt("What is it?", [PastedRef(b"no image at all", "tank.png")])
        await session.prompt("What is it?", [PastedRef(PNG)])
        await here.idle(session)
        sent = here.fake.requests[-1].body
        assert [each["source"] for each in blocks(sent)] == [source(PNG)]
        prompt = next(item for item in items(session) if isinstance(item, UserItem))
        assert [(each.name, each.words) for each in prompt.media] == [("pasted image", WORDS)]
        logged = session._conversation.entries  # noqa: SLF001
        entry = next(each.entry for each in logged if isinstance(each.entry, UserPrompt))
        kept = kept_of(folder)
        folders = Folders([folder], RecordsFolder(kept, READABLE))
        assert ref_of(entry.attachments[0], folders) == FileRef(kept / prompt.media[0].path)

        await session.prompt("And this?", [PastedRef(PNG, "dip.png")])
        await here.idle(session)
        prompt = [item for item in items(session) if isinstance(item, UserItem)][-1]
        assert [each.name for each in prompt.media] == ["dip.png"]
        entry = [each.entry for each in session._conversation.entries if isinstance(each.entry, UserPrompt)][-1]  # noqa: SLF001
        assert ref_of(entry.attachments[0], folders) == FileRef(kept / prompt.media[0].path)


async def test_the_prefix_stays_the_same_over_a_restart_and_an_undone_compaction(folder: Path) -> None:
    async with FakeApi(windows={MODEL: 200_000}) as fake:
        async with stage(folder, fake=fake, settings=Settings(summary_engine="digest")) as here:
            session = await here.new()
            before = (await read(here, session, "docs/tank.png", "docs/tank.pdf"))["messages"]
            session.compact()
            await here.idle(session)
            fake.enqueue(Say("Noted."))
            await here.say(session, "Go on")
            compacted = fake.requests[-1].body
            assert (blocks(compacted), blocks(compacted, "document")) == ([], [])
            assert "tank.png (read: image, 800 × 600, #" in compactions(session)[0].summary
            await session.history.undo()
        async with stage(folder, fake=fake) as here:
            session = await here.sessions.open(None)
            fake.enqueue(Say("Here."))
            await here.say(session, "Again")
            again = fake.requests[-1].body["messages"]
            assert _unmarked(again)[: len(before)] == _unmarked(before)
            assert here.refused() == []


def _unmarked(messages: list[Any]) -> list[Any]:
    return [[{key: value for key, value in block.items() if key != "cache_control"} for block in each["content"]] for each in messages]


async def test_a_file_that_changes_later_stays_as_it_was_shown(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await read(here, session, "docs/tank.png")
        (folder / "docs" / "tank.png").write_bytes(png(10, 10))
        sent = await read(here, session, "docs/tank.png")
        assert [each["source"] for each in blocks(sent)] == [source(PNG), source(png(10, 10))]


async def test_an_image_whose_bytes_are_gone_ends_no_session(folder: Path) -> None:
    async with FakeApi(windows={MODEL: 200_000}) as fake:
        async with stage(folder, fake=fake) as here:
            session = await here.new()
            await read(here, session, "docs/tank.png")
            (kept_of(folder) / calls(session)[0].media[0].path).unlink()
        async with stage(folder, fake=fake) as here:
            session = await here.sessions.open(None)
            fake.enqueue(Say("Gone, then."))
            await here.say(session, "Still there?")
            sent = fake.requests[-1]
            assert sent.status == 200
            assert blocks(sent.body) == []
            assert "its file was removed" in json.dumps(sent.body)


async def test_a_result_is_recalled_with_its_image(folder: Path) -> None:
    async with stage(folder, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await read(here, session, "docs/tank.png")
        session.compact()
        await here.idle(session)
        here.fake.enqueue(Call("recall", {"tool_use_id": calls(session)[0].id}), Say("There it is."))
        await here.say(session, "Look again")
        assert [each["source"] for each in blocks(here.fake.requests[-1].body)] == [source(PNG)]
        assert calls(session)[-1].media[0].words == WORDS


async def test_an_excluded_image_is_gone_and_not_recalled(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await read(here, session, "docs/tank.png")
        await session.history.exclude(calls(session)[0].id)
        here.fake.enqueue(Call("recall", {"tool_use_id": calls(session)[0].id}), Say("It is gone."))
        await here.say(session, "Look again")
        assert blocks(here.fake.requests[-1].body) == []


@pytest.mark.parametrize(
    ("path", "kind", "words"), [("docs/tank.png", "image", "takes no images"), ("docs/tank.pdf", "document", "takes no PDFs")]
)
async def test_a_model_that_takes_none_is_told_so(folder: Path, path: str, kind: str, words: str) -> None:
    facts = with_windows(MODELS, {MODEL: 200_000})
    blind = replace(facts[MODEL], takes_images=False, takes_pdfs=False)
    async with FakeApi(models={**facts, MODEL: blind}) as fake, stage(folder, fake=fake) as here:
        session = await here.new()
        sent = await read(here, session, path)
        assert blocks(sent, kind) == []
        assert words in calls(session)[0].output
        assert calls(session)[0].status == "failed"


async def test_no_more_are_shown_than_the_api_takes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = range(20, 26)
    for size in sizes:
        (folder / f"{size}.png").write_bytes(png(size, size))
    async with stage(folder) as here:
        session = await here.new()
        for size in list(sizes)[:3]:
            await read(here, session, f"{size}.png")
        monkeypatch.setattr(type(session._model.card), "media_room", Room(4))  # noqa: SLF001
        sent = await read(here, session, "23.png", "24.png", "25.png")  # side by side: none of them knows of the others
        assert len(blocks(sent)) == 4
        sent = await read(here, session, "docs/tank.png")
        assert len(blocks(sent)) == 4
        assert "Call `compact`" in calls(session)[-1].output
        assert here.refused() == []


async def test_what_the_api_refuses_all_the_same_is_left_out_from_then_on(folder: Path) -> None:
    facts = with_windows(MODELS, {MODEL: 200_000})
    async with FakeApi(models={**facts, MODEL: facts[MODEL]}) as fake, stage(folder, fake=fake) as here:
        session = await here.new()
        await session.learn_model()
        fake.state.models = {**fake.state.models, MODEL: replace(facts[MODEL], takes_images=False)}  # it said that it takes them
        sent = await read(here, session, "docs/tank.png")
        assert blocks(sent) == []
        assert "not shown" in json.dumps(sent)
        assert fake.requests[-1].status == 200
        assert len(here.refused()) == 1


async def test_damaged_and_encrypted_files_say_so(folder: Path) -> None:
    (folder / "half.png").write_bytes(PNG[:100])
    (folder / "locked.pdf").write_bytes(PDF.replace(b"trailer<<", b"trailer<</Encrypt 4 0 R"))
    (folder / "long.pdf").write_bytes(pdf(40))
    async with stage(folder) as here:
        session = await here.new()
        sent = await read(here, session, "half.png", "locked.pdf", "long.pdf")
        assert (blocks(sent), blocks(sent, "document")) == ([], [])
        half, locked, long = (call.output for call in calls(session))
        assert half.startswith("`half.png` is an image that cannot be decoded")
        assert locked.startswith("`locked.pdf` is an encrypted PDF")
        assert "more than a quarter of what fits into the context" in long
        assert all(call.status == "failed" for call in calls(session))
        with pytest.raises(SessionError, match=r"half\.png cannot be attached: an image that cannot be decoded"):
            await session.prompt("And this?", [FileRef(folder / "half.png")])
        assert here.refused() == []


async def test_deleting_a_session_deletes_its_images(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await read(here, session, "docs/tank.png")
        shown: ShownMedia = calls(session)[0].media[0]
        await here.sessions.delete(session.id)
        assert not (kept_of(folder) / shown.path).exists()
