"""Commands that can be typed in place of a prompt: `/compact`, `/undo`. A front end that has its own ways for them needs none of this; one
that has not sends what was typed, and shows the answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.models.model import EffortChoice
from ullage.session.errors import SessionError, refusing
from ullage.session.history.context_view import Query
from ullage.session.instructions.listing import IN_FORCE
from ullage.session.instructions.prompt_files import is_built_in
from ullage.session.lists_in_words import decide_hook, hooks_in_words, mcp_in_words, running_in_words
from ullage.session.timeline.shown_entries import title_of
from ullage.session.turns.modes import MODES

if TYPE_CHECKING:  # they are given to it
    from ullage.context.changes.checkpoints import Checkpoint
    from ullage.session.history.cache_now import CacheNow
    from ullage.session.history.epochs import EpochInfo
    from ullage.session.session import Session
    from ullage.session.sessions.sessions import Sessions

_TYPED = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.DOTALL)

HITS = 10
"""Most places that a search by command names."""

LARGEST = 12
"""Most parts that `/context` names: the largest."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command, for a list. `hint` says what can follow its name; empty if nothing can."""

    name: str
    description: str
    hint: str = ""
    source: str = ""
    """The file of the project in which the command stands, or the MCP server that has it; empty for those of Ullage."""


COMMANDS = (
    SlashCommand("compact", "Compact the conversation; name what matters most", "[focus]"),
    SlashCommand("preview", "See what compacting would do", "[focus]"),
    SlashCommand("undo", "Undo the last compaction"),
    SlashCommand("redo", "Redo the compaction that was undone"),
    SlashCommand("timeline", "Show all compactions of this session"),
    SlashCommand("search", "Search all sessions of this workspace", "[words]"),
    SlashCommand("context", "Show what the context is made of"),
    SlashCommand("rules", "Show rules, skills and commands of the project, and which are in force"),
    SlashCommand("hooks", "Show hooks, and say which may run", "[allow|never|forget] [number]"),
    SlashCommand("mcp", "Show the MCP servers, or turn one on or off", "[on|off|restart] [name]"),
    SlashCommand("running", "Show the commands that run in the background, or stop one", "[stop|output] [id]"),
    SlashCommand("model", "Choose the model of this session", "[name]"),
    SlashCommand("effort", "Choose how much work the model puts into its answers", "[effort]"),
    SlashCommand("mode", "Choose what the agent may do: ask, plan or act", "[mode]"),
    SlashCommand("web", "Let the agent read and search the web in this workspace, or stop it", "[on|off]"),
    SlashCommand("rewind", "Go back to before a turn that changed files", "[number] [files]"),
    SlashCommand("fork", "Continue in a copy of this session"),
    SlashCommand("new", "Start a new session"),
    SlashCommand("help", "Show commands and keys"),
)
"""Ullage's own commands, in the order of a menu."""

_ALIASES = {"clear": "new"}


