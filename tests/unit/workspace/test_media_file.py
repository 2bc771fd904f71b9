"""Images and PDFs on disk: what is one, what is made of it, and what cannot be shown."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Pillow

from tests.unit.context.pictures import pdf, png
from ullage.context.blocks import Document, Image
from ullage.workspace import media_file
from ullage.workspace.media_file import LARGEST_EDGE, TURNED, DamagedMedia, read_media
from ullage.workspace.text_file import FileTooLarge


def saved(image: Pillow.Image, format: str, **options: object) -> bytes:
    made = BytesIO()
    image.save(made, format, **options)
    return made.getvalue()


def decoded(data: bytes) -> Pillow.Image:
    image = Pillow.open(BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize(
    ("format", "media_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_an_image_is_shown_as_it_is_whatever_its_name(tmp_path: Path, format: str, media_type: str):
    data = saved(Pillow.new("RGB", (80, 60), "teal"), format)
    (tmp_path / "notes.txt").write_bytes(data)
    found = read_media(tmp_path / "notes.txt")
    assert found is not None
    sha256 = hashlib.sha256(data).hexdigest()
    assert found.media == Image(sha256, media_type, 80, 60, len(data))  # pyright: ignore[reportArgumentType]
    assert (found.data, found.sha256, found.scaled_from) == (data, sha256, None)


@pytest.mark.parametrize("text", ["", "GIF", "just text", "<svg xmlns='http://www.w3.org/2000/svg'/>", "BM is no image for the API"])
def test_text_is_none(tmp_path: Path, text: str):
    (tmp_path / "a.png").write_text(text)
    assert read_media(tmp_path / "a.png") is None


def test_what_is_no_file_is_none(tmp_path: Path):
    assert read_media(tmp_path) is None
    assert read_media(tmp_path / "missing.png") is None


def test_a_large_image_is_scaled_down(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(png(5_000, 1_000))
    found = read_media(tmp_path / "a.png")
    assert found is not None
    assert isinstance(found.media, Image)
    assert (found.media.width, found.media.height) == decoded(found.data).size == (LARGEST_EDGE, 400)
    assert found.media.media_type == "image/png"
    assert found.scaled_from == (5_000, 1_000)
    assert found.sha256 != found.media.sha256 == hashlib.sha256(found.data).hexdigest()


def test_a_photo_is_turned_as_it_was_taken(tmp_path: Path):
    exif = Pillow.Exif()
    exif[TURNED] = 6
    (tmp_path / "a.jpg").write_bytes(saved(Pillow.new("RGB", (80, 60), "teal"), "JPEG", exif=exif))
    found = read_media(tmp_path / "a.jpg")
    assert found is not None
    assert isinstance(found.media, Image)
    assert (found.media.width, found.media.height, found.media.media_type) == (60, 80, "image/jpeg")
    assert found.scaled_from is None


def test_of_a_moving_image_the_first_picture_is_shown(tmp_path: Path):
    pictures = [Pillow.new("RGB", (8, 6), colour) for colour in ("teal", "red")]
    (tmp_path / "a.gif").write_bytes(saved(pictures[0], "GIF", save_all=True, append_images=pictures[1:]))
    found = read_media(tmp_path / "a.gif")
    assert found is not None
    assert decoded(found.data).convert("RGB").getpixel((0, 0)) == (0, 128, 128)
    assert not getattr(decoded(found.data), "is_animated", False)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L"])
def test_an_image_of_too_many_bytes_becomes_a_smaller_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str):
    noise = Pillow.effect_noise((200, 200), 90).convert(mode)
    (tmp_path / "a.png").write_bytes(saved(noise, "PNG"))
    monkeypatch.setattr(media_file, "LARGEST_IMAGE", 1_000)
    found = read_media(tmp_path / "a.png")
    assert found is not None
    assert decoded(found.data).format == "JPEG"
    assert decoded(found.data).size == (200, 200)


@pytest.mark.parametrize("data", [png(80, 60)[:60], b"\x89PNG\r\n\x1a\n", b"GIF89a, as I like to say", b"\xff\xd8\xff and no more"])
def test_a_damaged_image_says_so(tmp_path: Path, data: bytes):
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(DamagedMedia, match="cannot be decoded"):
        read_media(tmp_path / "a.png")


@pytest.mark.parametrize(("part", "passes"), [(b"iCCP", True), (b"IDAT", False)])
def test_of_a_png_a_damaged_part_that_it_can_do_without_is_passed_over(tmp_path: Path, part: bytes, passes: bool):
    whole = saved(Pillow.new("RGB", (80, 60), "teal"), "PNG", icc_profile=b"a profile of colours")
    at = whole.index(part) + 4
    (tmp_path / "a.png").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    if not passes:
        with pytest.raises(DamagedMedia):
            read_media(tmp_path / "a.png")
        return
    found = read_media(tmp_path / "a.png")
    assert found is not None
    assert part not in found.data
    assert decoded(found.data).getpixel((1, 1)) == (0, 128, 128)


def test_an_image_of_too_many_pixels_is_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.png").write_bytes(png(80, 60))
    monkeypatch.setattr(media_file, "MOST_PIXELS", 4_000)
    with pytest.raises(FileTooLarge, match="80 × 60 pixels"):
        read_media(tmp_path / "a.png")


def test_a_file_of_too_many_bytes_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.pdf").write_bytes(pdf(2))
    monkeypatch.setattr(media_file, "LARGEST_PDF", 50)
    with pytest.raises(FileTooLarge, match="no more than 50"):
        read_media(tmp_path / "a.pdf")


@pytest.mark.parametrize("packed", [False, True])
def test_a_pdf_is_shown_as_it_is(tmp_path: Path, packed: bool):
    data = pdf(3, packed=packed)
    (tmp_path / "paper").write_bytes(data)
    found = read_media(tmp_path / "paper")
    assert found is not None
    assert found.media == Document(hashlib.sha256(data).hexdigest(), 3, len(data))
    assert found.data == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (pdf().replace(b"trailer<<", b"trailer<</Encrypt 4 0 R"), "encrypted"),
        (pdf()[:40], "its end is missing"),
        (b"%PDF-1.7 nothing that says Page\nstartxref\n0\n%%EOF", "cannot be counted"),
    ],
)
def test_a_pdf_that_cannot_be_shown_says_why(tmp_path: Path, data: bytes, why: str):
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(DamagedMedia, match=why):
        read_media(tmp_path / "a.pdf")
