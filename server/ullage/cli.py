"""The command line: `ullage serve`, `acp`, `replay`, `report`, `policies`, `import` and `inspect`.

Imports nothing that takes long before it is known what is wanted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from ullage.starting import Keys, take_keys, take_secret

if TYPE_CHECKING:  # takes long to import
    from ullage.lsp.transport import Connection
    from ullage.session.settings import Settings

logger = logging.getLogger("ullage")

SMALLEST_WINDOW, LARGEST_WINDOW = 1_000, 100_000_000
"""Tokens."""

MOST_JOBS = 1_000

_OLDEST_PYTHON = (3, 11)

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

_REPLAY = """
Reports what was recorded in sessions of Claude Code (JSONL, as in ~/.claude/projects), Codex (rollouts, as in ~/.codex/sessions),
OpenCode (opencode.db or storage/, as in ~/.local/share/opencode), Gemini CLI (as in ~/.gemini/tmp), Cline (tasks/ or sessions/),
pi (as in ~/.pi/agent/sessions) and Ullage (a workspace, or its ullage.db), plain or compressed: tokens, dollars, cache reads, sizes,
and what was needed after the compactions that took place, by project and with intervals. With --policy it carries the sessions through
other ways of compacting, and reports what each would have cost and kept over the same work. It changes no transcript,
asks no model and sends nothing anywhere.
"""

_REPORT = """
Says what recorded sessions cost, of the same programs as `replay`: by week, model, project and policy. It also says what share was read
from the prompt cache, why it was missed, what was got again after compactions, and what other policies would have cost. It writes one HTML
page. Where pyarrow is installed, it writes every request and compaction as Parquet beside it. It asks no model and sends nothing anywhere.
"""

_ACP = """
For editors that speak the Agent Client Protocol, such as Zed, JetBrains, Neovim and Emacs with a plugin (docs/acp.md). The key is
ANTHROPIC_API_KEY in the environment. Settings are those of the VS Code extension without "ullage.", for example
{"model": {"name": "claude-opus-5-5"}, "bash": {"sandbox": "required"}}.
"""

_COPY = """
Copies all sessions of a workspace into a team's PostgreSQL, or from there, with their images, outputs and versions of files. What is there
already is passed over, so a copy that was cut off is gone on with by doing it again. Each session is checked by the count and a hash of its
entries. A password is best not written here, where other programs see it: PGPASSWORD and ~/.pgpass count.
"""

_STORE = "where sessions are kept, if the editor's setting for it says so (default: ULLAGE_STORE_LOCATION, else the system's place for it)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that the arguments name; gives the exit code."""
    if sys.version_info < _OLDEST_PYTHON:
        found = ".".join(str(part) for part in sys.version_info[:3])
        wanted = ".".join(str(part) for part in _OLDEST_PYTHON)
        return _failed(f"Ullage needs Python {wanted} or later; this is {found} ({sys.executable})")
    options = _parser().parse_args(arguments)
    return options.run(options)


