"""Blocks of a prompt as text and attachments."""

from __future__ import annotations

from pathlib import Path

import pytest
from acp import embedded_text_resource, resource_block, resource_link_block, schema, text_block

from ullage.acp.prompts import path_of, prompt_of
from ullage.session.attachments import FileRef, PastedRef, TextRef
from ullage.session.errors import SessionError
from ullage.workspace.folders import Folders


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    (tmp_path / "pumps").mkdir()
    return Folders([tmp_path / "pumps"])


def test_links_become_mentions_and_attachments(folders: Folders) -> None:
    assert folders.first is not None
    pump = folders.first / "a pump.py"
    for fragment, lines in (("", None), ("#L3", (3, 3)), ("#L3:9", (3, 9)), ("#L3-L9", (3, 9)), ("#L9:3", None), ("#top", None)):
        text, refs = prompt_of([text_block("Mend "), resource_link_block("pump", f"{pump.as_uri()}{fragment}")], folders)
        assert (text, refs) == ("Mend @a pump.py", [FileRef(pump, lines)])


def test_mentions_stand_apart_from_the_words_around_them(folders: Folders) -> None:
    assert folders.first is not None
    link = resource_link_block("pump", (folders.first / "pump.py").as_uri())
    for before, after, text in (
        ("Mend", "now", "Mend @pump.py now"),
        ("Mend ", "\nnow", "Mend @pump.py\nnow"),
        ("(", ").", "( @pump.py)."),
    ):
        assert prompt_of([text_block(before), link, text_block(after)], folders)[0] == text


def test_texts_in_a_row_stand_on_lines_of_their_own(folders: Folders) -> None:
    for first, second, text in (("Use tabs.", "Mend it", "Use tabs.\nMend it"), ("Use tabs.\n\n", "Mend it", "Use tabs.\n\nMend it")):
        assert prompt_of([text_block(first), text_block(second)], folders)[0] == text


def test_what_lies_elsewhere_is_only_named(folders: Folders) -> None:
    for uri in ("https://pumps.example/a", "file:///etc/passwd", "file://elsewhere/etc/passwd", "zed:///thread/1"):
        assert prompt_of([resource_link_block("it", uri)], folders) == (uri, [])


def test_an_embedded_text_is_taken_as_the_client_has_it(folders: Folders) -> None:
    assert folders.first is not None
    uri = (folders.first / "pump.py").as_uri()
    assert prompt_of([resource_block(embedded_text_resource(uri, "unsaved"))], folders) == ("@pump.py", [TextRef("pump.py", "unsaved")])


def test_what_is_embedded_stays_known_as_a_files(folders: Folders, tmp_path: Path) -> None:
    assert folders.first is not None
    (folders.first / "linked.py").symlink_to(folders.first / "pump.py")
    blob = schema.BlobResourceContents(blob="AAAA", mime_type="image/png", uri=(folders.first / "pump.png").as_uri())
    for block, path, given in (
        (embedded_text_resource((folders.first / "linked.py").as_uri(), "x"), folders.first / "pump.py", folders.first / "linked.py"),
        (embedded_text_resource("linked.py#L3", "x"), folders.first / "pump.py", folders.first / "linked.py"),
        (embedded_text_resource((tmp_path / "a%20b").as_uri(), "x"), tmp_path / "a%20b", tmp_path / "a%20b"),
        (blob, folders.first / "pump.png", folders.first / "pump.png"),
    ):
        _, (ref,) = prompt_of([resource_block(block)], folders)
        assert isinstance(ref, TextRef | PastedRef)
        assert ref.file is not None
        assert (ref.file.path, ref.file.given) == (path, str(given))
    image = schema.ImageContentBlock(type="image", data="AAAA", mime_type="image/png", uri=(folders.first / "pump.png").as_uri())
    _, (ref,) = prompt_of([image], folders)
    assert isinstance(ref, PastedRef)
    assert ref.file == FileRef(folders.first / "pump.png")
    _, (ref,) = prompt_of([resource_block(embedded_text_resource("zed:///terminal", "x"))], folders)
    assert isinstance(ref, TextRef)
    assert ref.file is None


def test_what_cannot_be_taken_is_refused(folders: Folders) -> None:
    blob = schema.BlobResourceContents(blob="AAAA", mime_type="application/zip", uri="file:///etc/a.zip")
    for block in (
        schema.AudioContentBlock(type="audio", data="", mime_type="audio/wav"),
        schema.ImageContentBlock(type="image", data="no base64!", mime_type="image/png"),
        schema.EmbeddedResourceContentBlock(type="resource", resource=blob),
    ):
        with pytest.raises(SessionError):
            prompt_of([block], folders)


def test_paths_of_uris(tmp_path: Path) -> None:
    assert path_of(tmp_path.as_uri()) == path_of(str(tmp_path)) == tmp_path
    for uri in ("pump.py", "file:///a%00b", "untitled:1", "http://[", ""):
        assert path_of(uri) is None
