"""`npm run gallery`: the animation, the strip and the pictures of the first pages and of the walkthrough, from what the tests took.

Arguments: the folders with the pictures of the tour, with those of the walkthrough and with the gallery; those for the documents' pictures
and for the extension's. All are of the real window. The animation (`tour.webp`) and the strip (`strip.png`) have a line below each picture
that says what it shows.
"""

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FILM = [
    ("film-1-start", 2000, "A task. The gauge in the status bar says how full the context is."),
    ("film-2-asked-1", 2400, "It reads, and asks before it runs or changes anything."),
    ("film-2-asked-2", 1800, "What it reads fills the context: the gauge rises."),
    ("film-2-asked-3", 2400, "An edit shows its diff, and waits for an answer."),
    ("film-2-asked-4", 1600, "The tests run again."),
    ("film-2-asked-5", 2600, "Nearly full. At 100 % it compacts by itself, also in the middle of a turn."),
    ("film-3-compacted", 2800, "Compacted, and the work goes on. Nothing is deleted."),
    ("film-4-summary", 3400, "What the model sees now: a summary, and the files read again."),
    ("film-5-asked-for", 2600, "A click on the gauge compacts at any time."),
    ("film-6-undone", 3400, "Undo: the model sees exactly what it saw before."),
]
"""Picture, how many milliseconds it stands, and what it shows."""

STRIP = [
    ("film-2-asked-3", "It asks before it changes a file"),
    ("film-2-asked-5", "The gauge fills"),
    ("film-4-summary", "Compacted: the summary, unfolded"),
    ("film-6-undone", "Undone"),
]

STILLS = [
    ("film-1-start", "start", False),
    ("film-2-asked-3", "approval", True),
    ("film-2-asked-5", "full", False),
    ("film-4-summary", "summary", True),
]
"""Picture, name of what is made of it, and whether the panel alone is shown."""

CROPPED = [
    ("gauge", (880, 380, 1200, 750)),
    ("preview", (952, 30, 1200, 720)),
    ("timeline", (847, 30, 1200, 720)),
    ("command", (952, 30, 1200, 750)),
    ("sessions", (932, 30, 1200, 560)),
    ("going-back", (345, 0, 856, 200)),
    ("plan-accepted", (290, 0, 1200, 677)),
]
"""Pictures of the gallery of which the first pages show only a part: left, top, right and bottom."""

WALKTHROUGH = [
    ("film-1-start", "open", False),
    ("film-2-asked-3", "tour", True),
]
"""As in STILLS."""
GAUGE = (560, 360, 1200, 750)
"""Of the picture in the gallery: the gauge and what it says when it is pointed at."""
CHOICES = (400, 0, 1045, 325)
"""Of the picture of the walkthrough: the dialogue that asks for a model."""

CAPTION = 44
BACKGROUND = "#1b2530"
"""The banner's colour in the manifest of the extension."""
PANEL = 488
"""Pixels at the right that show the panel and the gauge below it."""
EDITOR = 352
"""Pixels at the left of the window that show the list of files, which tells nothing here."""
TOP = 34
"""Pixels of the window's title."""


def captioned(picture: Image.Image, words: str, size: int) -> Image.Image:
    whole = Image.new("RGB", (picture.width, picture.height + CAPTION), BACKGROUND)
    whole.paste(picture, (0, 0))
    font = ImageFont.load_default(size)
    ImageDraw.Draw(whole).text((picture.width / 2, picture.height + CAPTION / 2), words, "white", font, anchor="mm")
    return whole


def taken(folder: Path, name: str) -> Image.Image:
    """A picture of the editor, the panel and the status bar."""
    with Image.open(folder / f"{name}.png") as picture:
        return picture.convert("RGB").crop((EDITOR, TOP, picture.width, picture.height))


def film(folder: Path) -> tuple[list[Image.Image], list[int]]:
    frames: list[Image.Image] = []
    for name, _, words in FILM:
        frames.append(captioned(taken(folder, name), words, 20))
    return frames, [duration for _, duration, _ in FILM]


def strip(folder: Path) -> Image.Image:
    parts: list[Image.Image] = []
    for name, words in STRIP:
        parts.append(captioned(panel(taken(folder, name)), words, 22))
    gap = 16
    whole = Image.new("RGB", (sum(part.width for part in parts) + gap * (len(parts) - 1), parts[0].height), "white")
    for at, part in enumerate(parts):
        whole.paste(part, (at * (part.width + gap), 0))
    whole.thumbnail((1400, 1400), Image.Resampling.LANCZOS)
    return whole


def panel(picture: Image.Image) -> Image.Image:
    return picture.crop((picture.width - PANEL, 0, picture.width, picture.height))


def save(picture: Image.Image, path: Path) -> None:
    """With fewer colours, so that it stays small."""
    picture.quantize(160, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    tour, walkthrough, gallery, documents, extension = (Path(folder) for folder in sys.argv[1:])
    (first, *others), durations = film(tour)
    first.save(documents / "tour.webp", save_all=True, append_images=others, duration=durations, loop=0, quality=72, method=6)
    save(strip(tour), documents / "strip.png")
    for stills, target in ((STILLS, documents), (WALKTHROUGH, extension)):
        for name, still, is_panel in stills:
            save(panel(taken(tour, name)) if is_panel else taken(tour, name), target / f"{still}.png")
    for name, part in CROPPED:
        crop(gallery / f"{name}.png", part, documents / f"{name}.png")
    crop(gallery / "gauge.png", GAUGE, extension / "compact.png")
    crop(walkthrough / "4-model-asked.png", CHOICES, extension / "model.png")


def crop(path: Path, part: tuple[int, int, int, int], target: Path) -> None:
    with Image.open(path) as picture:
        save(picture.convert("RGB").crop(part), target)


if __name__ == "__main__":
    main()
