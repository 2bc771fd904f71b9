"""Transcripts in object storage: from a real server of S3 (moto's) to the same report as from a folder, and what cannot be read there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.unit.context.logs import PRELUDE, prompt, says
from tests.unit.recorded.readers.recorded import written
from tests.unit.replay.test_command import compacted_session, plain_session
from ullage.cli import main
from ullage.recorded.readers.files import NothingFound
from ullage.replay.object_storage import brought, objects_below
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
