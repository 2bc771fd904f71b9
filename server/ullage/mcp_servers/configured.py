"""Which MCP servers somebody has configured, and how each is reached: read from files of the workspace and from the user's settings.

Three places, in the forms that other programs have: the setting `ullage.mcp.servers`, `.mcp.json` (`mcpServers`) and `.vscode/mcp.json`
(`servers`). Beside them, what an editor names for its sessions (`acp/`), in the same form. All of it is checked here. What cannot be used
says why, in words for the user. A file of the workspace is not the user's word: nothing of it is started before they trust it
(`servers.py`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, cast
from urllib.parse import urlsplit

from ullage.context.blocks import Json
from ullage.context.quoting import visible_line
from ullage.workspace.regular_files import open_regular

Source: TypeAlias = Literal["settings", ".mcp.json", ".vscode/mcp.json"]

FILES: tuple[tuple[Source, str], ...] = ((".mcp.json", "mcpServers"), (".vscode/mcp.json", "servers"))
"""The files in each workspace folder, and where in them the servers stand."""

MOST_SERVERS = 50
MOST_BYTES = 500_000
"""The most bytes of a file; such files have a few hundred."""

MOST_WORDS, LONGEST_WORD = 200, 8_000
"""How many arguments, variables or headers one server may have, and how many characters each of them."""

LEAST_SECONDS, MOST_SECONDS = 1, 3_600
CALL_SECONDS = 300.0
"""How long a call may take where nothing else is configured. A user can stop a call at any time."""

_SETTINGS = "the settings"

EDITOR = "your editor"
"""The place of a server that the user's editor has named. It counts as the user's own configuration, as the settings do."""

HERE = ("localhost", "127.0.0.1", "::1")
"""The hosts that name this machine."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,47}")

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")

_SECRET_NAME = re.compile(r"KEY$|TOKEN|SECRET|(?<!ASK)PASS(?:WORD|WD|PHRASE)?$|CREDENTIAL|COOKIE|^AUTHORIZATION$|JWT|_PAT$", re.IGNORECASE)

_COMMENT = r"(?://[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z))"
_NOT_PLAIN = re.compile(rf'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?|{_COMMENT}|,(?=\s*+(?:{_COMMENT}\s*+)*[\]}}])', re.DOTALL)
"""Parts of JSON as editors write it: a text, which stays; a comment or a comma too many, which goes. No quantifier gives back what it
matched: with a file of a workspace that could take for ever."""

_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which JSON can hold and nothing else takes."""


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A program that is talked with over its standard input and output. Variables are filled in."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: Path = Path()


@dataclass(frozen=True, slots=True)
class Http:
    """A service that is reached over HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def host(self) -> str:
        """The host and the port, as the user is asked about them."""
        return urlsplit(self.url).netloc.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Configured:
    """One server as somebody configured it."""

    name: str
    source: Source
    file: str
    """The file that configures it, as the user knows it; empty for the settings."""
    reached: StdioServer | Http | None
    """The program or the service; None if it cannot be used."""
    fingerprint: str = ""
    """Changes with anything in its configuration, variables not filled in."""
    identity: str = ""
    """A digest that the user's rules for its tools hold by. It changes with what is started or asked, but not with how long a call may
    take, and not with whether it is off. Of a server of the settings it is the same in all folders."""
    trouble: str = ""
    """Why it cannot be used, in words for the user; empty if it can."""
    seconds: float = CALL_SECONDS
    """How long a call may take."""
    off: bool = False
    """Whether its configuration says that it is not to be started."""
    starts: bool = False
    """Whether it is started without a question: the user configured it, and nothing leaves this machine by it."""
    in_words: str = ""
    """All that says what runs or is asked, in a line for the user: variables of the environment as they are written, since they may hold
    secrets, and since it matters which of them go where."""


class _Wrong(Exception):
    """A server cannot be used as it is configured; the message says why."""


@dataclass(frozen=True, slots=True)
class VariableValues:
    """The values that variables stand for."""

    folder: Path
    """The workspace folder."""
    environment: Mapping[str, str]
    home: Path
    as_written: bool = False
    """Whether variables of the environment stay as they are written."""
    literal: bool = False
    """Whether nothing stands for something else: an editor has filled in its variables itself."""


def configured(
    roots: Sequence[Path],
    settings: Mapping[str, object],
    environment: Mapping[str, str],
    home: Path,
    of_editor: Mapping[str, Mapping[str, object]] | None = None,
) -> tuple[tuple[Configured, ...], tuple[str, ...]]:
    """All servers, those of the settings first, then those that the editor names, and what is wrong with whole files. If two have the same
    name the first counts, and the problems name the other. Reads files: for another thread."""
    found: list[Configured] = []
    problems: list[str] = []
    first_places = VariableValues(roots[0] if roots else home, environment, home)
    of_settings = (replace(each, starts=isinstance(each.reached, StdioServer)) for each in _servers(settings, "settings", "", first_places))
    for each in (*of_settings, *_of_editor(of_editor or {}, first_places), *_of_files(roots, environment, home, problems)):
        first = next((other for other in found if other.name == each.name), None)
        if first is not None:
            place, other = each.file or _SETTINGS, first.file or _SETTINGS
            problems.append(f"The MCP server {each.name} of {place} is left out: {other} has one of the same name")
        elif len(found) < MOST_SERVERS:
            found.append(each)
        else:
            problems.append(f"Only the first {MOST_SERVERS} MCP servers are used")
            break
    return tuple(found), tuple(problems)


