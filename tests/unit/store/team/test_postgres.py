"""What the store in PostgreSQL promises: entries are only added, in order, by the one who holds the session."""

from __future__ import annotations

import time
from collections.abc import Callable

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.postgres import Postgres
from ullage.context.entries import UserPrompt
from ullage.store.log_store import LogStore
from ullage.store.plain_files import ResultFiles
from ullage.store.recovery import make_session
from ullage.store.schema import EntryRow, ValueRow, entry_sum, value_sum
from ullage.store.search import SearchIndex
from ullage.store.session_rows import Heads
from ullage.store.team.address import read_address
from ullage.store.team.faults import LinkLost, SessionTaken, TeamStoreRefused
from ullage.store.team.postgres import PostgresStore, digest_of
from ullage.store.team.store import Batch, IndexedWords, Spoken

Connect = Callable[..., PostgresStore]

SESSION = make_session(b"5e55", b"A title \0 with NUL", 1.5, 1.5)


def row(seq: int, body: bytes = b'{"said":"hello"}', session: str = "5e55") -> EntryRow:
    name = session.encode()
    return EntryRow(name, seq, float(seq), body, entry_sum(name, seq, float(seq), body))


def begun(store: PostgresStore, session: str = "5e55") -> None:
    assert store.make(make_session(session.encode(), b"title", 1.0, 1.0)) == 0
    assert store.take(session)


def test_what_is_added_is_read_byte_for_byte(connect: Connect) -> None:
    store = connect()
    store.make(SESSION)
    assert store.take("5e55")
    rows = [row(1), row(2, b"\x00\xff not even JSON"), row(4)]  # 3 was lost here
    store.append("5e55", 0, Batch(rows))
    assert store.since("5e55", 0, 10) == rows
    assert store.since("5e55", 1, 1) == rows[1:2]
    assert store.digest("5e55", 4) == digest_of(rows)
    assert store.digest("5e55", 2) == digest_of(rows[:2])
    (listed,) = connect("ann").sessions()
    assert (listed.session.title, listed.session.updated_at, listed.last_seq) == (SESSION.title, 4.0, 4)
    assert listed.session.is_whole and listed.session.has_its_time


def test_what_goes_along_is_as_it_is_now(connect: Connect) -> None:
    store = connect()
    store.make(SESSION)
    store.take("5e55")
    value = ValueRow(b"model:5e55", b'"m"', value_sum(b"model:5e55", b'"m"'))
    store.put_heads(Heads(SESSION, [value]))
    named = make_session(SESSION.id, b"Another title", SESSION.created_at, SESSION.updated_at)
    store.put_heads(Heads(named, [value]))
    assert store.heads("5e55") == Heads(named, [value], [])
    assert store.heads("unknown") is None


@pytest.mark.parametrize("after, seqs", [(1, [2]), (0, [3]), (2, [2]), (2, [1]), (3, [4]), (2, [3, 3])])
def test_no_entry_is_lost_doubled_or_out_of_order(connect: Connect, after: int, seqs: list[int]) -> None:
    store = connect()
    begun(store)
    store.append("5e55", 0, Batch([row(1), row(2)]))
    with pytest.raises(SessionTaken):
        store.append("5e55", after, Batch([row(seq, b"other") for seq in seqs]))
    assert [each.seq for each in store.since("5e55", 0, 10)] == [1, 2]


@pytest.mark.parametrize("statement", ["UPDATE ullage.entry SET body = 'x'", "TRUNCATE ullage.entry CASCADE"])
def test_the_owner_of_the_tables_cannot_change_an_entry(connect: Connect, postgres: Postgres, statement: str) -> None:
    store = connect()
    begun(store)
    store.append("5e55", 0, Batch([row(1)]))
    with pytest.raises(psycopg.Error, match="only ever added"):
        postgres.sql(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO ullage.entry (workspace, session_id, seq, at, body, sum) VALUES ('w', 's', 1, 1, '', '')",
        "UPDATE ullage.session SET last_seq = 0",
        "DELETE FROM ullage.entry",
        "DELETE FROM ullage.lease",
        "INSERT INTO ullage.member VALUES ('w', 'eve')",
        "ALTER TABLE ullage.entry DISABLE TRIGGER only_added",
    ],
)
def test_a_member_writes_by_the_functions_alone(postgres: Postgres, statement: str) -> None:
    with psycopg.connect(postgres.url("eve"), autocommit=True) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.encode())


# Who may see what


