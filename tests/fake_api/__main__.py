"""The fake as a process: prints `{"port": …}` on one line, serves until its standard input is closed."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from pathlib import Path

from tests.fake_api.catalogue import MODELS
from tests.fake_api.clouds.bedrock import FakeBedrock
from tests.fake_api.clouds.sigv4 import AwsKey
from tests.fake_api.clouds.vertex import FakeVertex
from tests.fake_api.script_json import script_from_file
from tests.fake_api.server import FakeApi


def main() -> None:
    """Reads the arguments and serves."""
    parser = argparse.ArgumentParser(prog="python -m tests.fake_api", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="TCP port on 127.0.0.1; by default a free one")
    parser.add_argument("--window", type=int, help="tokens of every model's window; by default each model's own")
    parser.add_argument("--script", type=Path, help="a JSON file with `queue` and `rules`")
    parser.add_argument("--compaction", action="store_true", help="with on-demand compaction, for the models that write it")
    parser.add_argument("--search", action="store_true", help="with the API's own search of the web")
    parser.add_argument("--cloud", choices=("bedrock", "vertex"), help="a cloud's wire instead of the Messages API")
    parser.add_argument("--account", type=Path, help="folder into which the cloud writes the credentials that it accepts")
    arguments = parser.parse_args()
    if arguments.cloud is not None:
        asyncio.run(_serve_cloud(arguments.cloud, arguments.account))
    else:
        asyncio.run(_serve(arguments.port, arguments.window, arguments.script, arguments.compaction, arguments.search))


async def _serve_cloud(cloud: str, account: Path) -> None:
    """`credentials` for Bedrock as AWS's tools keep them, `account.json` for Vertex."""
    if cloud == "bedrock":
        key = AwsKey("AKIAFAKEOFTHETESTS", "secret-of-the-tests")
        text = f"[default]\naws_access_key_id = {key.id}\naws_secret_access_key = {key.secret}\n"
        (account / "credentials").write_text(text, encoding="utf-8")
        fake: FakeApi = FakeBedrock(aws=(key,))
    else:
        fake = FakeVertex()
    async with fake:
        if isinstance(fake, FakeVertex):
            fake.write_account(account)
        await _until_stopped(fake)


async def _serve(port: int, window: int | None, script: Path | None, compaction: bool, search: bool) -> None:
    windows = {} if window is None else dict.fromkeys(MODELS, window)
    loaded = None if script is None else script_from_file(script)
    async with FakeApi(loaded, windows=windows, port=port, compaction=compaction, search=search) as fake:
        await _until_stopped(fake)


async def _until_stopped(fake: FakeApi) -> None:
    sys.stdout.write(json.dumps({"port": fake.port}) + "\n")
    sys.stdout.flush()
    await _until_stdin_closes()


async def _until_stdin_closes() -> None:
    """A daemon thread reads, so that an interrupt ends the process although the read still blocks."""
    closed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def read() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(closed.set)

    threading.Thread(target=read, daemon=True).start()
    await closed.wait()


if __name__ == "__main__":
    main()