def _of_files(roots: Sequence[Path], environment: Mapping[str, str], home: Path, problems: list[str]) -> Iterator[Configured]:
    for root in roots:
        for source, key in FILES:
            file = root / source
            named = source if root == roots[0] else f"{root.name}/{source}"
            try:
                with open_regular(file) as opened:
                    text = opened.read(MOST_BYTES + 1)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                problems.append(f"{named} cannot be read: {error.strerror or error}")
                continue
            try:
                if len(text) > MOST_BYTES:
                    raise ConfigurationNotJson(f"it has more than {MOST_BYTES:,} bytes")
                whole = read_commented(text.decode("utf-8"))
            except (ConfigurationNotJson, UnicodeDecodeError) as error:
                problems.append(f"{named} is not used: {error}")
                continue
            servers = whole.get(key) if isinstance(whole, dict) else None
            if not isinstance(servers, dict):
                problems.append(f"{named} names no MCP servers: they stand in an object `{key}`")
                continue
            yield from _servers(cast("dict[str, object]", servers), source, named, VariableValues(root, environment, home))


def _of_editor(named: Mapping[str, Mapping[str, object]], places: VariableValues) -> Iterator[Configured]:
    """The servers that the editor names. What the user decides about one holds for its command or its address, and only that is shown: an
    editor fills in the keys of variables and headers, and they may change each time."""
    literal = replace(places, literal=True)
    for name, value in named.items():
        lasting = {key: value[key] for key in ("command", "args", "url") if key in value}
        (each,) = _servers({name: value}, "settings", EDITOR, literal)
        here = isinstance(each.reached, StdioServer) or (each.reached is not None and urlsplit(each.reached.url).hostname in HERE)
        in_words = "" if each.reached is None else _in_words(lasting, each.reached, literal)
        fingerprint, identity = _digest(EDITOR, str(places.folder), name, lasting), _digest(EDITOR, "", name, lasting)
        yield replace(each, fingerprint=fingerprint, identity=identity, starts=here, in_words=in_words)


def _identity(source: Source, places: VariableValues, name: str, given: Mapping[str, object]) -> str:
    lasting = {key: value for key, value in given.items() if key not in ("timeout", "disabled", "enabled")}
    return _digest(source, "" if source == "settings" else str(places.folder), name, lasting)


def _digest(*parts: object) -> str:
    written = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:32]


def _servers(servers: Mapping[str, object], source: Source, file: str, places: VariableValues) -> Iterator[Configured]:
    for name, value in servers.items():
        fingerprint = _digest(source, str(places.folder), name, value)
        try:
            if NAME.fullmatch(name) is None:
                raise _Wrong("its name has other characters than letters, digits, `.`, `_` and `-`, or more than 48")
            yield _server(name, value, source, file, fingerprint, places)
        except _Wrong as wrong:
            named = "".join(filter(str.isprintable, name))[:48] or "?"
            yield Configured(named, source, file, None, fingerprint, trouble=str(wrong))


