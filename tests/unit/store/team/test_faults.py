"""What cannot be had of the database is said in a sentence that names what failed and what to do, and no secret."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from tests.postgres import Postgres
from ullage.store.recovery import make_session
from ullage.store.schema import EntryRow
from ullage.store.team.address import BadAddress, address_of, read_address, workspace_name
from ullage.store.team.faults import Away, TeamStoreFailed, TeamStoreRefused, fault_of
from ullage.store.team.postgres import PostgresStore
from ullage.store.team.store import Batch

SECRET = "s3cret"
ROW = EntryRow(b"s", 1, 1.0, b"{}", b"")


@pytest.mark.parametrize(
    "address, mode",
    [
        ("postgresql://me@db.example.com/x", "verify-full"),
        ("postgresql://me@db.example.com/x?sslmode=require", "require"),
        ("postgres://me@10.0.0.1/x?sslmode=verify-ca&sslrootcert=/ca.pem", "verify-ca"),
        ("postgresql://me@localhost,db.example.com/x", "verify-full"),
        ("postgresql://me@localhost/x?hostaddr=203.0.113.9", "verify-full"),
        ("postgresql://me@localhost/x", None),
        ("postgresql://me@127.0.0.7:5433/x", None),
        ("postgresql://me@[::1]/x", None),
        ("postgresql://me@/x?host=/var/run/postgresql", None),
        ("postgresql://me@localhost/x?sslmode=disable", "disable"),
    ],
)
def test_off_this_machine_there_is_tls(address: str, mode: str | None) -> None:
    assert read_address(address, "it").parameters.get("sslmode") == mode


@pytest.mark.parametrize(
    "address, why",
    [
        (f"postgresql://me:{SECRET}@db.example.com/x?sslmode=disable", "could be read on the way"),
        (f"postgresql://me:{SECRET}@db.example.com/x?sslmode=prefer", "could be read on the way"),
        (f"postgresql://me:{SECRET}@localhost/x?hostaddr=203.0.113.9&sslmode=allow", "could be read on the way"),
        (f"postgresql://me:{SECRET}@/x", "names no host"),
        (f"postgresql://me:{SECRET}@h/x?service=other", "service file"),
        (f"postgresql://me:{SECRET}@h:port:2/x?nonsense=1", "cannot be read"),
        (f"mysql://me:{SECRET}@h/x", "is no address"),
        (f"host=h password={SECRET}", "is no address"),
    ],
)
def test_an_address_that_is_not_taken_is_not_repeated(address: str, why: str) -> None:
    with pytest.raises(BadAddress, match=why) as refused:
        read_address(address, "The setting")
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


def test_an_address_is_shown_without_its_password() -> None:
    address = read_address(f"postgresql://me:{SECRET}@db.example.com:99/x", "it")
    assert address.shown == "me@db.example.com:99/x"
    assert SECRET not in repr(address)
    assert SECRET not in str(fault_of(RuntimeError(f"odd: {SECRET}"), address, connecting=True))


@pytest.mark.parametrize("missing", ["psycopg", "psycopg_pool"])
def test_a_library_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(BadAddress, match=r"need the library psycopg, which is not installed.*ullage\[postgres\]"):
        read_address("postgresql://me@localhost/x", "it")


def test_the_setting_comes_before_the_environment(tmp_path: Path) -> None:
    of = {"ULLAGE_STORE": "postgresql://a@localhost/b", "ULLAGE_STORE_WORKSPACE": "theirs"}
    for setting, shown in (("", "a@localhost/b"), ("postgresql://c@localhost/d", "c@localhost/d")):
        found = address_of(setting, of)
        assert found is not None and found.shown == shown
    nothing: dict[str, str] = {}
    assert address_of(" ", nothing) is None
    assert [workspace_name(*each) for each in (("", tmp_path, of), ("my/{folder}", tmp_path, of), ("", tmp_path, nothing))] == [
        *("theirs", f"my/{tmp_path.name}", tmp_path.resolve().as_posix())
    ]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def failing(address: str, workspace: str = "w") -> TeamStoreFailed:
    """What is told over a connection of its own, and the same over one that is lent."""
    told: list[TeamStoreFailed] = []
    for durable in (True, False):
        with (
            closing(PostgresStore(read_address(address, "it"), workspace, "h", durable=durable)) as store,
            pytest.raises(TeamStoreFailed) as failed,
        ):
            store.sessions()
        assert SECRET not in str(failed.value)
        assert failed.value.__context__ is None or failed.value.__suppress_context__
        told.append(failed.value)
    assert type(told[0]) is type(told[1]) and str(told[0]) == str(told[1])
    return told[0]


def test_nothing_answers() -> None:
    told = failing(f"postgresql://me:{SECRET}@127.0.0.1:{free_port()}/x")
    assert isinstance(told, Away) and "nothing answers there" in str(told)


def test_a_name_that_does_not_resolve() -> None:
    told = failing(f"postgresql://me:{SECRET}@no-such-host.invalid/x")
    assert isinstance(told, Away) and "does not resolve" in str(told)


def test_one_that_accepts_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.store.team.connecting.CONNECT_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = failing(f"postgresql://me:{SECRET}@127.0.0.1:{server.getsockname()[1]}/x")
    assert isinstance(told, Away) and "does not answer in time" in str(told)


def test_a_database_that_is_not_there(postgres: Postgres) -> None:
    assert "no database of this name" in str(failing(postgres.url("ann", "nowhere")))


def test_a_user_that_is_not_there(postgres: Postgres) -> None:
    assert "does not let this user in" in str(failing(postgres.url("mallory")))


def test_a_user_without_the_role(postgres: Postgres) -> None:
    postgres.sql("CREATE ROLE guest LOGIN")
    told = failing(postgres.url("guest"))
    assert isinstance(told, TeamStoreRefused) and "the role ullage_member" in str(told)


def test_a_wrong_password(postgres: Postgres) -> None:
    postgres.sql("CREATE ROLE carol LOGIN PASSWORD 'right' IN ROLE ullage_member")
    rules = postgres.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all carol scram-sha-256\n{before}")
    postgres.sql("SELECT pg_reload_conf()")
    try:
        address = f"postgresql://carol:%s@/postgres?host={postgres.folder}"
        told = failing(address % SECRET)
        assert isinstance(told, TeamStoreRefused) and "does not take the password" in str(told)
        PostgresStore(read_address(address % "right", "it"), "of carol", "h").close()
    finally:
        rules.write_text(before)
        postgres.sql("SELECT pg_reload_conf()")


@pytest.mark.parametrize("code, why", [("53100", "its disk is full"), ("53300", "too many connections"), ("25006", "can only be read now")])
def test_what_the_server_cannot_do_now(postgres: Postgres, connect: Callable[..., PostgresStore], code: str, why: str) -> None:
    store = connect()
    store.make(make_session(b"s", b"", 1.0, 1.0))
    store.take("s")
    postgres.sql(f"CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '{code}'; END $$")
    postgres.sql("CREATE TRIGGER fails BEFORE INSERT ON ullage.entry FOR EACH ROW EXECUTE FUNCTION fails()")
    try:
        with pytest.raises(Away, match=why):
            store.append("s", 0, Batch([ROW]))
    finally:
        postgres.sql("DROP FUNCTION fails CASCADE")
    store.append("s", 0, Batch([ROW]))
    assert store.since("s", 0, 9) == [ROW]


def test_a_database_that_is_only_read(postgres: Postgres, connect: Callable[..., PostgresStore], workspace: str) -> None:
    connect().sessions()
    postgres.sql("ALTER ROLE bob SET default_transaction_read_only = on")
    postgres.sql("INSERT INTO ullage.member VALUES (%s, 'bob')", workspace)
    try:
        with pytest.raises(Away, match="can only be read now"):
            connect("bob").make(make_session(b"s", b"", 1.0, 1.0))
    finally:
        postgres.sql("ALTER ROLE bob RESET ALL")


def test_one_that_takes_too_long(postgres: Postgres, connect: Callable[..., PostgresStore], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.store.team.connecting._SETTINGS", {"statement_timeout": "300ms"})
    store = connect()
    store.make(make_session(b"s", b"", 1.0, 1.0))
    with psycopg.connect(postgres.url()) as other:
        other.execute("SELECT FROM ullage.session FOR UPDATE")
        with pytest.raises(Away, match="took too long"):
            store.take("s")
    assert store.take("s")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for `localhost` that nobody vouches for, with its key beside it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    kept = serialization.PrivateFormat.TraditionalOpenSSL
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, kept, serialization.NoEncryption()))
    return folder / "cert.pem"


def test_a_server_without_tls(certificate: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=_refuses_tls, args=(server,), daemon=True)
        answering.start()
        told = failing(f"postgresql://me:{SECRET}@127.0.0.1:{server.getsockname()[1]}/x?sslmode=verify-full&sslrootcert={certificate}")
        answering.join()
    assert isinstance(told, TeamStoreRefused) and "speaks no TLS" in str(told)


def test_the_certificate_of_the_server_is_looked_at(postgres: Postgres, certificate: Path) -> None:
    for name in ("cert.pem", "key.pem"):
        there = postgres.folder / "data" / name
        there.write_bytes((certificate.parent / name).read_bytes())
        there.chmod(0o600)
        owner = (postgres.folder / "data").stat()
        os.chown(there, owner.st_uid, owner.st_gid)
    port = free_port()
    postgres.stop()
    postgres.start(*("-c", "ssl=on", "-c", "ssl_cert_file=cert.pem", "-c", "ssl_key_file=key.pem"), *("-h", "127.0.0.1", "-p", str(port)))
    try:
        place = f"postgresql://ann:{SECRET}@localhost:{port}/postgres?sslmode=verify-full&hostaddr=127.0.0.1"
        told = failing(f"{place}&sslrootcert=system")
        assert isinstance(told, TeamStoreRefused) and "certificate is not trusted" in str(told)
        with closing(PostgresStore(read_address(f"{place}&sslrootcert={certificate}", "it"), "over tls", "h")) as store:
            store.sessions()
        told = failing(f"{place.replace('@localhost', '@127.0.0.1')}&sslrootcert={certificate}")
        assert isinstance(told, TeamStoreRefused) and "certificate" in str(told)
    finally:
        postgres.stop()
        postgres.start()


def _refuses_tls(server: socket.socket) -> None:
    for _ in range(2):
        connection, _ = server.accept()
        with connection:
            connection.recv(8)
            connection.sendall(b"N")
            connection.recv(1)