def _parser() -> argparse.ArgumentParser:
    from ullage import __version__

    parser = argparse.ArgumentParser(prog="ullage", description="A coding agent that lives in your editor.")
    parser.add_argument("--version", action="version", version=f"ullage {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="speak to an editor over stdin and stdout (PROTOCOL.md)")
    listening = serve.add_mutually_exclusive_group()
    listening.add_argument(
        "--tcp", type=_port, metavar="PORT", help="listen on this port of the loopback address instead; 0 takes a free one"
    )
    listening.add_argument(
        "--socket", type=Path, metavar="PATH", help="listen on a Unix socket there instead, in a folder that is yours alone"
    )
    serve.add_argument("--log-level", type=str.upper, choices=_LEVELS, default="INFO", help="how much is logged (default: INFO)")
    serve.set_defaults(run=_serve)
    acp = commands.add_parser("acp", help="speak the Agent Client Protocol to an editor over stdin and stdout", description=_ACP)
    acp.add_argument("--settings", default="", metavar="JSON", help="settings as nested objects, or the path of a file with them")
    acp.add_argument("--state-folder", type=Path, metavar="DIR", help="where the user's own state lies (default: the system's place)")
    acp.add_argument("--log-level", type=str.upper, choices=_LEVELS, default="WARNING", help="how much is logged (default: WARNING)")
    acp.set_defaults(run=_acp)
    replay = commands.add_parser("replay", help="report what recorded sessions cost and what their compactions kept", description=_REPLAY)
    replay.add_argument(
        "traces",
        nargs="+",
        metavar="TRACE",
        help="a transcript, a folder of transcripts, a workspace of Ullage, or an address in object storage (s3://bucket/folder)",
    )
    replay.add_argument("--store", default="", metavar="DIR", help=_STORE)
    add_replay_options(replay)
    replay.set_defaults(run=_replay)
    report = commands.add_parser("report", help="write a page of what recorded sessions cost, and why", description=_REPORT)
    report.add_argument("traces", nargs="*", metavar="TRACE", help="as for replay (default: all sessions that Ullage keeps for you)")
    report.add_argument("--store", default="", metavar="DIR", help=_STORE)
    add_report_options(report)
    report.set_defaults(run=_report)
    policies = commands.add_parser("policies", help="list the ways of compacting, or show the whole of one")
    policies.add_argument("name", nargs="?", metavar="POLICY", help="show everything of this one")
    policies.add_argument("--format", choices=("table", "json"), default="table", help="how it is written (default: table)")
    policies.set_defaults(run=_policies)
    importing = commands.add_parser("import", help="give a folder the sessions in its .ullage, or those of a folder that was moved")
    importing.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="the workspace that gets them")
    which = importing.add_mutually_exclusive_group()
    which.add_argument("--mine", action="store_true", help="those in its .ullage are yours: they can be gone on with (asks)")
    which.add_argument("--from", type=Path, dest="gone", metavar="OLD", help="take over the sessions of a folder that is gone")
    which.add_argument("--list-gone", action="store_true", help="list the folders that are gone and of which sessions are kept")
    importing.add_argument("--yes", action="store_true", help="with --mine: do not ask")
    importing.add_argument("--store", default="", metavar="DIR", help=_STORE)
    importing.set_defaults(run=_import)
    store = commands.add_parser("store", help="sessions in a team's PostgreSQL: make its tables, copy sessions there and back")
    of_store = store.add_subparsers(title="commands", required=True, metavar="COMMAND")
    setup = of_store.add_parser("setup", help="make the tables in that database, or update them; for whoever owns it")
    setup.add_argument("database", metavar="ADDRESS", help="postgresql://user@host/database")
    setup.set_defaults(run=_store_setup)
    copying = of_store.add_parser("copy", help="copy all sessions of a workspace, and check them by count and hash", description=_COPY)
    copying.add_argument("source", metavar="FROM", help="the folder of a workspace, or the address of a database")
    copying.add_argument("target", metavar="TO", help="the other of the two")
    copying.add_argument("--workspace", default="", metavar="NAME", help="its name in the database (default: the path of the folder)")
    copying.add_argument("--store", default="", metavar="DIR", help=_STORE)
    copying.set_defaults(run=_store_copy)
    inspect = commands.add_parser("inspect", help="print the epochs of a session of a workspace")
    inspect.add_argument("session", metavar="SESSION", help="the session's id, the beginning of it, or `last`")
    inspect.add_argument("--folder", type=Path, default=Path(), metavar="DIR", help="the workspace (default: the current folder)")
    inspect.add_argument("--store", default="", metavar="DIR", help=_STORE)
    inspect.add_argument("--messages", action="store_true", help="also print every message and what became of it")
    inspect.add_argument("--format", choices=("table", "json"), default="table", help="how it is written (default: table)")
    inspect.set_defaults(run=_inspect)
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def _serve(options: argparse.Namespace) -> int:
    from ullage.processes.programs import drop_relative_entries

    drop_relative_entries(os.environ)
    keys, auth_token = take_keys(), take_secret("ANTHROPIC_AUTH_TOKEN")
    from ullage.lsp.log import log_to_stderr

    log_to_stderr(options.log_level)
    if auth_token and keys == Keys():
        logger.warning("ANTHROPIC_AUTH_TOKEN is not used; set ANTHROPIC_API_KEY")
    try:
        return asyncio.run(_serve_client(options.tcp, options.socket, keys))
    except CannotListen as error:
        return _failed(str(error))
    except KeyboardInterrupt:
        return 130


