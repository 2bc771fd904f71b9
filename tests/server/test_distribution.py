"""What `pip install ullage` gives: a wheel in a clean environment, whose command runs and speaks both protocols."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    _run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--target", "sdist", "--directory", str(folder)], cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def command(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `ullage` of an environment that has the wheel, and what it depends on from ours; the sources are not on its path."""
    environment = tmp_path_factory.mktemp("clean") / "environment"
    uv = [sys.executable, "-m", "uv", "--offline"]
    _run([*uv, "venv", "--no-project", "--python", sys.executable, str(environment)])
    scripts = environment / ("Scripts" if sys.platform == "win32" else "bin")
    _run([*uv, "pip", "install", "--python", str(scripts / "python"), "--no-deps", "--no-index", str(next(built.glob("*.whl")))])
    packages = _run([str(scripts / "python"), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    (Path(packages) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    where = _run([str(scripts / "python"), "-I", "-c", "import ullage; print(ullage.__file__)"])
    assert str(environment) in where
    return scripts / "ullage"


def test_the_wheel_has_all_that_the_sources_have_and_says_what_it_is(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        metadata = HeaderParser().parsestr(wheel.read(next(name for name in names if name.endswith("/METADATA"))).decode())
    files = (path for path in (ROOT / "server" / "ullage").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert {path.relative_to(ROOT / "server").as_posix() for path in files} <= names
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert {url.partition(",")[0] for url in metadata.get_all("Project-URL") or []} == {"Repository", "Issues", "Changelog"}


def test_the_source_distribution_can_be_built_from(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "server/README.md", "server/ullage/cli.py"} <= names


def test_the_command_says_its_version(command: Path) -> None:
    assert _run([str(command), "--version"]).startswith("ullage ")


def test_the_command_speaks_the_agent_client_protocol(command: Path, tmp_path: Path) -> None:
    request = _initialize({"protocolVersion": 1, "clientCapabilities": {}})
    output = _run([str(command), "acp", "--state-folder", str(tmp_path)], input=request + "\n", cwd=tmp_path)
    assert json.loads(output.splitlines()[0])["result"]["protocolVersion"] == 1


def test_the_command_is_a_language_server(command: Path, tmp_path: Path) -> None:
    body = _initialize({"processId": None, "rootUri": None, "capabilities": {}})
    output = _run([str(command), "serve"], input=f"Content-Length: {len(body)}\r\n\r\n{body}", cwd=tmp_path)
    assert '"serverInfo"' in output


def _initialize(params: dict[str, object]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})


def _run(arguments: list[str], *, input: str = "", cwd: Path | None = None) -> str:
    env = {**os.environ, "ULLAGE_STORE_LOCATION": str(cwd)} if cwd is not None else None
    result = subprocess.run(arguments, input=input, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)
    # A server whose client has gone ends with what it had to end with; what counts is its answer.
    assert result.returncode == 0 or result.stdout, result.stdout + result.stderr
    return result.stdout
