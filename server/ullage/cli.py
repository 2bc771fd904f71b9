"""The command line: `ullage serve`, `replay`, `policies` and `inspect`. Imports nothing that takes long before it knows what is wanted."""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ullage.replay_arguments import add_replay_options, policy_names
from ullage.taken_secrets import take_secret

logger = logging.getLogger("ullage")

_OLDEST_PYTHON = (3, 11)

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

_REPLAY = """
Reports what was recorded in sessions of Claude Code (JSONL, as in ~/.claude/projects), Codex (rollouts, as in ~/.codex/sessions)
and Ullage (.ullage/ullage.db), plain or compressed: tokens, dollars, cache reads, sizes, and what was needed after the compactions
that took place. With --policy it carries the sessions through other ways of compacting, and reports what each would have cost and kept
over the same work. It changes no transcript, asks no model and sends nothing anywhere.
"""


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
    serve.add_argument("--tcp", type=_port, metavar="PORT", help="listen on this port of the loopback address instead; 0 takes a free one")
    serve.add_argument("--log-level", type=str.upper, choices=_LEVELS, default="INFO", help="how much is logged (default: INFO)")
    serve.set_defaults(run=_serve)
    replay = commands.add_parser("replay", help="report what recorded sessions cost and what their compactions kept", description=_REPLAY)
    replay.add_argument("traces", nargs="+", metavar="TRACE", help="a transcript, a folder of transcripts, or a workspace of Ullage")
    add_replay_options(replay)
    replay.set_defaults(run=_replay)
    policies = commands.add_parser("policies", help="list the ways of compacting, or show the whole of one")
    policies.add_argument("name", nargs="?", metavar="POLICY", help="show everything of this one")
    policies.add_argument("--format", choices=("table", "json"), default="table", help="how it is written (default: table)")
    policies.set_defaults(run=_policies)
    inspect = commands.add_parser("inspect", help="print the epochs of a session of a workspace")
    inspect.add_argument("session", metavar="SESSION", help="the session's id, the beginning of it, or `last`")
    inspect.add_argument("--folder", type=Path, default=Path(), metavar="DIR", help="the workspace (default: the current folder)")
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
    api_key, auth_token = take_secret("ANTHROPIC_API_KEY"), take_secret("ANTHROPIC_AUTH_TOKEN")
    from ullage.lsp.log import log_to_stderr

    log_to_stderr(options.log_level)
    if auth_token and not api_key:
        logger.warning("ANTHROPIC_AUTH_TOKEN is not used; set ANTHROPIC_API_KEY")
    try:
        return asyncio.run(_serve_client(options.tcp, api_key))
    except PortNotFree as error:
        return _failed(str(error))
    except KeyboardInterrupt:
        return 130


def _replay(options: argparse.Namespace) -> int:
    from ullage.replay.command import run
    from ullage.replay.options import Options

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
        jobs=options.jobs,
    )
    return _reporting(lambda: run(options.traces, asked))


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


def _inspect(options: argparse.Namespace) -> int:
    from ullage.inspection import run

    return run(options.session, options.folder, options.format, messages=options.messages)


class PortNotFree(Exception):
    """`str()` says which port cannot be listened on, and why."""


async def _serve_client(port: int | None, api_key: str | None) -> int:
    # What is imported lives as long as the process: passes of the collector over it would be an eighth of the time to `initialize`.
    gc.disable()
    from ullage.lsp.features import register_features
    from ullage.lsp.server import UllageServer
    from ullage.lsp.transport import open_stdio, open_tcp

    gc.freeze()
    gc.enable()
    if port is None:
        connection = open_stdio()
    else:
        try:
            listening_on, coming = await open_tcp(port)
        except OSError as error:
            raise PortNotFree(f"Cannot listen on port {port}: {error.strerror or error}. Choose another port.") from error
        logger.info("listening on 127.0.0.1:%d", listening_on)
        connection = await coming
    server = UllageServer(api_key)
    register_features(server)
    return await server.serve(connection)


def _failed(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return 1
