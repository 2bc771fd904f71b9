"""What in a text is a path, a name of something in code, a hash or a URL. Told by their form alone; nothing is counted or weighed here.

Of a result that was clipped, the names that stood only in the part that went (`names_left_out`): the model never saw it, but a summary can
say what is where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ullage.context.redact import redact

SHORTEST_NAME, LONGEST_NAME = 4, 100
LONGEST_PATH = 200

TOKEN = re.compile(r"[\w@~+/.-]+")
"""Whatever may be a path. Words are only looked for in the different ones, since most tokens of a long output come again and again."""
WORD = re.compile(r"\w+")
JOINT = re.compile(r"[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")
"""A place where the words of a name meet: `readLevel`, `tank_level`. A name of one plain word cannot be told from prose."""
NAME = re.compile(r"[A-Za-z_]\w{3,99}")
HASH = re.compile(r"(?=[a-f]{0,63}[0-9])[0-9a-f]{7,64}")
"""A commit, or the number of a job or comment, which is as opaque and as needed."""
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
URL = re.compile(r"https?://[^\s\"'<>)\]}`,\\]+")
ESCAPE = re.compile(r"\\[nrt]")
"""An escape in a string of code or JSON; its letter is no part of the word after it."""
FILE_NAME = re.compile(r"[\w@+.-]*\w\.[A-Za-z][A-Za-z0-9]{0,9}")
_SPACELESS = "\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts that are written without spaces, or that join a short word to the one after it: Arabic, Thai, Japanese, Chinese, Korean."""
JOINED = re.compile(rf"(?<=[A-Za-z0-9_])[{_SPACELESS}]++|(?<![{_SPACELESS}])[{_SPACELESS}]++(?=[A-Za-z0-9_])")
"""Where such a script touches a name: `修改readLevel函数` holds one. A file name in that script (`说明.md`) stays whole."""
BARE_SUFFIXES = frozenset(
    [
        "bat",
        "c",
        "cc",
        "cfg",
        "conf",
        "cpp",
        "cs",
        "css",
        "csv",
        "env",
        "go",
        "gradle",
        "h",
        "hpp",
        "html",
        "ini",
        "ipynb",
        "java",
        "js",
        "json",
        "jsonl",
        "jsx",
        "kt",
        "less",
        "lock",
        "log",
        "lua",
        "m",
        "md",
        "mjs",
        "mod",
        "php",
        "pl",
        "proto",
        "ps1",
        "py",
        "pyi",
        "r",
        "rb",
        "rs",
        "rst",
        "sass",
        "scala",
        "scss",
        "sh",
        "sql",
        "sum",
        "svelte",
        "svg",
        "swift",
        "tex",
        "tf",
        "toml",
        "ts",
        "tsx",
        "txt",
        "vue",
        "xml",
        "yaml",
        "yml",
        "zig",
    ]
)
"""Suffixes by which a name without a folder is known as a file; `client.send` is none."""

READ_CHARACTERS = 100_000
"""Characters that are read of the whole output, which takes about 15 ms."""
MOST_NAMES = 2_000
ENDS = "\n\t \"',;"
"""Characters with which a secret ends, at the latest."""


@dataclass(frozen=True, slots=True)
class Words:
    """The names and paths that stand in a text, each once."""

    names: frozenset[str] = frozenset()
    """Identifiers, hashes, URLs."""
    paths: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """The number of names and paths."""
        return len(self.names) + len(self.paths)


def words_in(text: str) -> Words:
    """The paths and names in `text`. A name that only stands in a path is left out, since the path has it."""
    if "\\" in text:
        text = ESCAPE.sub(" ", text)
    if not text.isascii():
        text = JOINED.sub(" ", text)
    paths: set[str] = set()
    pieces: list[str] = []
    for token in set(TOKEN.findall(text)):
        if "." in token and (path := _path(token)):
            paths.add(path)
        else:
            pieces.append(token)
    names = {word for word in set(WORD.findall(" ".join(pieces))) if _is_name(word)}
    if "-" in text:
        ids = UUID.findall(text)
        names.update(ids)
        names.difference_update(part for id in ids for part in id.split("-"))
    if "://" in text:
        names.update(url.rstrip(".") for url in URL.findall(text) if len(url) <= LONGEST_NAME)
    return Words(frozenset(names), frozenset(paths))


def is_opaque(name: str) -> bool:
    """Whether a name says nothing by itself: a hash, a number, an address."""
    return HASH.fullmatch(name) is not None or UUID.fullmatch(name) is not None or "://" in name


def tail_of(path: str) -> str:
    """The last two components of a path, by which a file is known however its path begins."""
    return "/".join([part for part in path.replace("\\", "/").split("/") if part][-2:])


def basename(path: str) -> str:
    """The last component of a path."""
    if "/" not in path and "\\" not in path:
        return path  # most names in a text have no folder, and this is fast
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _is_name(word: str) -> bool:
    if len(word) < SHORTEST_NAME or (word.isalpha() and word[1:].islower()):
        return False  # the patterns would tell it, too, but most words are such, and this is fast
    return bool(JOINT.search(word) and NAME.fullmatch(word)) or bool(HASH.fullmatch(word))


def _path(token: str) -> str:
    """The path that the token is; empty if it is none."""
    path = token.rstrip(".-")
    if len(path) > LONGEST_PATH or path.startswith("//"):
        return ""
    _, slash, name = path.rpartition("/")
    suffix = name.rpartition(".")[2]
    if not FILE_NAME.fullmatch(name) or (not slash and suffix not in BARE_SUFFIXES):
        return ""
    return path


def names_left_out(whole: str, content: str) -> tuple[str, ...]:
    """The names and paths in `whole` that are not in `content`, which is what was kept of it; in alphabetical order."""
    words = words_in(redact(_begun(whole)))  # redacted here: a name by itself does not show what it is the value of
    stayed = words_in(content)
    return tuple(sorted((words.names - stayed.names) | (words.paths - stayed.paths))[:MOST_NAMES])


def _begun(whole: str) -> str:
    """As much of the text as is read. A secret that was cut in two would not be recognised, so it ends after a character in `ENDS`."""
    if len(whole) <= READ_CHARACTERS:
        return whole
    return whole[: 1 + max(whole.rfind(end, 0, READ_CHARACTERS) for end in ENDS)]
