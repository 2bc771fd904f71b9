"""Transcripts in object storage: from a real server of S3 (moto's) to the same report as from a folder, and what cannot be read there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.parse import unquote

import pytest

from tests.unit.context.logs import PRELUDE, prompt, says
from tests.unit.recorded.readers.recorded import written
from tests.unit.replay.test_command import compacted_session, plain_session
from ullage.cli import main
from ullage.recorded.readers.files import NothingFound
from ullage.replay.object_storage import brought, objects_below, shown
from ullage.store.log_store import LogStore

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "some",
    "AWS_SECRET_ACCESS_KEY": "thing",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    """A client of a server of S3 on the loopback address, which the environment names while this is there."""
    server = import_module("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patched:
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
            patched.setenv(name, value)
        client = import_module("boto3").client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="traces")
        yield client
        client.close()
    server.stop()


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Files and folders whose order is not that of their names, a store of Ullage with files beside it, and a corrupt file."""
    folder = tmp_path / "team"
    for below in (folder / "a", folder / "workspace", folder / "z"):
        below.mkdir(parents=True)
    written(folder, compacted_session().lines, "m.jsonl")
    written(folder / "a", plain_session(sessionId="s2").lines, "b.jsonl")
    written(folder / "z", plain_session(sessionId="s3").lines, "c.jsonl")
    (folder / "z" / "d.jsonl").write_bytes(b"\xff\x00\n")
    (folder / "notes.txt").write_text("nothing")
    with closing(LogStore.open(folder / "workspace")) as store:
        session = store.create_session("Looking", 5.0)
        for entry in (PRELUDE, prompt("Look"), says("Done.")):
            store.append(session.id, entry, 6.0)
    written(folder / "workspace", [{"any": "data"}], "data.jsonl")
    return folder


def report_of(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], list[str]]:
    code = main(["replay", *arguments, "--format", "json"])
    output = capfd.readouterr()
    return code, json.loads(output.out) if output.out else {}, output.err.splitlines()


def put(s3: Any, folder: Path, prefix: str) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            s3.put_object(Bucket="traces", Key=f"{prefix}/{path.relative_to(folder).as_posix()}", Body=path.read_bytes())


@pytest.mark.parametrize("more", [(), ("--scheduler", "local", "--jobs", "1")])
def test_a_bucket_gives_the_report_of_a_folder(s3: Any, traces: Path, capfd: pytest.CaptureFixture[str], more: tuple[str, ...]):
    put(s3, traces, "of/team")
    code, from_folder, told = report_of(capfd, str(traces))
    assert (code, len(from_folder["sessions"]), len(told)) == (0, 4, 1)
    as_there = json.loads(json.dumps(from_folder).replace(str(traces), "s3://traces/of/team"))
    assert report_of(capfd, "s3://traces/of/team/", *more) == (0, as_there, [told[0].replace(str(traces), "s3://traces/of/team")])


def test_one_object_by_its_address(s3: Any, traces: Path, capfd: pytest.CaptureFixture[str]):
    put(s3, traces, "one")
    code, report, told = report_of(capfd, "s3://traces/one/m.jsonl", "s3://traces/one/m.jsonl")
    assert (code, told, [row["file"] for row in report["sessions"]]) == (0, [], ["s3://traces/one/m.jsonl"])


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://no-such-bucket/team", "s3://no-such-bucket/team cannot be read: "),
        ("s3://traces/nowhere", "s3://traces/nowhere does not exist"),
        ("unheard-of://traces", "unheard-of://traces cannot be read: "),
    ],
)
def test_what_is_not_there_is_named_and_the_rest_goes_on(s3: Any, traces: Path, capfd: pytest.CaptureFixture[str], address: str, said: str):
    code, report, told = report_of(capfd, address, str(traces / "m.jsonl"))
    assert (code, len(report["sessions"]), len(told)) == (0, 1, 1)
    assert told[0].startswith(f"ullage replay: {said}")
    assert report_of(capfd, address)[0] == 1