def _acp(options: argparse.Namespace) -> int:
    from ullage.processes.programs import drop_relative_entries

    drop_relative_entries(os.environ)
    keys = take_keys()
    take_secret("ANTHROPIC_AUTH_TOKEN")
    from ullage.lsp.log import log_to_stderr
    from ullage.session.reading_settings import read_settings

    log_to_stderr(options.log_level)
    try:
        section = _settings_of(options.settings)
    except (OSError, ValueError) as error:
        return _failed(f"ullage acp: --settings is neither JSON nor a file with JSON: {error}")
    settings, complaints = read_settings(section, trusted=True)
    for complaint in complaints:
        logger.warning("%s", complaint)
    try:
        return asyncio.run(_serve_acp(settings, keys, options.state_folder))
    except KeyboardInterrupt:
        return 130


def _settings_of(given: str) -> object:
    """Raises `OSError` or `ValueError`."""
    text = given.strip()
    if not text:
        return None
    return json.loads(text if text.startswith("{") else Path(text).expanduser().read_text(encoding="utf-8"))


async def _serve_acp(settings: Settings, keys: Keys, state_folder: Path | None) -> int:
    from ullage.starting import quick_imports

    with quick_imports():
        from ullage.acp.serve import serve

    return await serve(settings, keys, state_folder)


def _replay(options: argparse.Namespace) -> int:
    from ullage.replay.command import run
    from ullage.replay.file_work import Options

    asked = Options(
        format=options.format,
        full=options.full,
        as_model=options.model,
        policies=policy_names(options.policy),
        at=options.at,
        summary=options.summary or ("recorded" if options.at == "recorded" else "digest"),
        window=options.window,
        economy=options.economy,
        views=options.views,
        report=options.report,
        store=options.store,
        jobs=options.jobs,
        parquet=options.parquet,
        scheduler=options.scheduler,
    )
    return _reporting(lambda: run(options.traces, asked))


def _report(options: argparse.Namespace) -> int:
    from ullage.replay.spending.command import Asked, run
    from ullage.replay.spending.work import Options

    given = Options(policy_names(options.policy), options.since, jobs=options.jobs)
    return _reporting(lambda: run(Asked(tuple(options.traces), options.out, given, options.store)))


def _policies(options: argparse.Namespace) -> int:
    from ullage.policies_command import run

    return _reporting(lambda: run(options.name, options.format))


def _reporting(run: Callable[[], int]) -> int:
    """Runs a command that writes a report to stdout; gives the exit code."""
    try:
        return run()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); what is still in the buffer has nowhere to go at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _import(options: argparse.Namespace) -> int:
    from ullage.importing import Wanted, list_gone, run

    if options.list_gone:
        return list_gone(options.store)
    if options.folder is None:
        return _failed("ullage import: name the FOLDER that gets the sessions")
    return run(options.folder, options.store, Wanted(options.mine, options.gone, options.yes))


def _store_setup(options: argparse.Namespace) -> int:
    from ullage.store_command import set_up_tables

    return set_up_tables(options.database)


def _store_copy(options: argparse.Namespace) -> int:
    from ullage.store_command import copy

    return _reporting(lambda: copy(options.source, options.target, options.workspace, options.store))


def _inspect(options: argparse.Namespace) -> int:
    from ullage.inspection import run

    return run(options.session, options.folder, options.format, messages=options.messages, location=options.store)


class CannotListen(Exception):
    """`str()` says which port or socket cannot be listened on, and why."""


async def _serve_client(port: int | None, path: Path | None, keys: Keys) -> int:
    from ullage.starting import quick_imports

    with quick_imports():
        from ullage.lsp.server import UllageServer, register_features
        from ullage.lsp.transport import open_stdio

    if port is not None:
        connection = await _client_on_port(port)
    elif path is not None:
        connection = await _client_on_socket(path)
    else:
        connection = open_stdio()
    server = UllageServer(keys)
    register_features(server)
    return await server.serve(connection)


