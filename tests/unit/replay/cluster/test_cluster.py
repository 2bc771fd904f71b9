"""`ullage replay --scheduler`: real schedulers and worker processes of Dask, what they give, and what becomes of it where they fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import dask.config
import distributed
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import PATIENCE
from tests.unit.context.logs import PRELUDE, prompt, says
from tests.unit.recorded.readers.recorded import written
from tests.unit.replay.cluster.clusters import Cluster, cluster_of
from tests.unit.replay.cluster.faults import Answers, answers_wrongly, fails_at_some, killed_at_some, never, no_memory_for_b, unfinished
from tests.unit.replay.test_command import compacted_session, plain_session
from ullage.cli import main
from ullage.replay.cluster import connecting
from ullage.replay.cluster.connecting import NoCluster, connected, warning
from ullage.replay.cluster.installation import difference, installation
from ullage.replay.cluster.shares import LEAST_PLACES, MOST_PLACES, SHARES_TO_COME, Share, shares_of
from ullage.replay.cluster.work import work_on_cluster
from ullage.replay.file_work import FileWork, ReplayOptions, file_work
from ullage.replay.places import Stored
from ullage.store.log_store import LogStore


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A scheduler with two workers, each a process. It gives a share up after its second worker is lost."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        cluster_of(2) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Iterator[Any]:
    with connected(cluster.scheduler_address, None) as made:
        yield made


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Transcripts of several kinds, a store of Ullage, and two files that cannot be read."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for number in range(7):
        written(folder, plain_session((1_000 + number, 100, 0, 0, 0), sessionId=f"s{number}").lines, f"a{number}.jsonl")
    written(folder, compacted_session().lines, "b.jsonl")
    (folder / "c.jsonl").write_bytes(os.urandom(2_000))
    (folder / "d.jsonl").touch()
    (folder / "workspace").mkdir()
    with closing(LogStore.open(folder / "workspace")) as store:
        session = store.create_session("Looking", 5.0)
        for entry in (PRELUDE, prompt("Look"), says("Done.")):
            store.append(session.id, entry, 6.0)
    return folder


def shares(folder: Path, most_places: int = 32) -> Sequence[Share]:
    return tuple(shares_of(sorted(folder.glob("*.jsonl")), 1, most_places))


def without_times(found: dict[str, Any]) -> dict[str, Any]:
    """How long the work took differs from run to run."""
    return {name: value for name, value in found.items() if name != "seconds"}


def quiet(done: int, total: int) -> None:
    """Nobody looks."""


def test_a_cluster_gives_the_report_of_one_process(
    cluster: Cluster, traces: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(traces.parent)
    reports: list[tuple[int, Any, str]] = []
    for more in ([], ["--scheduler", cluster.scheduler_address]):
        code = main(["replay", "traces", "--policy", "ullage,claude-code", "--format", "json", *more])
        output = capfd.readouterr()
        reports.append((code, json.loads(output.out, object_hook=without_times), output.err))
    assert reports[0] == reports[1]
    code, report, told = reports[0]
    assert (code, len(report["sessions"]), len(report["not_read"])) == (0, 9, 2)
    assert "traces/c.jsonl is no transcript" in told
    assert "traces/d.jsonl is no transcript" in told


def test_workers_of_this_machine_are_started_and_ended(traces: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["replay", str(traces / "b.jsonl"), "--format", "json"]) == 0
    alone = capfd.readouterr()
    assert main(["replay", str(traces / "b.jsonl"), "--format", "json", "--scheduler", "local", "--jobs", "1"]) == 0
    assert capfd.readouterr() == alone


def test_figures_are_the_same_where_workers_are_killed(client: Any, tmp_path: Path):
    for number in range(6):
        written(tmp_path, plain_session(sessionId=f"s{number}").lines, f"a{number}.jsonl")
    written(tmp_path, compacted_session().lines, "once.jsonl")
    ends = written(tmp_path, compacted_session().lines, "always.jsonl")
    work = partial(killed_at_some, ours=os.getpid())
    done = list(work_on_cluster(client, shares(tmp_path, 3), work, unfinished, quiet, never))
    alone = [file_work(path, ReplayOptions()) for path in sorted(tmp_path.glob("*.jsonl"))]
    place = sorted(tmp_path.glob("*.jsonl")).index(ends)
    assert (tmp_path / "once.begun").exists()
    assert done[place].failures == (f"{ends} was not finished: each worker that worked on it ended (was there enough memory?)",)
    assert done[:place] + done[place + 1 :] == alone[:place] + alone[place + 1 :]


def test_what_goes_wrong_with_one_costs_no_other(client: Any, tmp_path: Path):
    for name in ("a", "bad", "c"):
        written(tmp_path, plain_session(sessionId=name).lines, f"{name}.jsonl")
    first, bad, last = work_on_cluster(client, shares(tmp_path), fails_at_some, unfinished, quiet, never)
    assert (len(first.rows), len(last.rows)) == (1, 1)
    assert bad == FileWork(failures=(f"{tmp_path / 'bad.jsonl'} was not finished: RuntimeError: out of luck",))


@pytest.mark.parametrize("how", get_args(Answers))
def test_what_a_worker_answers_wrongly_once_is_done_again(
    client: Any, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Answers
):
    monkeypatch.setattr("ullage.replay.cluster.work.done", partial(answers_wrongly, how, tmp_path / "answered"))
    done = list(work_on_cluster(client, shares(examples, 4), partial(file_work, options=ReplayOptions()), unfinished, quiet, never))
    assert (tmp_path / "answered").exists()
    assert done == [file_work(path, ReplayOptions()) for path in sorted(examples.glob("*.jsonl"))]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("too few", "a worker gave 0 results for 1 file"),
        ("too many", "a worker gave 2 results for 1 file"),
        ("none", "a worker gave NoneType instead of results"),
        ("others", "a worker gave str instead of what was asked"),
        ("what cannot be read", "what a worker gave cannot be read (ValueError: cannot be read)"),
        ("no pickle", "what a worker gave cannot be read (UnpicklingError: invalid load key, 'n'.)"),
    ],
)
def test_what_workers_always_answer_wrongly_is_named(client: Any, examples: Path, monkeypatch: pytest.MonkeyPatch, how: Answers, said: str):
    monkeypatch.setattr("ullage.replay.cluster.work.done", partial(answers_wrongly, how, None))
    paths = sorted(examples.glob("*.jsonl"))[:3]
    done = list(work_on_cluster(client, tuple(shares_of(paths)), partial(file_work, options=ReplayOptions()), unfinished, quiet, never))
    assert [each.failures for each in done] == [(f"{path} was not finished: {said}",) for path in paths]


@pytest.fixture(scope="module")
def threads() -> Iterator[Cluster]:
    """A scheduler with workers in this process: the same protocol, and quick."""
    with cluster_of(3, threads_per_worker=2, processes=False) as started:
        yield started


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    for number in range(9):
        session = compacted_session() if number % 3 == 0 else plain_session((1_000 + number, 10 * number, 0, 0, 0), sessionId=f"s{number}")
        written(folder, session.lines, f"{number}.jsonl")
    return folder


@given(data=st.data())
def test_figures_are_the_same_however_it_is_split(threads: Cluster, examples: Path, data: st.DataObject):
    paths = sorted(examples.glob("*.jsonl"))
    ends = sorted(data.draw(st.sets(st.integers(1, len(paths) - 1))))
    cuts = zip([0, *ends], [*ends, len(paths)], strict=True)
    drawn = [Share(start, tuple(paths[start:end]), data.draw(st.integers(0, 9))) for start, end in cuts]
    with distributed.Client(threads, set_as_default=False) as client:
        told: list[tuple[int, int]] = []
        done = list(
            work_on_cluster(
                client, drawn, partial(file_work, options=ReplayOptions()), unfinished, lambda done, of: told.append((done, of)), never
            )
        )
    assert done == [file_work(path, ReplayOptions()) for path in paths]
    assert told == [(number, 9) for number in range(1, 10)]


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(0, 9), st.integers(1, 6), st.integers(1, 60))
def test_shares_have_each_place_once_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], workers: int, most: int, most_bytes: int
):
    folder = tmp_path_factory.mktemp("shares")
    paths = [folder / f"{number:02}" for number in range(len(sizes))]
    for path, size in zip(paths, sizes, strict=True):
        path.write_bytes(b"x" * size)
    split = list(shares_of(paths, workers, most, most_bytes))
    assert [place for share in split for place in share.places] == paths
    assert [share.first for share in split] == [sum(len(share.places) for share in split[:number]) for number in range(len(split))]
    assert all(len(share.places) == 1 or (len(share.places) <= most and share.size <= most_bytes) for share in split)


@given(st.integers(1, 3_000), st.integers(1, 8))
def test_no_worker_waits_long_for_the_last_share(count: int, workers: int):
    split = list(shares_of([Stored(f"s3://traces/{number}.jsonl", 1) for number in range(count)], workers))
    left = count
    for share in split:
        assert len(share.places) == min(left, MOST_PLACES, max(LEAST_PLACES, left // (SHARES_TO_COME * workers)))
        left -= len(share.places)
    assert len(split) >= min(workers, count / LEAST_PLACES)


def test_a_scheduler_that_goes_away_is_said(examples: Path):
    with (
        cluster_of(1, processes=False) as started,
        connected(started.scheduler_address, None) as client,
        pytest.raises(NoCluster, match=r"went away|has forgotten"),
    ):
        list(
            work_on_cluster(
                client,
                shares(examples, 1),
                partial(file_work, options=ReplayOptions()),
                unfinished,
                lambda done, of: started.close(),
                never,
            )
        )


def test_certificates_come_from_the_configuration_of_dask(traces: Path, capfd: pytest.CaptureFixture[str]):
    made = distributed.Security.temporary()  # pyright: ignore[reportUnknownMemberType] - its arguments have no types
    names = {"ca-file": "tls_ca_file", "client.cert": "tls_client_cert", "client.key": "tls_client_key"}
    ours = {name: getattr(made, attribute) for name, attribute in names.items()}
    with (
        cluster_of(1, processes=False, security=made, protocol="tls") as started,
        dask.config.set({f"distributed.comm.tls.{name}": value for name, value in ours.items()}),
    ):
        assert started.scheduler_address.startswith("tls://")
        assert main(["replay", str(traces / "b.jsonl"), "--format", "json", "--scheduler", started.scheduler_address]) == 0
    assert capfd.readouterr().err == ""


# All workers gone


def test_it_goes_on_when_a_worker_comes_back(examples: Path):
    with (
        cluster_of(1, processes=False) as started,
        connected(started.scheduler_address, None) as client,
    ):
        said: list[str] = []

        def told(text: str) -> None:
            said.append(text)
            started.scale(1)

        done = work_on_cluster(client, shares(examples, 1), partial(file_work, options=ReplayOptions()), unfinished, quiet, never, told)
        first = next(done)
        started.scale(0)
        until_no_workers(client)
        assert [first, *done] == [file_work(path, ReplayOptions()) for path in sorted(examples.glob("*.jsonl"))]
        assert said in ([], ["the scheduler has no workers: waiting for one, for 60 seconds at most"])


def test_it_ends_with_a_sentence_when_none_comes_back(examples: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ullage.replay.cluster.work.WITHOUT_WORKERS_SECONDS", 0.2)
    monkeypatch.setattr("ullage.replay.cluster.work.LOOK_SECONDS", 0.05)
    said: list[str] = []
    with (
        cluster_of(1, processes=False) as started,
        connected(started.scheduler_address, None) as client,
    ):
        started.scale(0)
        until_no_workers(client)
        work = work_on_cluster(
            client, shares(examples, 1), partial(file_work, options=ReplayOptions()), unfinished, quiet, never, said.append
        )
        with pytest.raises(NoCluster, match=r"has had no workers for 0 seconds\. Start some, and ask again"):
            list(work)
    assert said == ["the scheduler has no workers: waiting for one, for 0 seconds at most"]


def until_no_workers(client: Any) -> None:
    until = time.monotonic() + PATIENCE
    while client.nthreads() and time.monotonic() < until:
        time.sleep(0.02)
    assert not client.nthreads()


# Schedulers that cannot be worked with


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:9", "the scheduler tcp://127.0.0.1:9 does not answer: "),
        ("tls://127.0.0.1:9", "the scheduler tls://127.0.0.1:9 cannot be spoken to: "),
        ("nonsense://127.0.0.1:9", "the scheduler nonsense://127.0.0.1:9 cannot be spoken to: "),
    ],
)
def test_a_scheduler_that_is_not_there(
    traces: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, address: str, said: str
):
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 0.3)
    assert main(["replay", str(traces), "--scheduler", address]) == 1
    output = capfd.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"ullage replay: {said}")
    assert len(output.err.splitlines()) == 1


def test_a_scheduler_without_workers(traces: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 0.5)
    with cluster_of(0, processes=False, protocol="tcp") as started:
        assert main(["replay", str(traces), "--scheduler", started.scheduler_address]) == 1
    assert "has no workers. Start some with `dask worker tcp://" in capfd.readouterr().err


def test_workers_with_another_ullage_are_refused(
    cluster: Cluster, traces: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    theirs = installation().version
    monkeypatch.setattr("ullage.__version__", "99.0.0")
    installation.cache_clear()
    code = main(["replay", str(traces), "--scheduler", cluster.scheduler_address])
    installation.cache_clear()
    output = capfd.readouterr()
    assert (code, output.out) == (1, "")
    assert f"has Ullage {theirs}, and here it is 99.0.0. All have to be the same" in output.err


def test_a_worker_with_another_ullage_that_comes_later_is_refused(client: Any, examples: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ullage.replay.cluster.work.installation", lambda: replace(installation(), code="other"))
    with pytest.raises(NoCluster, match=r"with other code than here\. All have to be the same"):
        list(work_on_cluster(client, shares(examples), partial(file_work, options=ReplayOptions()), unfinished, quiet, never))


def test_each_difference_has_words():
    ours = installation()
    assert difference(ours, ours) == ""
    assert "with other code" in difference(replace(ours, code="0"), ours)
    assert difference(replace(ours, python="3.99"), ours).startswith("runs Python 3.99, and here it is 3.")
    assert "no ctok" in difference(replace(ours, packages=("no ctok", "tree-sitter 1")), ours)
    assert "mine of package 1" in difference(replace(ours, policies=("mine of package 1",)), ours)


@pytest.mark.parametrize(
    ("address", "is_warned_of"),
    [
        ("local", False),
        ("tls://10.0.0.1:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("localhost:8786", False),
        ("tcp://10.0.0.1:8786", True),
        ("scheduler:8786", True),
        ("tcp://localhost.example.com:8786", True),
        ("tcp://127.example.com:8786", True),
        ("tcp://[not an address", True),
    ],
)
def test_a_connection_without_tls_is_told(address: str, is_warned_of: bool):
    assert ("without TLS" in warning(address)) == is_warned_of


def test_views_do_not_go_to_other_machines(traces: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["replay", str(traces), "--scheduler", "tcp://127.0.0.1:9", "--views", str(tmp_path / "views")]) == 2
    assert "--views writes where the work is done" in capfd.readouterr().err


def test_without_a_scheduler_dask_is_not_loaded(traces: Path):
    code = f"import sys; from ullage.cli import main; main(['replay', {str(traces)!r}]); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert not {"dask", "distributed", "fsspec", "pyarrow", "tornado"} & set(ran.stdout.split())


# Memory


LIMIT = 180_000_000
"""Bytes of memory that the worker may take; most of them it has at its start."""

LINE = (
    '{"type": "user", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "uuid": "u%s", "message": {"role": "user", "content": "%s"}}\n'
)


@pytest.fixture(scope="module")
def client_of_a_small_worker() -> Iterator[Any]:
    with (
        cluster_of(1, memory_limit=LIMIT) as started,
        connected(started.scheduler_address, None) as made,
    ):
        yield made


LONG = 100_000
"""Characters of a prompt."""


def taken(client: Any) -> int:
    """Bytes that the one worker takes now."""
    (worker,) = client.run(os.getpid).values()
    return psutil.Process(worker).memory_info().rss


def test_what_a_worker_cannot_hold_is_worked_on_here_and_the_worker_stays(client_of_a_small_worker: Any, tmp_path: Path):
    small = written(tmp_path, plain_session().lines, "a.jsonl")
    large = tmp_path / "b.jsonl"
    padding = "-" * 3_000
    with large.open("w") as file:  # what is said is set aside; that it was said is not, nor is its name
        file.writelines(LINE % (f"{number}{padding}", number) for number in range(40_000))
    before = client_of_a_small_worker.run(os.getpid)
    work = partial(file_work, options=ReplayOptions())
    told = list[str]()
    here = list[int]()

    def apart(number: int) -> FileWork:
        here.append(number)
        return FileWork(failures=("it was worked on here",))

    shares = (Share(0, (small,), 9), Share(1, (large, small), 8), Share(3, (small,), 7))
    first, left, beside, last = work_on_cluster(client_of_a_small_worker, shares, work, unfinished, quiet, apart, told.append)
    assert client_of_a_small_worker.run(os.getpid) == before
    assert (len(first.rows), first, first) == (1, beside, last)
    assert (here, left.failures) == ([1], ("it was worked on here",))
    assert told == [f"{large} takes more memory than the 180 MB of a worker: it is read here, after the others"]


def test_what_no_worker_holds_is_in_the_report_of_one_process(
    cluster: Cluster, traces: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    assert main(["replay", str(traces), "--format", "json"]) == 0
    alone = capfd.readouterr()
    monkeypatch.setattr("ullage.replay.cluster.work.done", no_memory_for_b)
    assert main(["replay", str(traces), "--format", "json", "--scheduler", cluster.scheduler_address]) == 0
    out, err = capfd.readouterr()
    assert out == alone.out
    told = f"{traces / 'b.jsonl'} takes more memory than the 1 MB of a worker: it is read here, after the others"
    assert told in err
    assert told not in alone.err


def test_what_is_said_may_be_more_than_a_worker_can_hold(client_of_a_small_worker: Any, tmp_path: Path):
    large = tmp_path / "a.jsonl"
    lines = (LIMIT - taken(client_of_a_small_worker)) // LONG + 50
    with large.open("w") as file:
        file.writelines(LINE % (number, f"{number} " * (LONG // 5)) for number in range(1_000, 1_000 + lines))
    assert large.stat().st_size > LIMIT - taken(client_of_a_small_worker)
    share = Share(0, (large,), 9)
    (work,) = work_on_cluster(client_of_a_small_worker, (share,), partial(file_work, options=ReplayOptions()), unfinished, quiet, never)
    assert (len(work.rows), work.failures) == (1, ())
