"""Blocks of a prompt as text and attachments."""

from __future__ import annotations

from pathlib import Path

import pytest
from acp import embedded_text_resource, resource_block, resource_link_block, schema, text_block

from ullage.acp.prompts import path_of, prompt_of
from ullage.session.attachments import FileRef, TextRef
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
    assert prompt_of([text_block("pres"), text_block("sure")], folders)[0] == "pressure"


def test_what_lies_elsewhere_is_only_named(folders: Folders) -> None:
    for uri in ("https://pumps.example/a", "file:///etc/passwd", "file://elsewhere/etc/passwd", "zed:///thread/1"):
        assert prompt_of([resource_link_block("it", uri)], folders) == (uri, [])


def test_an_embedded_text_is_taken_as_the_client_has_it(folders: Folders) -> None:
    assert folders.first is not None
    uri = (folders.first / "pump.py").as_uri()
    assert prompt_of([resource_block(embedded_text_resource(uri, "unsaved"))], folders) == ("@pump.py", [TextRef("pump.py", "unsaved")])


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