@dataclass(frozen=True, slots=True)
class Typed:
    """A command as it was typed."""

    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command did, in words for the user; `session_id` is a session that it made."""

    text: str
    session_id: str | None = None


def typed_command(text: str) -> Typed | None:
    """The command in a prompt; None if it is none: `/etc/hosts is wrong` is a prompt, and so is a word that is no command's name, or one
    with words after it where nothing can follow."""
    match = _TYPED.fullmatch(text.strip())
    if match is None:
        return None
    name, argument = _ALIASES.get(match[1], match[1]), (match[2] or "").strip()
    known = next((command for command in COMMANDS if command.name == name), None)
    return None if known is None or (argument and not known.hint) else Typed(name, argument)


async def carry_out(typed: Typed, sessions: Sessions, session: Session) -> CommandAnswer:
    """Carries out a command that was typed, and gives the answer to it. Raises `SessionError`, and nothing is done then."""
    return await _WAYS[typed.name](sessions, session, typed.argument)


async def _compact(_: Sessions, session: Session, focus: str) -> CommandAnswer:
    session.compact(focus)
    return CommandAnswer("Compacting the conversation.")


async def _preview(_: Sessions, session: Session, focus: str) -> CommandAnswer:
    found = await session.history.preview(focus)
    if found.nothing:
        return CommandAnswer(found.nothing)
    counts = found.counts
    gone = f"{counts.summarised:,} messages summarised, {counts.cleared:,} results cleared, {counts.snipped:,} messages cut out"
    sizes = f"Compacting now: {found.tokens_before:,} → {found.tokens_after:,} tokens. {gone}."
    return CommandAnswer(f"{sizes}\n\n{found.summary}".rstrip())


async def _undo(_: Sessions, session: Session, __: str) -> CommandAnswer:
    await session.history.undo()
    return CommandAnswer("The last compaction is undone.")


async def _redo(_: Sessions, session: Session, __: str) -> CommandAnswer:
    await session.history.redo()
    return CommandAnswer("The compaction is made again.")


async def _timeline(_: Sessions, session: Session, __: str) -> CommandAnswer:
    epochs, _fates = await session.history.epochs()
    return CommandAnswer("\n".join(f"{_epoch(each)}; now" if each.current else _epoch(each) for each in epochs))


def _epoch(epoch: EpochInfo) -> str:
    number, made, requests = epoch.number, epoch.compaction, epoch.requests
    if made is None:
        return f"{number}. the beginning; {requests:,} requests"
    if epoch.undone:
        return f"{number}. compaction, {made.tokens_before:,} → {made.estimated_after:,} tokens, undone; {requests:,} requests"
    return f"{number}. compaction, {made.tokens_before:,} → {made.estimated_after:,} tokens; {requests:,} requests"


async def _search(sessions: Sessions, _: Session, words: str) -> CommandAnswer:
    if not words:
        raise SessionError("invalid", "Name the words to search for: /search pump pressure")
    hits = await sessions.search(words, HITS)
    lines = [f"- {hit.session_title or 'New session'} ({hit.session_id}): {' '.join(hit.excerpt.split())}" for hit in hits]
    return CommandAnswer("\n".join(lines) or f"Nothing found for “{words}”.")


async def _context(_: Sessions, session: Session, __: str) -> CommandAnswer:
    gauge, page = session.snapshot(0).gauge, await session.context.look(Query(limit=LARGEST))
    parts = [f"- {part.name}: {part.tokens:,}" for part in gauge.categories]
    first = f"{gauge.used:,} of {gauge.threshold:,} tokens, at which it compacts; the model's window has {gauge.size:,}."
    largest = [f"- {row.title or row.part.kind}: {row.part.tokens:,}" for row in page.rows]
    cache = _cache_in_words(page.cache, session.now())
    missed = f"{page.missed:,} of {page.requests:,} requests missed the prompt cache." if page.missed else ""
    lines = [first, *parts, *(("", "The largest parts:", *largest) if largest else ()), *(each for each in ("", cache, missed) if each)]
    return CommandAnswer("\n".join(lines))


def _cache_in_words(cache: CacheNow, now: float) -> str:
    """How long the prompt cache stays warm and what the next prompt costs, warm and cold; empty if the prices are not known."""
    if cache.warm is None or cache.cold is None:
        return ""
    started, warm, cold = cache.request.started, cache.warm, cache.cold
    left = 0 if started is None else max(0, round(started + cache.request.lives - now))
    if not left:
        return f"The prompt cache is cold: the next prompt costs about ${cold:.2f}."
    time = f"{left // 60}:{left % 60:02}"
    return f"The prompt cache is warm for {time}: the next prompt costs about ${warm:.2f}, after that ${cold:.2f}."


async def _rules(_: Sessions, session: Session, __: str) -> CommandAnswer:
    listed = await session.instructions()
    lines: list[str] = [] if any(each.kind == "rules" for each in listed) else [NO_RULES]
    for each in listed:
        shown, state, name = _spelt(each.shown), _spelt(each.state), _spelt(each.name)
        if each.kind == "skill" and each.state == IN_FORCE:
            lines.append(f"- `{shown}`, {each.tokens:,} tokens: the skill `/{name}`")
        elif each.kind == "command" and each.state == IN_FORCE:
            lines.append(f"- `{shown}`: the command `/{name}`")
        else:
            lines.append(f"- `{shown}`, {each.tokens:,} tokens: {state}" if each.tokens else f"- `{shown}`: {state}")
        if each.source:
            lines.append(f"  It is imported by `{_spelt(each.source)}`.")
        if each.trouble:
            lines.append(f"  Mind: {_spelt(each.trouble)}.")
    return CommandAnswer("\n".join(lines))


async def _hooks(_: Sessions, session: Session, words: str) -> CommandAnswer:
    if words:
        await decide_hook(session.hooks, words)
    return CommandAnswer(hooks_in_words(await session.hooks.listed()))


def _spelt(text: str) -> str:
    """A file's name, or a sentence with one, as it can stand in a line of Markdown: it ends neither its line nor its code."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text).replace("`", "'")