def test_a_storage_that_does_not_answer_is_named(traces: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    code, _, told = report_of(capfd, "s3://traces/team")
    assert code == 1
    assert told[0].startswith("ullage replay: s3://traces/team cannot be read: ")


# By fsspec alone: its storage in memory


@pytest.fixture
def memory() -> Iterator[Any]:
    storage = import_module("fsspec").filesystem("memory")
    yield storage
    storage.store.clear()
    storage.pseudo_dirs[:] = [""]


def test_what_a_program_keeps_beside_comes_along(memory: Any):
    for name in ("ui_messages.json", "task_metadata.json", "api_conversation_history.json", "other.json"):
        memory.pipe(f"/tasks/17/{name}", name.encode())
    with brought("memory://tasks/17/api_conversation_history.json") as path:
        assert (path.parent.name, path.read_text()) == ("17", "api_conversation_history.json")
        found = {each.name for each in path.parent.iterdir()}
    assert found == {"ui_messages.json", "task_metadata.json", "api_conversation_history.json"}
    assert not path.parent.exists()


def test_sessions_in_many_files_are_named(memory: Any):
    memory.pipe("/storage/session/p/ses_1.json", b"{}")
    memory.pipe("/storage/a.jsonl", b"{}")
    failures: list[str] = []
    assert list(objects_below("memory://storage", failures)) == ["memory://storage/a.jsonl"]
    (said,) = failures
    assert said.startswith("memory://storage holds 1 sessions of OpenCode before 1.2, which lie in many files: copy them")


def test_an_address_with_nothing_to_read(memory: Any):
    memory.pipe("/notes/a.txt", b"")
    with pytest.raises(NothingFound, match="holds no transcripts"):
        objects_below("memory://notes", [])


@pytest.mark.parametrize("key", ["/x/../../a\x00b.jsonl", "/x/..", "/a\\..\\b.jsonl"])
def test_the_name_of_an_object_leads_nowhere(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Storage:
        """Gives the same for every key, whatever characters it has."""

        def open(self, path: str, mode: str) -> Any:
            assert (path, mode) == (key, "rb")
            return (tmp_path / "source").open("rb")

    (tmp_path / "source").write_bytes(b"{}")

    def storage(address: str) -> tuple[Storage, str]:
        return Storage(), key

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("ullage.replay.object_storage._storage", storage)
    with brought("some://thing") as path:
        assert path.resolve().is_relative_to(tmp_path.resolve())
        assert path.parent.parent.parent == tmp_path.resolve()
        assert path.read_bytes() == b"{}"


# Google Cloud Storage and Azure, whose clients stand in for by a folder


class Elsewhere:
    """As `pyarrow.fs.FileSystem`: addresses lead to a folder."""

    below: Path
    asked: list[str]

    @classmethod
    def from_uri(cls, address: str) -> tuple[Any, str]:
        cls.asked.append(address)
        fs = import_module("pyarrow.fs")
        container, _, path = unquote(address.partition("?")[0].partition("://")[2]).partition("/")
        return fs.SubTreeFileSystem(str(cls.below), fs.LocalFileSystem()), f"{container.partition('@')[0]}/{path}"


@pytest.mark.parametrize(
    ("top", "after"),
    [
        ("gs://traces/team", ""),
        ("gs://anonymous@traces/team", "?endpoint_override=localhost"),
        ("abfs://traces@account.dfs.core.windows.net/team", ""),
    ],
)
def test_other_storages_are_asked_by_the_whole_address(tmp_path: Path, traces: Path, monkeypatch: pytest.MonkeyPatch, top: str, after: str):
    Elsewhere.below, Elsewhere.asked = tmp_path / "storage", []
    written(traces / "a", plain_session().lines, "one more?.jsonl")
    copytree(traces, tmp_path / "storage" / ("anonymous" if "anonymous" in top else "traces") / "team")
    monkeypatch.setattr("pyarrow.fs.FileSystem", Elsewhere)
    found = list(objects_below(f"{top}{after}", []))
    assert {f"{top}/a/b.jsonl{after}", f"{top}/a/one%20more%3F.jsonl{after}"} < set(found)
    with brought(f"{top}/a/b.jsonl{after}") as path:
        assert path.read_bytes() == (traces / "a" / "b.jsonl").read_bytes()
    assert set(Elsewhere.asked) == {f"{top}{after}", f"{top}/a/b.jsonl{after}"}


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    class Without:
        @staticmethod
        def from_uri(address: str) -> None:
            raise import_module("pyarrow").ArrowNotImplementedError("Got GCS URI but Arrow compiled without GCS support")

    monkeypatch.setattr("pyarrow.fs.FileSystem", Without)
    with pytest.raises(NothingFound, match=r"gs://traces/team cannot be read: .*gcsfs"):
        objects_below("gs://traces/team", [])
    with pytest.raises(NothingFound, match=r"abfs://traces@a\.dfs\.core\.windows\.net/x cannot be read: .*adlfs"):
        objects_below("abfs://traces@a.dfs.core.windows.net/x", [])


def test_neither_fsspec_nor_pyarrow(monkeypatch: pytest.MonkeyPatch):
    for address, package in (("gs://traces/team", "pyarrow.fs"), ("memory://x", "fsspec")):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, package, None)
            with pytest.raises(NothingFound, match=r"pip install 'ullage\[cluster\]'"):
                objects_below(address, [])


def test_an_address_of_azure_without_its_account():
    with pytest.raises(NothingFound, match="abfs://container@account"):
        objects_below("abfs://traces/team", [])


# Secrets in addresses


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://traces/team", "s3://traces/team"),
        ("ftp://ann:hunter2@host/x", "ftp://ann:…@host/x"),
        ("https://host/x?sig=hunter2", "https://host/x?…"),
        ("gs://traces/team?access_token=hunter2#x", "gs://traces/team?…"),
    ],
)
def test_secrets_in_an_address_are_not_shown(address: str, said: str):
    assert shown(address) == said


def test_secrets_of_an_address_are_in_no_message(capfd: pytest.CaptureFixture[str]):
    assert main(["replay", "ftp://ann:hunter2@127.0.0.1:9/x", "gs://h?access_token=hunter2", "nosuch://ann:hunter2@h/x"]) == 1
    output = capfd.readouterr()
    assert "hunter2" not in output.out + output.err
    assert "ftp://ann:…@127.0.0.1:9/x cannot be read" in output.err


def test_an_address_with_secrets_does_not_go_to_a_scheduler(capfd: pytest.CaptureFixture[str]):
    assert main(["replay", "ftp://ann:hunter2@127.0.0.1:9/x", "--scheduler", "tls://127.0.0.1:9"]) == 2
    output = capfd.readouterr()
    assert "holds a password or a key" in output.err
    assert "hunter2" not in output.err


# `ullage report`


def test_a_report_of_a_bucket_is_that_of_a_folder(s3: Any, traces: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    put(s3, traces, "team")
    told: list[list[str]] = []
    for number, source in enumerate(("s3://traces/team", str(traces))):
        page = tmp_path / f"{number}.html"
        assert main(["report", source, "--out", str(page)]) == 0
        output = capfd.readouterr()
        told.append(output.out.splitlines()[:-1])
        assert f"{source}/z/d.jsonl is no transcript" in output.err
        assert source in page.read_text()
        assert (tmp_path / f"{number}.calls.parquet").exists() or list(tmp_path.glob(f"{number}*.parquet"))
    assert told[0] == told[1]
    assert len(told[0]) > 2
