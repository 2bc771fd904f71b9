"""The bytes of images: kept once by their hash, given back as they were or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.context.pictures import DOCUMENT, IMAGE, PDF, PNG, WIDE, WIDE_PNG
from ullage.context.entries import Attachment, ToolReturned, UserPrompt
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles, shown_path
from ullage.store.search import SearchIndex
from ullage.store.versions import Versions
from ullage.store.workspace_store import erase_session


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_was_kept_is_given_back(tmp_path: Path, on_disk: bool):
    files = MediaFiles(tmp_path if on_disk else None)
    files.keep(PNG, IMAGE)
    files.keep(PNG, IMAGE)
    files.keep(PDF, DOCUMENT)
    assert (files.read(IMAGE), files.read(DOCUMENT), files.read(WIDE)) == (PNG, PDF, None)
    files.remove(IMAGE)
    assert (files.read(IMAGE), files.read(DOCUMENT)) == (None, PDF)


def test_a_file_that_was_changed_counts_as_gone_and_is_written_anew(tmp_path: Path):
    files = MediaFiles(tmp_path)
    files.keep(PNG, IMAGE)
    (tmp_path / shown_path(IMAGE)).write_bytes(WIDE_PNG)
    assert files.read(IMAGE) is None
    files.keep(PNG, IMAGE)
    assert files.read(IMAGE) == PNG


def test_what_cannot_be_written_says_so(tmp_path: Path):
    (tmp_path / "media").write_text("no folder")
    with pytest.raises(StoreFailed):
        MediaFiles(tmp_path).keep(PNG, IMAGE)


def test_the_images_of_a_session_go_with_it_unless_another_was_shown_them(tmp_path: Path):
    log, media, results = LogStore.open(tmp_path), MediaFiles(tmp_path), ResultFiles(tmp_path)
    index = SearchIndex(tmp_path, log, results)
    first, second, third = (log.create_session("", 1.0).id for _ in range(3))
    for data, each in ((PNG, IMAGE), (PDF, DOCUMENT), (WIDE_PNG, WIDE)):
        media.keep(data, each)
    shown = ToolReturned("t1", "read_file", "image", is_error=False, characters=5, media=(IMAGE, WIDE, DOCUMENT))
    quoted = ToolReturned("t1", "bash", f'"media_type": "{IMAGE.sha256}"', is_error=False, characters=5)
    log.append_many(first, [shown], 1.0)
    log.append_many(second, [quoted, UserPrompt("p1", "Look", (Attachment("a.png", "image", WIDE),))], 1.0)
    log.prompts.add(third, UserPrompt("p2", "Look", (Attachment("a.pdf", "PDF", DOCUMENT),)))
    erase_session(first, tmp_path, log, index, results, media, Versions(None))
    assert (media.read(IMAGE), media.read(WIDE), media.read(DOCUMENT)) == (None, WIDE_PNG, PDF)
    erase_session(third, tmp_path, log, index, results, media, Versions(None))
    assert (media.read(WIDE), media.read(DOCUMENT)) == (WIDE_PNG, None)
    index.close()
    log.close()