def test_a_workspace_is_seen_by_its_members_alone(connect: Connect, postgres: Postgres, workspace: str) -> None:
    begun(connect("ann"))
    postgres.sql("INSERT INTO ullage.deleted (workspace, session_id, sums) VALUES (%s, 'gone', '{}')", workspace)
    with pytest.raises(TeamStoreRefused, match="no member of the workspace"):
        connect("eve").sessions()
    with psycopg.connect(postgres.url("eve")) as connection:
        for table in ("session", "entry", "value", "prompt", "lease", "attached", "speaks_of", "said", "passage", "member", "deleted"):
            found = connection.execute(f"SELECT count(*) FROM ullage.{table} WHERE workspace = %s".encode(), (workspace,)).fetchone()
            assert found == (0,), table
    with psycopg.connect(postgres.url("ann"), autocommit=True) as connection:
        connection.execute("SELECT ullage.let_in(%s, 'bob')", (workspace,))
    assert [each.session.id for each in connect("bob").sessions()] == [b"5e55"]
    assert [each.session_id for each in connect("bob").gone(0)] == ["gone"]


@pytest.mark.parametrize(
    "call",
    [
        "ullage.make_session(%(w)s, 'mine', 'title', 1)",
        "ullage.take_lease(%(w)s, '5e55', 'me', 10)",
        "ullage.attach(%(w)s, 'media', 'x', '')",
        "ullage.let_in(%(w)s, 'eve')",
        "ullage.enter(%(w)s)",
        "ullage.say(%(w)s, '5e55', 0, 1, '{1}', '{user}', '{NULL}', '{mine}')",
        "ullage.delete_session(%(w)s, '5e55', 'ann')",
        "ullage.append(%(w)s, '5e55', 'ann', 9, 0, '{1}', '{1}', '{x}', '{x}', '{}', '{}')",
    ],
)
def test_who_is_no_member_does_nothing_by_the_functions(connect: Connect, postgres: Postgres, workspace: str, call: str) -> None:
    begun(connect("ann", "ann"))
    with psycopg.connect(postgres.url("eve"), autocommit=True) as connection, pytest.raises(psycopg.Error) as refused:
        connection.execute(f"SELECT {call}".encode(), {"w": workspace})
    assert refused.value.sqlstate == "UL002"


def test_nobody_writes_in_another_name(connect: Connect, postgres: Postgres, workspace: str) -> None:
    store = connect("ann")
    begun(store)
    postgres.sql("INSERT INTO ullage.member VALUES (%s, 'bob')", workspace)
    store.append("5e55", 0, Batch([row(1)]))
    store.give_back("5e55")
    other = connect("bob")
    assert other.take("5e55")
    other.append("5e55", 1, Batch([row(2)]))
    found = postgres.sql("SELECT written_by FROM ullage.entry WHERE workspace = %s ORDER BY seq", workspace)
    assert found == [("ann",), ("bob",)]


# Who writes


def test_one_writes_a_session(connect: Connect) -> None:
    ours, theirs = connect("ann", "ours"), connect("ann", "theirs")
    begun(ours)
    assert not theirs.take("5e55")
    assert [each.held_by for each in theirs.sessions()] == ["ann"]
    assert [each.held_by for each in ours.sessions()] == [""]
    with pytest.raises(SessionTaken):
        theirs.append("5e55", 0, Batch([row(1)]))
    ours.give_back("5e55")
    assert theirs.take("5e55")
    with pytest.raises(SessionTaken):
        ours.append("5e55", 0, Batch([row(1)]))


def test_the_lease_survives_a_lost_connection_and_ends_by_itself(connect: Connect) -> None:
    ours, theirs = connect("ann", "ours", lease_seconds=1.0), connect("ann", "theirs")
    begun(ours)
    began = time.monotonic()
    ours.close()
    assert not theirs.take("5e55"), "its holder may be back in a moment"
    ours.append("5e55", 0, Batch([row(1)]))  # over a new connection
    ours.close()
    while not theirs.take("5e55"):
        assert time.monotonic() < began + 10
        time.sleep(0.02)
    assert time.monotonic() - began >= 1.0
    with pytest.raises(SessionTaken):
        ours.append("5e55", 1, Batch([row(2)]))


def test_a_copied_container_is_no_second_writer(connect: Connect) -> None:
    ours, copied = connect("ann", "same"), connect("ann", "same")
    begun(ours)
    assert not copied.take("5e55")
    assert ours.take("5e55"), "to renew it changes nothing"
    ours.close()
    until = time.monotonic() + 10
    while not copied.take("5e55"):  # the server needs a moment to see that the connection is gone
        assert time.monotonic() < until


def test_a_lost_connection_is_told_and_made_anew(connect: Connect, postgres: Postgres) -> None:
    store = connect("ann", "ours")
    begun(store)
    postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'")
    with pytest.raises(LinkLost, match="was lost"):
        store.append("5e55", 0, Batch([row(1)]))
    store.append("5e55", 0, Batch([row(1)]))
    assert len(store.since("5e55", 0, 9)) == 1


