"""What MCP servers offer to the user: prompts, which are called like commands (`/server:prompt`), and resources, which are attached.

Neither is read before the user names it. What comes says whose it is.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from ullage.context.blocks import Media
from ullage.context.entries import NO_FILE, Attachment
from ullage.mcp_servers.offers import OfferedPrompt
from ullage.mcp_servers.results import ServerResult, headed
from ullage.mcp_servers.servers import NoSuchServer, ServerFailed, Servers
from ullage.session.errors import SessionError
from ullage.session.instructions.prompt_files import NAME, TEXT_CHARACTERS
from ullage.store.errors import StoreFailed
from ullage.tools.media import MediaShelf, NotShown, show_bytes
from ullage.workspace.media_file import DamagedMedia
from ullage.workspace.text_file import FileTooLarge

_CALLED = re.compile(rf"/({NAME})(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(NAME, re.IGNORECASE)


def offered_prompts(servers: Servers | None) -> Iterator[tuple[str, OfferedPrompt, str]]:
    """The prompts of MCP servers that can be called: the name by which the user calls each, the prompt, and its server."""
    for server, offers in servers.prompts() if servers is not None else ():
        for prompt in offers.prompts:
            name = f"{server}:{prompt.name}".lower()
            if _NAMED.fullmatch(name) is not None:
                yield name, prompt, server


def hint_of(prompt: OfferedPrompt) -> str:
    """What can follow the name of a prompt, for the user."""
    return " ".join(f"[{each.name}]" if each.required else f"[{each.name}?]" for each in prompt.arguments)


async def called_prompt(text: str, servers: Servers | None, shelf: MediaShelf) -> Attachment | None:
    """What is attached to a prompt that calls one of an MCP server; None if it calls none. Raises `SessionError`."""
    match = _CALLED.fullmatch(text.strip())
    found = None if match is None else next((each for each in offered_prompts(servers) if each[0] == match[1].lower()), None)
    if match is None or found is None or servers is None:
        return None
    name, prompt, server = found
    try:
        answered = await servers.prompt(server, prompt.name, _arguments(prompt, (match[2] or "").strip()))
    except (NoSuchServer, ServerFailed) as error:
        raise SessionError("invalid", str(error)) from error
    words, media = await _shown(answered, shelf)
    said = f"The user calls the prompt `/{name}` of the MCP server `{server}`. It says:\n\n{words}"
    return Attachment(f"{NO_FILE}/{name}", said, media)


def _arguments(prompt: OfferedPrompt, typed: str) -> dict[str, str]:
    """What was typed, by the names of the arguments: `name=value`, or in their order; the last one takes the rest."""
    names = [each.name for each in prompt.arguments]
    given: dict[str, str] = {}
    if len(names) == 1 and not typed.startswith(f"{names[0]}="):
        given = {names[0]: typed} if typed else {}
    else:
        plain: list[str] = []
        for word in _words(typed):
            name, equals, value = word.partition("=")
            if equals and name in names:
                given[name] = value
            else:
                plain.append(word)
        left = [name for name in names if name not in given]
        if left and len(plain) > len(left):
            plain[len(left) - 1 :] = [" ".join(plain[len(left) - 1 :])]
        given |= dict(zip(left, plain, strict=False))
    missing = [each.name for each in prompt.arguments if each.required and not given.get(each.name)]
    if missing:
        raise SessionError("invalid", f"This prompt needs {', '.join(missing)} behind its name")
    return given


def _words(typed: str) -> list[str]:
    try:
        return shlex.split(typed)
    except ValueError:
        return typed.split()


async def attached_resource(server: str, uri: str, servers: Servers | None, shelf: MediaShelf) -> Attachment:
    """The attachment with what a resource says now. Raises `SessionError`."""
    try:
        if servers is None:
            raise NoSuchServer("There are no MCP servers here")
        answered = await servers.resource(server, uri)
    except (NoSuchServer, ServerFailed) as error:
        raise SessionError("invalid", f"The resource cannot be attached: {error}") from error
    words, media = await _shown(answered, shelf)
    return Attachment(f"{NO_FILE}{server}:{uri}", headed(server, words), media)


async def _shown(answered: ServerResult, shelf: MediaShelf) -> tuple[str, Media | None]:
    """The words that a server answered, and its first image; None if it has none that can be shown."""
    said = answered.text
    if len(said) > TEXT_CHARACTERS:
        said = f"{said[:TEXT_CHARACTERS]}\n[cut here: it has {len(said):,} characters]"
    if not answered.images:
        return said, None
    try:
        shown = await show_bytes(answered.images[0], shelf)
    except (DamagedMedia, NotShown, StoreFailed, FileTooLarge) as error:
        return f"{said}\n[an image that cannot be shown: {error}]".strip(), None
    return (said, None) if shown is None else (f"{said}\n{shown.words}".strip(), shown.media)
