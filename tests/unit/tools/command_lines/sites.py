"""A folder in which command lines are judged."""

from __future__ import annotations

from pathlib import Path

from ullage.tools.command_lines.judge import Site
from ullage.tools.permission import command_need

SEARCH_PATH = "/usr/bin:/bin"

FILES = ("src/a.py", "src/b.py", "tests/test_a.py", "lib/a", "README.md", "package.json", "a", "a.py", "b", "x", "größe.txt")


def make_site(folder: Path, *, caged: bool = False, search_path: str = SEARCH_PATH) -> Site:
    """A site in `folder`, with some files, installed tools and a link out of it."""
    for name in (*FILES, "node_modules/.bin/tsc", "node_modules/.bin/prettier"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1\n")
    outside = folder.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret").write_text("secret\n")
    for name, target in (("link", outside), ("file-link", outside / "secret"), ("inner-link", folder / "src"), ("lib/out", outside)):
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(target)
    return Site(folder.resolve(), search_path, (folder.resolve(),), caged)


def parts(line: str, site: Site | None) -> tuple[str, ...]:
    """What a line would be remembered as."""
    return command_need(line, site).parts