@settings(max_examples=many(15, deep=300))
@given(st.lists(st.tuples(st.sampled_from(["ours", "theirs"]), st.sampled_from(["take", "append", "give back", "cut"])), max_size=25))
def test_whatever_two_processes_do_no_acknowledged_entry_is_lost(postgres: Postgres, steps: list[tuple[str, str]]) -> None:
    address = read_address(postgres.url("ann"), "test")
    both = {name: PostgresStore(address, "steps", name) for name in ("ours", "theirs")}
    session = f"s{time.monotonic_ns()}"
    acknowledged: list[EntryRow] = []
    believes = {"ours": 0, "theirs": 0}
    try:
        both["ours"].make(make_session(session.encode(), b"", 1.0, 1.0))
        holder = ""
        for name, step in steps:
            store = both[name]
            match step:
                case "take":
                    taken = store.take(session)
                    assert taken == (holder in ("", name)), "one at a time, and whoever is free to take it does"
                    if taken:
                        holder = name
                        believes[name] = max((each.seq for each in store.since(session, 0, 99)), default=0)
                case "append":
                    new = row(believes[name] + 1, name.encode(), session)
                    try:
                        store.append(session, believes[name], Batch([new]))
                    except SessionTaken:
                        assert holder != name
                    else:
                        assert holder == name
                        acknowledged.append(new)
                        believes[name] += 1
                case "give back":
                    store.give_back(session)
                    holder = "" if holder == name else holder
                case _:
                    store.close()
        assert both["ours"].since(session, 0, 99) == acknowledged
    finally:
        for store in both.values():
            store.close()


# What lies beside the log, and search


def test_what_is_beside_the_log_goes_with_the_last_session(connect: Connect) -> None:
    store, image = connect(), Spoken("media", "ab.png")
    assert store.missing([image]) == [image]
    store.attach(image, b"\x89PNG")
    store.attach(image, b"other bytes of the same name are not taken")
    assert store.missing([image]) == []
    for session in ("one", "two"):
        begun(store, session)
        store.append(session, 0, Batch([row(1, session=session)], [image, image]))
        assert store.spoken_of(session) == [image]
    assert store.delete("one")
    assert store.attached(image) == b"\x89PNG"
    assert store.delete("two")
    assert store.attached(image) is None
    assert not store.delete("two")


def test_words_are_found_by_their_beginnings(connect: Connect) -> None:
    store = connect()
    begun(store)
    said = [
        IndexedWords(1, "user", None, "Why does the parser \0 hang?"),
        IndexedWords(2, "result of bash", "t1", "parsing took 3 s; it's fine"),
    ]
    store.append("5e55", 0, Batch([row(1), row(2)]))
    assert store.say("5e55", 0, 2, said)
    assert store.said_through("5e55") == 2
    assert not store.say("5e55", 0, 2, said), "they are found once"
    assert [(hit.seq, hit.what) for hit in store.search("pars", 5)] == [(2, "result of bash"), (1, "user")]
    (hit,) = store.search("parser hang", 5)
    assert (hit.session_id, hit.seq, hit.at, hit.excerpt) == ("5e55", 1, 1.0, "Why does the parser hang?")
    for words in ("it's", "a & b | !", "'", "\\", "& | ! ( ) :*", "", "nowhere"):
        store.search(words, 5)
    assert store.search("nowhere", 5) == []


SAID = (
    "Look at server/tank.py: MAX_DEPTH = 7",
    "The café's sluice-gate leaks",
    "水箱的容量是一百",
    "if a => b then stop",
    "parser-hang in the Lexer",
    "100% of it is underscored_",
)


@pytest.mark.parametrize(
    "words",
    [
        *("tank", "py", "tank.py", "server/tank.py", "max_depth", "depth", "DEPTH 7", "cafe", "café", "gate", "sluice-gate", "sluice gate"),
        *("容量", "=>", "lex hang", "lexer nowhere", "exer", "100%", "_", "nowhere", "it's", "a & b | !", "\\", "'", "& | ! ( ) :*", ""),
    ],
)
def test_words_find_what_they_find_in_the_log_of_one_machine(connect: Connect, words: str) -> None:
    store, log = connect(), LogStore.open(None)
    begun(store)
    here = log.create_session("", 1.0).id
    for seq, text in enumerate(SAID, 1):
        log.append(here, UserPrompt(f"p{seq}", text), float(seq))
    store.append("5e55", 0, Batch([row(seq) for seq in range(1, len(SAID) + 1)]))
    store.say("5e55", 0, len(SAID), [IndexedWords(seq, "user", None, text) for seq, text in enumerate(SAID, 1)])
    index = SearchIndex(None, log, ResultFiles(None))
    expected = {(hit.seq, hit.excerpt) for hit in index.search(words, 9)}
    assert {(hit.seq, hit.excerpt) for hit in store.search(words, 9)} == expected