async def _client_on_port(port: int) -> Connection:
    from ullage.lsp.listening import listen_on_port, make_token

    token = make_token()
    try:
        listening_on, listener = await listen_on_port(port, token)
    except OSError as error:
        raise CannotListen(f"Cannot listen on port {port}: {error.strerror or error}. Choose another port.") from error
    logger.info("listening on 127.0.0.1:%d", listening_on)
    sys.stderr.write(f"token: {token}\n")  # not logged: a log may be kept, and be sent to the client
    sys.stderr.flush()
    return await listener.client()


async def _client_on_socket(path: Path) -> Connection:
    from ullage.lsp.listening import UnsafePlace, listen_on_socket

    try:
        listener = await listen_on_socket(path)
    except UnsafePlace as error:
        raise CannotListen(str(error)) from error
    except OSError as error:
        raise CannotListen(f"Cannot listen on {path}: {error.strerror or error}. Name another place.") from error
    logger.info("listening on %s", path)
    try:
        return await listener.client()
    finally:
        path.unlink(missing_ok=True)


def _failed(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return 1


def policy_names(given: Sequence[str]) -> tuple[str, ...]:
    """The names in all `--policy` arguments together."""
    return tuple(name.strip() for names in given for name in names.split(",") if name.strip())


def add_replay_options(replay: argparse.ArgumentParser) -> None:
    """All but the transcripts themselves."""
    replay.add_argument("--format", choices=("table", "json"), default="table", help="how the report is written (default: table)")
    replay.add_argument("--full", action="store_true", help="print every table, with what its columns mean")
    replay.add_argument(
        "--model", metavar="NAME", help="take window, prices and tokens of this model (default: of those that the sessions ran on)"
    )
    replay.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="P[,P...]",
        help="carry the sessions through these policies; all: through every one; fitted: through ullage with other options",
    )
    replay.add_argument(
        "--at",
        choices=("policy", "recorded"),
        default="policy",
        help="compact where the policy would, or where the transcript recorded a compaction (default: policy)",
    )
    replay.add_argument(
        "--summary",
        choices=("recorded", "digest", "none"),
        help="what stands for a summary that a model would write: the recorded one where there is one, the program summary, or a blank "
        "of the usual size, for cost alone (default: recorded with --at recorded, else digest)",
    )
    replay.add_argument("--window", type=_window, metavar="TOKENS", help="take this for the model's window")
    replay.add_argument(
        "--economy",
        choices=("cheapest", "balanced", "fullest"),
        default="fullest",
        help="how much a policy that saves does to save by compacting before its threshold (default: fullest)",
    )
    replay.add_argument(
        "--views",
        type=Path,
        metavar="DIR",
        help="write the request that follows each compaction to this folder, as JSON (of several policies each to a folder of its own)",
    )
    replay.add_argument("--report", type=Path, metavar="FILE", help="write the report as one HTML page, too")
    replay.add_argument(
        "--parquet",
        type=Path,
        metavar="NAME",
        help="write the sessions and what the policies made of them as tables, too: NAME.sessions.parquet and NAME.runs.parquet",
    )
    replay.add_argument("--jobs", type=_jobs, metavar="N", help="how many processes work (default: one for each core)")
    replay.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="work on the workers of this scheduler of Dask (tls://HOST:PORT or tcp://HOST:PORT); local: on workers on this machine",
    )


def add_report_options(report: argparse.ArgumentParser) -> None:
    """All but the transcripts themselves."""
    report.add_argument(
        "--out",
        type=Path,
        default=Path("ullage-report.html"),
        metavar="FILE",
        help="where the page is written (default: ullage-report.html)",
    )
    report.add_argument("--since", type=_day, metavar="DATE", help="leave out what was before that day (YYYY-MM-DD, UTC)")
    report.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="P[,P...]",
        help="say what these policies would have cost, too (for example ullage,claude-code; all: every one)",
    )
    report.add_argument("--jobs", type=_jobs, metavar="N", help="how many processes work (default: one for each core)")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date such as 2026-01-31") from None


def _window(text: str) -> int:
    return _whole_number(text, SMALLEST_WINDOW, LARGEST_WINDOW)


def _jobs(text: str) -> int:
    return _whole_number(text, 1, MOST_JOBS)


def _whole_number(text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{number} is not between {least:,} and {most:,}")
    return number