async def offered_commands(session: Session | None) -> Sequence[SlashCommand]:
    """The commands that can be typed: Ullage's own, and those of the project and of MCP servers if a session is given."""
    own = () if session is None else await session.prompt_files()
    counting = (each for each in own if not each.trouble and not is_built_in(each.name))
    brought = [SlashCommand(each.name, each.description, each.hint, each.shown) for each in counting]
    known = {each.name for each in brought}
    of_servers = () if session is None else session.server_prompts()
    brought += [SlashCommand(name, said, hint, f"MCP: {server}") for name, said, hint, server in of_servers if name not in known]
    return (*COMMANDS, *brought)


NO_RULES = (
    "This project has no rules files. Ullage reads AGENTS.md, CLAUDE.md with its imports, .claude/rules, .cursor/rules, .cursorrules, "
    ".clinerules, .github/copilot-instructions.md and .github/instructions."
)


async def _mcp(sessions: Sessions, _: Session, argument: str) -> CommandAnswer:
    return CommandAnswer(await mcp_in_words(sessions, argument))


async def _running(_: Sessions, session: Session, words: str) -> CommandAnswer:
    return CommandAnswer(running_in_words(session, words))


async def _model(sessions: Sessions, session: Session, name: str) -> CommandAnswer:
    if name:
        await sessions.models.choose(session.id, name)
    model = session.snapshot(0).model
    shown = model.display_name or model.name
    return CommandAnswer(f"{shown} answers." if name else f"{shown} answers. /model NAME chooses another one.")


async def _effort(sessions: Sessions, session: Session, word: str) -> CommandAnswer:
    shown = session.snapshot(0)
    model, name = shown.model, shown.model.display_name or shown.model.name
    if not model.efforts:
        return CommandAnswer(f"{name} has no choice of effort.")
    choices: tuple[EffortChoice, ...] = ("default", *model.efforts)
    named: dict[str, EffortChoice] = {each: each for each in choices}
    choice = named.get(word.lower())
    if choice is None and word:
        raise SessionError("invalid", f"{name} has no effort {word}. It takes: default, {', '.join(model.efforts)}")
    if choice is not None:
        await sessions.models.choose_effort(session.id, choice)
        return CommandAnswer(f"Effort: {choice}. It counts from the next call on.")
    effort, dearer = model.effort or "default", shown.gauge.anew_cost
    first = f"Effort: {effort}. After a change the next request is not read from the prompt cache."
    if dearer is not None:
        first = f"Effort: {effort}. After a change the next request is not read from the prompt cache (about ${dearer:.2f} more, once)."
    return CommandAnswer("\n".join((first, *(f"- `/effort {each}`" for each in choices))))


async def _mode(_: Sessions, session: Session, name: str) -> CommandAnswer:
    chosen = next((mode for mode in MODES if name.lower() in (mode.id, mode.name.lower())), None)
    if name and chosen is None:
        raise SessionError("invalid", f"There is no mode {name}. The modes are: {', '.join(mode.id for mode in MODES)}")
    if chosen is not None:
        session.set_mode(chosen.id)
        return CommandAnswer(f"{chosen.name} mode. {chosen.description}")
    now = session.snapshot(0).mode
    lines = [
        f"- `/mode {mode.id}` (now): {mode.description}" if mode.id == now else f"- `/mode {mode.id}`: {mode.description}" for mode in MODES
    ]
    return CommandAnswer("\n".join(lines))


