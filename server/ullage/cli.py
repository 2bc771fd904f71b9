"""The command line: which commands there are, what each takes, and who runs it.

What a command does stands in a module of its own beside this one. That is imported when it is known what is wanted: it may take long.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ullage.replay_options import add_replay_options, add_report_options, run_replay, run_report

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
        help="a transcript, a folder of transcripts, a workspace of Ullage, an address in object storage (s3://bucket/folder), or a team's "
        "database (postgresql://…; postgresql: for the one in ULLAGE_STORE)",
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
    from ullage.serving import CannotServe, serve

    try:
        return serve(options.tcp, options.socket, options.log_level)
    except CannotServe as error:
        return _failed(str(error))


def _acp(options: argparse.Namespace) -> int:
    from ullage.serving import CannotServe, serve_acp

    try:
        return serve_acp(options.settings, options.state_folder, options.log_level)
    except CannotServe as error:
        return _failed(str(error))


def _replay(options: argparse.Namespace) -> int:
    return _reporting(lambda: run_replay(options))


def _report(options: argparse.Namespace) -> int:
    return _reporting(lambda: run_report(options))


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
    from ullage.importing import ImportArguments, list_gone, run

    if options.list_gone:
        return list_gone(options.store)
    if options.folder is None:
        return _failed("ullage import: name the FOLDER that gets the sessions")
    return run(options.folder, options.store, ImportArguments(options.mine, options.gone, options.yes))


def _store_setup(options: argparse.Namespace) -> int:
    from ullage.store_command import set_up_tables

    return set_up_tables(options.database)


def _store_copy(options: argparse.Namespace) -> int:
    from ullage.store_command import copy

    return _reporting(lambda: copy(options.source, options.target, options.workspace, options.store))


def _inspect(options: argparse.Namespace) -> int:
    from ullage.inspection import run

    return run(options.session, options.folder, options.format, messages=options.messages, location=options.store)


def _failed(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return 1
