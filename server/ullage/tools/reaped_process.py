"""Runs one command outside of a sandbox, below a helper of ours that ends all that came of it (`processes/reaper.py`; Linux).

The helper's start takes some 40 ms. In a sandbox nobody needs it: there all processes end with their first one.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ullage.processes import reaper as helper
from ullage.processes.askers import Asker
from ullage.processes.own_python import reaper
from ullage.processes.start import signal_group, start_for_user
from ullage.tools.leftovers import MARK, end_marked, new_mark
from ullage.tools.process import Finished, Output, run_process, wait_for_end

_PATIENCE = helper.GRACE_SECONDS + helper.KILLING_SECONDS + 1.0
"""Seconds that the helper may take to end everything."""


async def run_alone(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float, on_output: Callable[[str], None]
) -> Finished:
    """Runs the command to its end, at most `timeout` seconds, and leaves nothing of it behind, as far as the system lets us.

    Cancelling ends it and all that it started. Raises `OSError` where it cannot be started.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        before = reaper(theirs.fileno())
        if before is None:
            return await run_process(command, folder, environment, timeout, on_output)
        mark = new_mark()
        transport, protocol = await start_for_user(
            Asker.SHELL,
            [*before, *command],
            lambda: Output(on_output),
            folder=folder,
            environment={**environment, MARK: mark},
            pass_fds=(theirs.fileno(),),
        )
        theirs.close()
        try:
            ended = await wait_for_end(protocol, timeout)
            if ended == "by timeout":
                with suppress(OSError):
                    ours.send(helper.END)
                with suppress(TimeoutError):
                    await asyncio.wait_for(protocol.exited.wait(), _PATIENCE)
            code, left = _told(ours)
            left = await asyncio.to_thread(end_marked, mark) > 0 or left
            return Finished(protocol.text(), code, ended, left and ended == "by itself", protocol.dropped)
        finally:
            ours.close()  # it kills all that is still there
            with suppress(TimeoutError):
                await asyncio.wait_for(protocol.exited.wait(), _PATIENCE)
            signal_group(transport.get_pid(), kill=True)
            await asyncio.shield(asyncio.to_thread(end_marked, mark))
            transport.close()


def _told(ours: socket.socket) -> tuple[int, bool]:
    """What the helper said before it ended: the exit code, and whether something was left. Raises `OSError` where the command could not
    be started."""
    ours.setblocking(False)
    try:
        said = ours.recv(1000).decode().split()
    except OSError:
        said = []
    match said:
        case ["failed", number, *_]:
            raise OSError(int(number), os.strerror(int(number)))
        case ["ended", code, left]:
            return int(code), left == "1"
        case _:  # it was killed
            return -signal.SIGKILL, False