async def _web(_: Sessions, session: Session, word: str) -> CommandAnswer:
    if session.web is None:
        raise SessionError("invalid", "This workspace is not trusted, so the agent sends nothing to the web")
    if word.lower() not in ("", "on", "off"):
        raise SessionError("invalid", "Type /web on or /web off; /web alone says how it is now")
    await session.learn_model()  # whether it searches
    on, shown = word.lower() == "on", session.snapshot(1)
    turned = word != "" and on != session.web
    if turned:
        with refusing():
            session.turn_web(on=on)
    lines = [WEB_ON, _searching(session)] if session.web else [WEB_OFF]
    if not turned or not shown.items:
        return CommandAnswer("\n".join(lines))
    dearer = shown.gauge.anew_cost
    when = "This session knows it from its next prompt on, which is not read from the prompt cache."
    if dearer is not None:
        when = f"This session knows it from its next prompt on, which is not read from the prompt cache (about ${dearer:.2f} more, once)."
    return CommandAnswer("\n".join([*lines, when]))


def _searching(session: Session) -> str:
    return SEARCHES.format(who=session.searches_web) if session.searches_web else NO_SEARCH


SEARCHES = "It may also search the web, and asks you first: the search is made by {who}."
NO_SEARCH = "The model in use has no search of its own. A tool of an MCP server can search (`/mcp`)."
WEB_ON = "The web is on in this workspace: the agent may read pages, and asks you about each host. `/web off` ends it."
WEB_OFF = "The web is off in this workspace: the agent cannot read pages. `/web on` lets it; it then asks you about each host."


async def _rewind(sessions: Sessions, session: Session, words: str) -> CommandAnswer:
    found = await session.going_back.checkpoints()
    number, _, what = words.partition(" ")
    if not number:
        lines = [_listed(index, each) for index, each in enumerate(found, 1)]
        return CommandAnswer("\n".join((*lines, "", REWIND)) if lines else "Nothing to go back to: no turn has changed files yet.")
    if not number.isdecimal() or not 0 < int(number) <= len(found) or what not in ("", "files"):
        raise SessionError("invalid", f"There is no such checkpoint. {REWIND}")
    checkpoint = found[int(number) - 1]
    decided = await session.restore(checkpoint.id)
    left = [f"- {each.path}: {each.why}" for each in decided if each.outcome == "conflict"]
    said = [f"Went back: {_files(sum(each.outcome == 'done' for each in decided))} changed."]
    said += ["Left as they are:", *left] if left else []
    if what or checkpoint.forward:
        return CommandAnswer("\n".join(said))
    made = (await sessions.fork(session.id, checkpoint.id)).session
    return CommandAnswer("\n".join((*said, f"The conversation up to there goes on in “{made.title}” ({made.id}).")), made.id)


REWIND = "`/rewind NUMBER` goes back to before that turn, in files and conversation; `/rewind NUMBER files` in files alone."


def _listed(number: int, checkpoint: Checkpoint) -> str:
    title, files = title_of(checkpoint.title), _files(checkpoint.files)
    if checkpoint.forward:
        return f"{number}. forward again, as it was before you went back to “{title}” ({files})"
    return f"{number}. before “{title}” ({files})"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


async def _fork(sessions: Sessions, session: Session, _: str) -> CommandAnswer:
    made = (await sessions.fork(session.id)).session
    return CommandAnswer(f"Forked as “{made.title}” ({made.id}). This session stays as it is.", made.id)


async def _new(sessions: Sessions, _: Session, __: str) -> CommandAnswer:
    made = await sessions.create()
    return CommandAnswer(f"A new session was made ({made.id}).", made.id)


async def _help(_: Sessions, session: Session, __: str) -> CommandAnswer:
    offered = await offered_commands(session)
    return CommandAnswer("\n".join(f"- `/{' '.join(filter(None, (each.name, each.hint)))}`: {each.description}" for each in offered))


_WAYS: dict[str, Callable[[Sessions, Session, str], Awaitable[CommandAnswer]]] = {
    "compact": _compact,
    "preview": _preview,
    "undo": _undo,
    "redo": _redo,
    "timeline": _timeline,
    "search": _search,
    "context": _context,
    "rules": _rules,
    "hooks": _hooks,
    "mcp": _mcp,
    "running": _running,
    "model": _model,
    "mode": _mode,
    "effort": _effort,
    "web": _web,
    "rewind": _rewind,
    "fork": _fork,
    "new": _new,
    "help": _help,
}
