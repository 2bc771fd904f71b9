"""Makes the site: the pages gathered, the generator run over them, and what came of it looked at."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from website.checking import foreign_loads
from website.gathering import gather
from website.pages import REPOSITORY, ROOT, Page, Section, pages, sections

HERE = Path(__file__).parent

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class BuildError(Exception):
    """What the generator, or the look at what it made, did not let pass."""


def build(work: Path, site: Path) -> None:
    """Make the site from the repository's documents.

    `work` is a folder for what lies in between; it is made anew. `site` is replaced only if all went well.
    Raises BrokenLinkError for a link that leads nowhere, and BuildError for what else is wrong; each says where.
    """
    shutil.rmtree(work, ignore_errors=True)
    gather(pages(), work / "pages")
    shutil.copytree(HERE / "assets", work / "pages" / "assets")
    shutil.copytree(HERE / "overrides", work / "overrides")
    more = f"[project]\nnav = {_nav(sections())}\nrepo_url = {json.dumps(REPOSITORY)}\n"
    configuration = (HERE / "zensical.toml").read_text("utf-8").replace("[project]\n", more, 1)
    (work / "zensical.toml").write_text(configuration, "utf-8")
    _generate(work)
    made = work / "site"
    missing = [page.place for page in pages() if not (made / page.place).with_suffix(".html").is_file()]
    if missing:
        raise BuildError(f"The generator made no page of {', '.join(missing)}")
    foreign = foreign_loads(made)
    if foreign:
        raise BuildError("The site would load from other hosts:\n" + "\n".join(foreign))
    shutil.rmtree(site, ignore_errors=True)
    site.parent.mkdir(parents=True, exist_ok=True)
    made.rename(site)


def _generate(work: Path) -> None:
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=work, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        # Its own traceback, which follows what is wrong, says only that it stopped.
        said = _COLOURS.sub("", done.stdout + done.stderr.partition("Traceback (most recent call last)")[0])
        raise BuildError(f"The generator stopped. Places are those in {work / 'pages'}:\n{said.strip() or done.stderr}")


def _nav(of: Iterable[Section]) -> str:
    """The navigation as TOML: a JSON string is one of TOML, too."""
    return "[" + ", ".join(f"{{ {json.dumps(section.title)} = {_entries(section.pages)} }}" for section in of) + "]"


def _entries(of: Iterable[Page]) -> str:
    return "[" + ", ".join(f"{{ {json.dumps(page.title)} = {json.dumps(page.place)} }}" for page in of) + "]"


DEFAULT_WORK = ROOT / ".dev" / "docs"
DEFAULT_SITE = ROOT / ".dev" / "site"
