"""What a server sent as text: which kinds are read, and by which charset. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

from ullage.workspace.web_address import NotFetched

_TEXT = re.compile(r"text/[\w.+-]+|application/(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|[\w.+-]+\+(?:json|xml|yaml))")
HTML = frozenset(("text/html", "application/xhtml+xml"))
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{2,40})", re.IGNORECASE)
_KNOWN = frozenset(
    (
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic"),
        *("iso8859-1", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9"),
        *("iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "cp874", "cp1250", "cp1251", "cp1252", "cp1253"),
        *("cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "gb2312", "gbk", "gb18030", "big5", "big5hkscs", "euc_jp"),
        *("iso2022_jp", "shift_jis", "cp932", "euc_kr", "cp949", "tis-620"),
    )
)
"""The charsets of pages, by their names in Python. Others of its codecs are none, and some take the square of the length (`punycode`)."""
_LATIN = frozenset(("iso8859-1", "ascii", "cp1252"))
"""Charsets that servers name that know no better: text that is UTF-8 all through is UTF-8. Else all three mean the last, as in browsers."""


UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""The characters of a text that nobody sees: controls, marks that reorder, join or hide, and the tags in which a whole text can hide
(U+E0000 on)."""


def kind_of(headers: Mapping[str, str]) -> str:
    """The media type of an answer that can be read as text. Raises `NotFetched`."""
    kind = headers.get("content-type", "text/plain").split(";")[0].strip().lower()
    if not _TEXT.fullmatch(kind) and kind not in HTML:
        raise NotFetched(f"it is no text ({kind[:60]}). Save it in the workspace and attach the file")
    return kind


def is_binary(body: bytes) -> bool:
    """Whether a body cannot be text, whatever its media type says."""
    return b"\0" in body[:10_000] and not body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def decoded(body: bytes, content_type: str, *, is_cut: bool = False) -> str:
    """The text of a body, by its byte order mark, the charset that the answer names, or the page's own; else as UTF-8. Bytes that do not
    fit are replaced."""
    text = body.decode(_charset(body, content_type, is_cut), errors="replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _charset(body: bytes, content_type: str, is_cut: bool) -> str:
    for mark, charset in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if body.startswith(mark):
            return charset
    named = re.search(r"charset\s*=\s*[\"']?([\w-]{2,40})", content_type, re.IGNORECASE)
    own = _CHARSET.search(body[:2_048])
    charsets = [_known(named.group(1)) if named else "", _known(own.group(1).decode("ascii")) if own else ""]
    wanted = next((charset for charset in charsets if charset), "utf-8")
    if wanted != "utf-8" and wanted not in _LATIN:
        return wanted
    if _is_utf8(body, is_cut):
        return "utf-8"
    other = next((charset for charset in charsets if charset and charset != "utf-8"), "")
    return "cp1252" if other in _LATIN else other or "utf-8"


def _known(charset: str) -> str:
    """The name in Python of a charset of pages; empty if it is none."""
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return ""
    return name if name in _KNOWN else ""


def _is_utf8(body: bytes, is_cut: bool) -> bool:
    """Whether a body is UTF-8 all through. If it was cut, its last character may be half there."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body, final=not is_cut)
    except UnicodeDecodeError:
        return False
    return True