def _server(name: str, value: object, source: Source, file: str, fingerprint: str, places: VariableValues) -> Configured:
    if not isinstance(value, dict):
        raise _Wrong("its configuration is no object")
    given = cast("dict[str, object]", value)
    kind = given.get("type", given.get("transport"))
    url, command = given.get("url", given.get("serverUrl")), given.get("command")
    if (url is None) == (command is None):
        raise _Wrong("it needs either a `command` or a `url`")
    if kind in ("sse", "ws"):
        raise _Wrong(f"its type is `{kind}`, an older way over HTTP that Ullage does not speak; most services offer `http` as well")
    if kind is not None and kind not in (("stdio",) if url is None else ("http", "streamable-http", "streamableHttp")):
        raise _Wrong("its `type` does not fit; there is `stdio` with a `command` and `http` with a `url`")
    seconds = given.get("timeout", CALL_SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise _Wrong(f"its `timeout` must be a number of seconds from {LEAST_SECONDS} to {MOST_SECONDS}")
    off = given.get("disabled") is True or given.get("enabled") is False
    reached = _stdio(given, places) if url is None else _http(given, url, places)
    identity, in_words = _identity(source, places, name, given), _in_words(given, reached, places)
    return Configured(name, source, file, reached, fingerprint, identity, seconds=float(seconds), off=off, in_words=in_words)


def _in_words(given: Mapping[str, object], reached: StdioServer | Http, places: VariableValues) -> str:
    written = replace(places, as_written=True)
    if isinstance(reached, Http):
        headers = _texts(given, "headers", written)
        address = _filled(_text(given.get("url", given.get("serverUrl")), "url"), written).strip()
        return visible_line(" ".join((address, *(f"{name}: {_without_secrets(name, value)}" for name, value in headers.items()))))
    variables = (f"{name}={_quoted(_without_secrets(name, value))}" for name, value in _texts(given, "env", written).items())
    words = (_filled(_text(word, "args"), written) for word in cast("list[object]", given.get("args", [])))
    command = " ".join((*variables, _filled(_text(given.get("command"), "command"), written).strip(), *map(_quoted, words)))
    return visible_line(command if reached.folder == places.folder else f"cd {_quoted(str(reached.folder))} && {command}")


def _without_secrets(name: str, value: str) -> str:
    """A value as it may stand in a list. It is left out if its name calls it a secret; no other is shortened: it may be what runs."""
    return "…" if _SECRET_NAME.search(name) and "${" not in value else value


def _stdio(given: Mapping[str, object], places: VariableValues) -> StdioServer:
    command = _filled(_text(given.get("command"), "command"), places).strip()
    if not command:
        raise _Wrong("its `command` is empty")
    if given.get("envFile") is not None:
        raise _Wrong("it names an `envFile`, which Ullage does not read; write the variables into `env`")
    args = given.get("args", [])
    if not isinstance(args, list) or len(cast("list[object]", args)) > MOST_WORDS:
        raise _Wrong(f"its `args` must be a list of at most {MOST_WORDS} texts")
    words = tuple(_filled(_text(each, "args"), places) for each in cast("list[object]", args))
    try:
        folder = places.folder / Path(_filled(_text(given.get("cwd", "."), "cwd"), places)).expanduser()
    except RuntimeError:
        raise _Wrong("its `cwd` names the home folder of a user who is not there") from None
    return StdioServer(command, words, _texts(given, "env", places), folder)


def _http(given: Mapping[str, object], url: object, places: VariableValues) -> Http:
    address = _filled(_text(url, "url"), places).strip()
    try:
        parts = urlsplit(address) if address.isprintable() and " " not in address else None
        is_one = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a host in odd brackets, a port that is none
        parts, is_one = None, False
    if parts is None or not is_one:
        raise _Wrong("its `url` must begin with `https://` or `http://`")
    if parts.username or parts.password:
        raise _Wrong("its `url` has a name or a password in it; use `headers`")
    if parts.scheme == "http" and parts.hostname not in HERE:
        raise _Wrong("its `url` must begin with `https://`, unless it is on this machine")
    headers = _texts(given, "headers", places)
    if any(not re.fullmatch(r"[A-Za-z0-9-]{1,100}", name) or not value.isprintable() for name, value in headers.items()):
        raise _Wrong("its `headers` have a name or a value that no header can have")
    return Http(address, headers)


def _texts(given: Mapping[str, object], key: str, places: VariableValues) -> dict[str, str]:
    value = given.get(key, {})
    if not isinstance(value, dict) or len(cast("dict[str, object]", value)) > MOST_WORDS:
        raise _Wrong(f"its `{key}` must be an object of at most {MOST_WORDS} texts")
    found: dict[str, str] = {}
    for name, each in cast("dict[str, object]", value).items():
        if each is None:
            continue
        if not name or not name.isprintable() or "=" in name:
            raise _Wrong(f"its `{key}` has a name that cannot be")
        found[name] = _filled(_text(str(each) if isinstance(each, int | float) else each, key), places)
    return found


def _text(value: object, key: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_WORD or "\0" in value or _HALF.search(value):
        raise _Wrong(f"its `{key}` must be text of at most {LONGEST_WORD:,} characters")
    return value


def _filled(text: str, places: VariableValues) -> str:
    """The text with the values of its variables, as VS Code (`${env:X}`, `${workspaceFolder}`) and others (`${X}`, `${X:-default}`) write
    them."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in ("workspaceFolder", "workspaceRoot"):
            return str(places.folder)
        if name == "workspaceFolderBasename":
            return places.folder.name
        if name in ("userHome", "HOME"):
            return str(places.home)
        if name in ("/", "pathSeparator"):
            return "\\" if "\\" in str(places.folder) else "/"
        if name.startswith("input:"):
            raise _Wrong(f"it asks for input with `{match[0][:60]}`, which Ullage does not do; use an environment variable")
        variable, _, default = name.removeprefix("env:").partition(":-")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
            raise _Wrong(f"it has a variable that Ullage does not know: `{match[0][:60]}`")
        if places.as_written:
            return match[0]
        found = places.environment.get(variable)
        if found is None and ":-" not in name:
            raise _Wrong(f"it needs the environment variable `{variable}`, which is not set where the server of Ullage runs")
        return default if found is None else found

    return text if places.literal else _VARIABLE.sub(value, text)


def _quoted(word: str) -> str:
    return word if word and not re.search(r"[\s\"'$`\\]", word) else json.dumps(word, ensure_ascii=False)


class ConfigurationNotJson(Exception):
    """The text of a configuration is no JSON; the message says where."""


def read_commented(text: str) -> Json:
    """The value of a JSON text. It may have comments, and commas behind the last element. Raises `ConfigurationNotJson`."""
    plain = _NOT_PLAIN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text.removeprefix("\ufeff"))
    try:
        return cast("Json", json.loads(plain))
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigurationNotJson(f"it is no JSON{where}") from error
