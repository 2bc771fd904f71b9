"""The commands `/hooks`, `/mcp` and `/running`: each shows a list in words, and changes what is in it, for front ends that have no page for
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ullage.context.calls import one_line
from ullage.context.quoting import visible_line
from ullage.context.running_commands import LINE_CHARACTERS, RunsNow, how_long
from ullage.mcp_servers.servers import NoSuchServer, Servers, ServerStanding
from ullage.session.errors import SessionError
from ullage.session.hooks.allowed import Runs
from ullage.session.hooks.running import Hooks, HooksNow, ListedHook

if TYPE_CHECKING:  # they are given to it
    from ullage.session.session import Session
    from ullage.session.sessions.sessions import Sessions

NO_HOOKS = "There are no hooks. They stand in .ullage/hooks.json, .claude/settings.json and .claude/settings.local.json."
HOW_HOOKS = (
    "`/hooks allow NUMBER` lets one run in the sandbox, `/hooks allow NUMBER outside` with all your rights; `/hooks never NUMBER` keeps it "
    "from running, and `/hooks forget NUMBER` takes back what you said. A hook that is edited has to be allowed anew."
)
_DECISIONS: dict[str, Runs | None] = {"allow": "sandbox", "never": "never", "forget": None}


def hooks_in_words(now: HooksNow) -> str:
    """The list of hooks, as Markdown."""
    lines = [now.off] if now.off else []
    lines += [line for number, each in enumerate(now.listed, 1) for line in _hook_lines(number, each)]
    lines += [f"- `{_spelt(' '.join(filter(None, (each.event, each.command, each.source))))}`: not run, {each.why}" for each in now.passed]
    if not now.listed and not now.passed:
        return "\n".join((*lines, NO_HOOKS))
    if now.no_sandbox:
        lines.append(f"No sandbox confines hooks here: {now.no_sandbox}.")
    return "\n".join((*lines, "", HOW_HOOKS))


def _hook_lines(number: int, listed: ListedHook) -> list[str]:
    hook, last = listed.hook, listed.last
    when = f"{hook.event} {hook.matcher}".strip()
    shown, source = _spelt(when), _spelt(hook.source)
    lines = [f"{number}. {decided(listed.runs)}: `{shown}` in `{source}`, at most {hook.seconds:g} seconds"]
    lines += [f"   `{_spelt(line)}`" for line in hook.command.splitlines() if line.strip()]
    if last is not None:
        lines.append(
            f"   Last: {_spelt(last.how)}, in {last.seconds:.1f} seconds. Runs: {last.times:,}. Tokens for the agent: {last.tokens:,}"
        )
    return lines


def decided(runs: Runs | None) -> str:
    """What the user decided, in words for them."""
    match runs:
        case "sandbox":
            return "Runs in the sandbox"
        case "outside":
            return "Runs with all your rights"
        case "never":
            return "Never runs"
        case None:
            return "Not allowed yet"


async def decide_hook(hooks: Hooks, words: str) -> None:
    """Carries out `allow 2`, `allow 2 outside`, `never 2` or `forget 2`. Raises `SessionError`."""
    word, _, rest = words.partition(" ")
    number, _, where = rest.strip().partition(" ")
    listed = (await hooks.listed()).listed
    is_known = word in _DECISIONS and number.isdecimal() and 0 < int(number) <= len(listed)
    if not is_known or where.strip() not in ("", "outside") or (where and word != "allow"):
        raise SessionError("invalid", f"There is no such hook. {HOW_HOOKS}")
    await hooks.decide(listed[int(number) - 1].id, "outside" if where else _DECISIONS[word])


def _spelt(text: str) -> str:
    """The text as it can stand in a line of code."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text).replace("`", "'")


NONE_CONFIGURED = "No MCP server is configured: in your settings (`mcp.servers`), in `.mcp.json` or in `.vscode/mcp.json`."
HOW_MCP = "`/mcp on NAME` allows and starts a server, as it is configured now. `/mcp off NAME` and `/mcp restart NAME` do what they say."
WAYS_MCP = "Write `/mcp`, or `/mcp on NAME`, `/mcp off NAME` or `/mcp restart NAME`"


async def mcp_in_words(sessions: Sessions, argument: str) -> str:
    """Carries out what stands behind `/mcp`, and gives the list of servers, as Markdown. Raises `SessionError`."""
    servers = sessions.servers
    await servers.look()
    way, _, name = argument.partition(" ")
    if way:
        await _turn_server(servers, way, name.strip())
    listed = [_server_line(each) for each in servers.standings()]
    problems = [f"- {visible_line(problem)}" for problem in servers.problems]
    return "\n".join((*listed, *problems, "", HOW_MCP)) if listed or problems else NONE_CONFIGURED


async def _turn_server(servers: Servers, way: str, name: str) -> None:
    if way not in ("on", "off", "restart") or not name:
        raise SessionError("invalid", WAYS_MCP)
    try:
        if way == "restart":
            await servers.restart(name)
        else:
            found = next((each.server for each in servers.standings() if each.server.name == name), None)
            await servers.turn(name, "" if found is None else found.fingerprint, on=way == "on")
        await servers.settled()
    except NoSuchServer as error:
        raise SessionError("invalid", str(error)) from error


def _server_line(standing: ServerStanding) -> str:
    name, state, command = standing.server.name, _STATES[standing.state], visible_line(standing.server.in_words)
    count = f"; {len(standing.offers.tools)} tools" if standing.offers.tools else ""
    why = f" ({visible_line(standing.why)})" if standing.why else ""
    return f"- `{name}`, {state}{why}{count}: `{command.replace('`', chr(39))}`" if command else f"- `{name}`, {state}{why}{count}"


_STATES = {
    "off": "off",
    "untrusted": "not allowed yet",
    "starting": "starting",
    "running": "running",
    "waiting": "started again soon",
    "sign_in": "waiting for you to sign in",
    "failed": "failed",
}


NOTHING_RUNS = "Nothing runs in the background."
HOW_RUNNING = "`/running output ID` shows what one said last, `/running stop ID` ends it. All end with this session."
WAYS_RUNNING = "Write `/running`, or `/running output ID` or `/running stop ID`"

MOST_CHARACTERS = 4_000
"""Most characters that are shown of an output: the newest."""


def running_in_words(session: Session, words: str) -> str:
    """Carries out what stands behind `/running`, and gives the list of commands, or what came of one, as Markdown. Raises
    `SessionError`."""
    way, _, id = words.partition(" ")
    if way and (way not in ("stop", "output") or not id.strip()):
        raise SessionError("invalid", WAYS_RUNNING)
    if way == "stop":
        session.stop_command(id.strip())
        return f"{id.strip()} is being stopped, with everything that it had started."
    if way == "output":
        said = session.running_command(id.strip()).shown()[-MOST_CHARACTERS:].strip()
        return "\n".join(f"    {visible_line(line)}" for line in said.splitlines()) or f"{id.strip()} has said nothing yet."
    listed = [_command_line(each, session.now()) for each in session.running.shown()]
    return "\n".join((*listed, "", HOW_RUNNING)) if listed else NOTHING_RUNS


def _command_line(each: RunsNow, now: float) -> str:
    command = visible_line(one_line(each.command, LINE_CHARACTERS)).replace("`", "'")
    last = visible_line(each.last_line).replace("`", "'")
    time = how_long((each.ended_at or now) - each.began)
    if each.end is None:
        first = f"- {each.id}: `{command}`, for {time}"
    elif each.exit_code is not None:
        first = f"- {each.id}: `{command}`, ended after {time} with exit code {each.exit_code}"
    else:
        first = f"- {each.id}: `{command}`, ended after {time}"
    return f"{first}\n  > `{last}`" if last else first
