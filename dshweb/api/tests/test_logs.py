"""Handing logs in by REST: whole files and pieces, who may, and what hostile senders get."""

from __future__ import annotations

import hashlib
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import Client

from dshweb.sessionlog import receiving
from dshweb.sessionlog.models import DELETED, LogFile, Session, SourceFile
from dshweb.sessionlog.services import clearing, inbox, pieces, store, uploads
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.tasks.models import Task
from dshweb.tasks.services import drain
from tests.api_rows import bearer
from tests.builders import frame, header, human
from tests.picture import picture

CORPUS = Path(__file__).resolve().parents[3] / "tests" / "data" / "corpus"
SESSION = "session-2c3679a5-973d-4e73-b408-6701fd1e9017"
LOG = CORPUS / "plain-chat-en" / "sessions" / "--srv-demo-app--" / SESSION / "session.v4.jsonl.zstd"
NAME = "session.v4.jsonl.zstd"
BYTES = LOG.read_bytes()
AT = f"/api/v1/logs/{SESSION}/{NAME}"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_folder_of_its_own(data_dir):
    return data_dir


@pytest.fixture
def sender(people):
    """A client that sends with a token of bob's (a member)."""
    return with_token(people.team, people.bob)


def with_token(team, user, *scopes):
    return Client(headers=bearer(team, user, *(scopes or ("ingest",))))


def post(client, body=BYTES, name=NAME, **query):
    extra = "".join(f"&{key}={value}" for key, value in query.items())
    return client.post(f"/api/v1/logs?name={name}{extra}", body, content_type="application/octet-stream")


def put(client, body, at=AT, **query):
    address = at + "?" + "&".join(f"{key}={value}" for key, value in query.items())
    return client.put(address, body, content_type="application/octet-stream")


def test_what_somebody_else_hands_in_under_a_sessions_id_does_not_stand_for_it(sender, people):
    name, mine = "session-00000000-0000-4000-8000-00000000000a", [human(0, "mine"), human(1, "and mine")]
    theirs = [human(n, f"other words {n}") for n in range(9)]
    post(sender, b"".join(frame(row) for row in [header(name), *mine]))
    drain()
    post(with_token(people.team, people.alice), b"".join(frame(row) for row in [header(name), *theirs]))
    drain()
    session = Session.unscoped.get()
    assert session.owner == people.bob
    assert session.logs.count() == 2  # both are there to be looked at
    assert (session.title, session.current.last_seq) == ("mine", 1)
    post(sender, b"".join(frame(row) for row in [header(name), *mine, human(2, "more of mine")]))
    drain()
    session.refresh_from_db()
    assert session.current.last_seq == 2


def test_what_somebody_else_hands_in_stands_for_the_session_where_it_goes_on_from_the_owners(sender, people):
    """An admin brought a colleague's logs in; from now on the colleague sends them."""
    name, rows = "session-00000000-0000-4000-8000-00000000000a", [human(n, f"word {n}") for n in range(4)]
    for who, count in ((sender, 2), (with_token(people.team, people.alice), 4)):
        post(who, b"".join(frame(row) for row in [header(name), *rows[:count]]))
        drain()
    session = Session.unscoped.get()
    assert session.owner == people.bob
    assert session.current.last_seq == 3


def before(text: bytes) -> str:
    return hashlib.sha256(text[-pieces.BEFORE_BYTES :]).hexdigest()


def likeness():
    """Everything the database holds of the one log, but the name of its place."""
    place = SourceFile.unscoped.get().location
    return json.dumps(picture(), sort_keys=True, default=str).replace(json.dumps(place)[1:-1], "HERE")


def likeness_of_a_local_import(people):
    Session.unscoped.all().delete()
    SourceFile.unscoped.all().delete()
    ingest_file(LOG, run=Import.by(people.team, people.bob, inline=True))
    return likeness()


def left_in(name):
    return [path.name for path in inbox.folder(name).iterdir()]


# whole files


def test_a_log_is_kept_and_imported_by_a_task(sender, people):
    answer = post(sender)
    assert answer.status_code == 202, answer.content
    told = answer.json()
    assert told["task"]["state"] == "queued"
    assert told["files"][0] | {"task": None} == {
        "name": NAME, "size": len(BYTES), "sha256": hashlib.sha256(BYTES).hexdigest(), "task": None, "error": None,
    }  # fmt: skip
    drain(people.team)
    task = Task.unscoped.get(pk=told["task"]["id"])
    assert task.state == "done", task.error
    session = Session.unscoped.get()
    assert (task.result["session"], task.result["status"]) == (session.pk, "ok")
    assert (session.session_id, session.owner, session.team) == (SESSION, people.bob, people.team)
    assert left_in("whole") == []


def test_the_result_is_that_of_a_local_import(sender, people):
    post(sender)
    drain(people.team)
    assert likeness() == likeness_of_a_local_import(people)


def test_the_same_bytes_again_change_nothing(sender, people):
    for _ in range(2):
        assert post(sender).status_code == 202
        drain(people.team)
    assert (Session.unscoped.count(), LogFile.unscoped.count(), SourceFile.unscoped.count()) == (1, 1, 1)
    assert Task.unscoped.filter(kind="upload").order_by("id").last().result["changed"] is False


def test_two_people_may_hand_in_the_same_log(people):
    for user in (people.bob, people.alice):
        post(with_token(people.team, user))
    drain(people.team)
    assert (Session.unscoped.count(), LogFile.unscoped.count(), SourceFile.unscoped.count()) == (1, 1, 2)


def test_a_longer_copy_by_another_person_leaves_the_log_of_the_first_alone(people):
    half = BYTES[: len(BYTES) // 2]
    post(with_token(people.team, people.bob), half)
    drain(people.team)
    mine = LogFile.unscoped.get()
    post(with_token(people.team, people.alice), half)
    post(with_token(people.team, people.alice), BYTES)
    drain(people.team)
    assert store.size(mine.stored) == len(half)
    assert LogFile.unscoped.count() == 2
    assert SourceFile.unscoped.get(log=mine, location__contains="-bob/")


def test_a_grown_copy_goes_on_and_an_older_one_takes_nothing_away(sender, people):
    for body in (BYTES[:-100], BYTES, BYTES[:-100]):
        post(sender, body)
        drain(people.team)
    log = LogFile.unscoped.get()
    assert store.size(log.stored) == len(BYTES)
    assert log.status == "ok"


def test_other_bytes_under_the_same_name_are_a_log_of_their_own(sender, people):
    post(sender)
    drain(people.team)
    changed = BYTES[:-60] + b"\0" * 60
    post(sender, changed)
    drain(people.team)
    assert Session.unscoped.count() == 1
    assert sorted(store.size(log.stored) for log in LogFile.unscoped.all()) == [len(BYTES), len(changed)]


def test_a_file_that_is_no_log_fails_by_name_and_reason(sender, people):
    answer = post(sender, b"not a log at all", "notes.v4.jsonl")
    drain(people.team)
    task = Task.unscoped.get(pk=answer.json()["task"]["id"])
    assert task.state == "failed"
    assert task.error.startswith("NotALog: notes.v4.jsonl: ")
    assert left_in("whole") == []
    assert Session.unscoped.count() == 0


def test_several_files_of_a_form_are_several_tasks(sender, people):
    files = [
        SimpleUploadedFile(name, body)
        for name, body in ((NAME, BYTES), ("bad.v4.jsonl", b"?"), ("empty.v4.jsonl", b""))
    ]
    answer = sender.post("/api/v1/logs", {"file": files})
    assert answer.status_code == 202, answer.content
    told = answer.json()["files"]
    assert [(file["name"], file["task"] is not None) for file in told] == [
        (NAME, True), ("bad.v4.jsonl", True), ("empty.v4.jsonl", False),
    ]  # fmt: skip
    assert told[2]["error"]["code"] == "logs/empty"
    drain(people.team)
    assert sorted(Task.unscoped.filter(kind="upload").values_list("state", flat=True)) == ["done", "failed"]


def test_after_it_was_deleted_a_log_handed_in_again_is_imported_again(sender, people):
    post(sender)
    drain(people.team)
    Session.unscoped.all().delete()
    SourceFile.unscoped.update(status=DELETED)
    post(sender)
    drain(people.team)
    assert Session.unscoped.count() == 1


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "a/b\\c.v4.jsonl", "\u202elive.v4.jsonl", "😀" * 60, "x" * 900]
)
def test_whatever_its_name_a_file_stays_in_the_inbox(sender, people, data_dir, name):
    answer = post(sender, b"{}", name)
    assert answer.status_code == 202
    assert "/" not in answer.json()["files"][0]["name"]
    assert all(len(key) == 32 for key in left_in("whole"))
    drain(people.team)


@pytest.mark.parametrize("name", ["", "..", "a/", "."])
def test_a_file_without_a_name_is_refused(sender, name):
    answer = post(sender, BYTES, name)
    assert (answer.status_code, answer.json()["code"]) == (422, "logs/name")
    assert left_in("whole") == []


def test_what_is_too_large_is_refused_before_it_is_read(sender, settings):
    settings.MAX_UPLOAD_BYTES = 1000
    answer = post(sender)
    assert (answer.status_code, answer.json()["code"]) == (413, "logs/too-large")
    lied = sender.generic("POST", f"/api/v1/logs?name={NAME}", b"abc", CONTENT_LENGTH="10000000000")
    assert lied.status_code == 413
    form = sender.post("/api/v1/logs", {"file": SimpleUploadedFile(NAME, BYTES)})
    assert (form.status_code, form.json()["code"]) == (413, "logs/too-large")
    assert left_in("whole") == []


def test_a_body_that_ends_early_is_not_taken_for_the_log(sender):
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="' + NAME.encode() + b'"\r\n\r\n' + BYTES
    for method, address, body, kind in (
        ("POST", f"/api/v1/logs?name={NAME}", BYTES, "application/octet-stream"),
        ("PUT", AT + "?offset=0", BYTES, "application/octet-stream"),
        ("POST", "/api/v1/logs", form, "multipart/form-data; boundary=x"),
    ):
        said = {"CONTENT_LENGTH": str(len(body) + 1), "wsgi.input": io.BytesIO(body)}
        answer = sender.generic(method, address, body, content_type=kind, **said)
        assert (answer.status_code, answer.json()["code"]) == (400, "logs/cut-off")
    assert left_in("whole") == left_in("pieces") == []
    assert not Task.unscoped.exists()


def test_a_body_of_unknown_length_is_refused(sender):
    for method, address in (("POST", f"/api/v1/logs?name={NAME}"), ("PUT", AT + "?offset=0")):
        answer = sender.generic(method, address, b"", headers={"Transfer-Encoding": "chunked"})
        assert (answer.status_code, answer.json()["code"]) == (411, "length-required")


def test_a_full_disk_is_told_before_anything_is_kept(sender, monkeypatch):
    monkeypatch.setattr(inbox, "DISK_RESERVE", 1 << 62)
    form = sender.post("/api/v1/logs", {"file": SimpleUploadedFile(NAME, BYTES)})
    for answer in (post(sender), put(sender, BYTES, offset=0), form):
        assert (answer.status_code, answer.json()["code"]) == (507, "logs/disk-full")
    assert left_in("whole") == left_in("pieces") == []


def test_who_sends_faster_than_is_read_is_asked_to_wait(sender, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_WAITING", 1)
    assert [post(sender).status_code for _ in range(3)] == [202, 202, 429]
    answer = put(sender, BYTES, offset=0)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "10")


# who may


@pytest.mark.parametrize(("who", "status"), [("alice", 202), ("bob", 202), ("vera", 403)])
def test_members_hand_in_and_viewers_do_not(people, who, status):
    user = getattr(people, who)
    assert post(with_token(people.team, user)).status_code == status
    assert put(with_token(people.team, user), BYTES, offset=0).status_code == {202: 200}.get(status, status)
    assert with_token(people.team, user).get(AT).status_code == {202: 200}.get(status, status)


def test_strangers_other_teams_and_other_scopes(people, client):
    assert post(client).status_code == 401
    assert put(client, BYTES, offset=0).status_code == 401
    other = with_token(people.other_team, people.mallory)
    assert post(other, team="ours").status_code == 404
    assert put(other, BYTES, offset=0, team="ours").status_code == 404
    reader = with_token(people.team, people.bob, "read")
    assert post(reader).status_code == 403
    assert reader.get(AT).status_code == 403


def test_a_browser_needs_its_csrf_token(people):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(people.bob)
    assert post(browser).status_code == 403
    assert left_in("whole") == []


def test_a_file_in_any_other_form_is_not_stored(people, client, data_dir):
    client.post("/login/", {"username": "x", "password": "y", "file": SimpleUploadedFile(NAME, BYTES)})
    client.post("/upload/", {"file": SimpleUploadedFile(NAME, BYTES)})
    assert not (data_dir / "uploads" / "whole").exists() or left_in("whole") == []


# pieces


def test_pieces_make_the_log_and_the_import_follows(sender, people):
    assert sender.get(AT).json() == {"size": 0, "first": None, "sha256": None}
    at = 0
    for size in (1, 999, 5000, len(BYTES)):
        piece = BYTES[at : at + size]
        answer = put(sender, piece, offset=at, before=before(BYTES[:at]))
        at += len(piece)
        assert (answer.status_code, answer.json()["size"]) == (200, at)
        drain(people.team)
    log = LogFile.unscoped.select_related("session").get()
    assert (log.session.session_id, log.session.owner, log.status) == (SESSION, people.bob, "ok")
    assert store.local_path(log.stored).read_bytes() == BYTES
    assert left_in("pieces") == []
    assert likeness() == likeness_of_a_local_import(people)


def test_the_worker_may_come_late_or_between(sender, people):
    """Before the first import the bytes lie in the inbox, then in the store; a size is the same from both."""
    for cuts in ([0, 2000, 4000], [0, 1, len(BYTES) - 1]):
        for start, stop in zip(cuts, [*cuts[1:], len(BYTES)], strict=True):
            put(sender, BYTES[start:stop], AT.replace("2c36", f"{cuts[1]:04}"), offset=start)
    assert len(left_in("pieces")) == 2
    drain(people.team)
    sizes = [sender.get(AT.replace("2c36", f"{cut:04}")).json()["size"] for cut in (2000, 1)]
    assert sizes == [len(BYTES)] * 2


@pytest.mark.parametrize("imported", [False, True])
def test_another_offset_answers_the_size(sender, people, imported):
    put(sender, BYTES[:3000], offset=0)
    if imported:
        drain(people.team)
    for offset in (0, 1, 2999, 3001, 1 << 29):
        answer = put(sender, b"x", offset=offset)
        assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (
            409, "logs/offset", {"size": 3000},
        )  # fmt: skip
    assert put(sender, b"", offset=3000).json()["size"] == 3000
    assert put(sender, b"", offset=0).status_code == 409
    assert sender.get(AT).json()["size"] == 3000


@pytest.mark.parametrize("offset", ["-1", "9223372036854775808", "1e3", "", "x"])
def test_an_offset_that_is_none_is_not_understood(sender, offset):
    assert put(sender, b"x", offset=offset).status_code == 422


@pytest.mark.parametrize("imported", [False, True])
def test_bytes_that_differ_are_found_and_not_mixed(sender, people, imported):
    put(sender, BYTES[:3000], offset=0)
    if imported:
        drain(people.team)
    mine = BYTES[:2000] + b"?" * 1000
    answer = put(sender, BYTES[3000:], offset=3000, before=before(mine))
    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (
        409,
        "logs/different",
        {"size": 3000},
    )
    told = sender.get(AT + "?first=2000").json()
    assert told == {"size": 3000, "first": 2000, "sha256": hashlib.sha256(BYTES[:2000]).hexdigest()}
    assert sender.get(AT + "?first=99999").json()["first"] == 3000
    for query in ({"offset": 2000, "cut": 1}, {"offset": 0, "cut": 1}):
        assert put(sender, b"" if query["offset"] == 0 else b"x", **query).status_code == 422
    assert put(sender, b"new", offset=2000, cut=1, before=before(mine[:1999] + b"!")).status_code == 409
    answer = put(sender, BYTES[2000:], offset=2000, cut=1, before=before(BYTES[:2000]))
    assert answer.json()["size"] == len(BYTES)
    drain(people.team)
    log = LogFile.unscoped.get()
    assert store.local_path(log.stored).read_bytes() == BYTES
    assert left_in("pieces") == []


def test_a_log_written_anew_from_its_start_replaces_the_old_one(sender, people):
    put(sender, BYTES, offset=0)
    drain(people.team)
    other = next((CORPUS / "tools-en").rglob("*.zstd")).read_bytes()
    assert put(sender, other, offset=0, cut=1).json()["size"] == len(other)
    drain(people.team)
    log = LogFile.unscoped.get()
    assert store.local_path(log.stored).read_bytes() == other
    assert Session.unscoped.get().session_id != SESSION
    assert left_in("pieces") == []


def test_what_another_person_sends_under_the_same_names_is_their_own(people):
    bob, alice = with_token(people.team, people.bob), with_token(people.team, people.alice)
    put(bob, BYTES[:3000], offset=0)
    assert alice.get(AT).json()["size"] == 0
    assert put(alice, BYTES[3000:], offset=3000).status_code == 409
    put(alice, BYTES[:3000], offset=0)
    drain(people.team)
    assert LogFile.unscoped.count() == 1  # the same bytes
    put(alice, b"whatever alice writes", offset=3000)
    drain(people.team)
    assert bob.get(AT).json()["size"] == 3000
    assert sorted(store.size(log.stored) for log in LogFile.unscoped.all()) == [3000, 3021]
    put(bob, BYTES[3000:], offset=3000, before=before(BYTES[:3000]))
    drain(people.team)
    assert sorted(store.size(log.stored) for log in LogFile.unscoped.all()) == [3021, len(BYTES)]


def test_a_local_copy_of_the_log_is_not_added_to(sender, people, tmp_path):
    local = tmp_path / NAME
    local.write_bytes(BYTES[:3000])
    ingest_file(local, run=Import.by(people.team, people.alice, inline=True))
    put(sender, BYTES[:3000], offset=0)
    drain(people.team)
    put(sender, BYTES[3000:], offset=3000)
    drain(people.team)
    logs = {place.location.startswith("push:"): store.size(place.log.stored) for place in SourceFile.unscoped.all()}
    assert logs == {False: 3000, True: len(BYTES)}


def test_a_log_that_was_deleted_here_is_not_sent_again(sender, people):
    put(sender, BYTES[:3000], offset=0)
    drain(people.team)
    Session.unscoped.all().delete()
    SourceFile.unscoped.update(status=DELETED)
    for answer in (sender.get(AT), put(sender, BYTES[3000:], offset=3000), put(sender, BYTES, offset=0)):
        assert (answer.status_code, answer.json()["code"]) == (410, "logs/deleted")
    drain(people.team)
    assert Session.unscoped.count() == 0


@pytest.mark.parametrize("part", ["..", ".", "%2e%2e", "%5c", "a%2Fb", "%0A", "%00", "x" * 201])
def test_a_place_cannot_be_outside(sender, data_dir, part):
    for at in (f"/api/v1/logs/{part}/{NAME}", f"/api/v1/logs/{SESSION}/{part}"):
        assert put(sender, b"x", at, offset=0).status_code in (400, 404, 422), at
    assert left_in("pieces") == [] if (data_dir / "uploads").exists() else True


def test_a_piece_and_a_log_have_their_limits(sender, settings, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 100)
    assert put(sender, b"x" * 101, offset=0).json()["code"] == "logs/piece-too-large"
    settings.MAX_UPLOAD_BYTES = 150
    assert put(sender, b"x" * 100, offset=0).status_code == 200
    assert put(sender, b"x" * 51, offset=100).json()["code"] == "logs/too-large"


def test_a_log_received_but_never_read_is_found(sender, people):
    put(sender, BYTES, offset=0)
    Task.unscoped.all().delete()  # the process was killed before it could ask
    assert [row.location for row in clearing.unread()] == [SourceFile.unscoped.get().location]
    assert put(sender, b"", offset=len(BYTES)).status_code == 200  # a sender that comes back makes it ask, too
    drain(people.team)
    assert Session.unscoped.count() == 1
    assert clearing.unread() == []


@pytest.mark.django_db(transaction=True)
def test_writers_at_once_lose_and_double_nothing(people):
    def send(piece):
        try:
            client = with_token(people.team, people.bob)
            while True:
                size = client.get(AT).json()["size"]
                if size >= len(BYTES):
                    return
                put(client, BYTES[size : size + piece], offset=size, before=before(BYTES[:size]))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(send, piece) for piece in (700, 900, 1100)]:
            done.result()
        drain(people.team)
    assert store.local_path(LogFile.unscoped.get().stored).read_bytes() == BYTES


def test_what_nobody_asks_for_any_more_goes_when_its_time_is_over(sender, people):
    post(sender)
    put(sender, b"never a log", offset=0)
    (inbox.folder("whole") / ("a" * 32 + ".part")).write_bytes(b"cut off by a crash")
    (inbox.folder("whole") / ("b" * 32)).write_bytes(b"of a task that failed")
    assert clearing.sweep() == 0
    for name in ("whole", "pieces"):
        for path in inbox.folder(name).iterdir():
            os.utime(path, (1, 1))
    assert clearing.sweep() == 3  # a part, a file of a failed task, pieces of a week ago
    assert len(left_in("whole")) == 1, "this one is waited for"
    drain(people.team)
    assert sender.get(AT).json()["size"] == 0
    assert Session.unscoped.count() == 1


def test_a_copy_whose_writer_was_killed_goes_also_of_a_log_that_is_here(sender, people):
    put(sender, BYTES, offset=0)
    drain(people.team)
    draft = inbox.folder("pieces") / ("a" * 40 + ".draft")
    draft.write_bytes(b"half of it")
    assert clearing.sweep() == 0
    os.utime(draft, (1, 1))
    assert clearing.sweep() == 1
    assert left_in("pieces") == []


def test_a_place_whose_log_was_deleted_keeps_no_bytes(sender, people):
    put(sender, BYTES[:10], offset=0)
    SourceFile.unscoped.update(status=DELETED)
    assert clearing.sweep() == 1


def test_a_bomb_is_a_log_that_fails_and_no_more(sender, people, settings):
    import zstandard

    settings.MAX_FRAME_BYTES = 1_000_000
    bomb = zstandard.compress(b" " * 5_000_000)
    post(sender, bomb, "bomb.v4.jsonl.zstd")
    put(sender, bomb, offset=0)
    drain(people.team)
    assert "limit_frame" in Task.unscoped.get(kind="upload").error
    assert SourceFile.unscoped.get(location__startswith="push:").status == "failed"
    assert Session.unscoped.count() == 0


def test_uploads_leave_threads_for_pages(sender, people, monkeypatch):
    """Two bodies that never end hold two places; a third sender is asked to come again, and pages are served."""
    taken = [receiving._slots.acquire(blocking=False) for _ in range(receiving.AT_ONCE)]
    monkeypatch.setattr(receiving, "PATIENCE_SECONDS", 0)
    try:
        for answer in (post(sender), put(sender, BYTES, offset=0)):
            assert (answer.status_code, answer.json()["code"], "Retry-After" in answer.headers) == (
                503,
                "logs/busy",
                True,
            )
        assert sender.get(AT).status_code == 200
    finally:
        for _ in taken:
            receiving._slots.release()
    assert post(sender).status_code == 202


def test_a_strangers_file_is_not_even_read(client):
    body = io.BytesIO(b"--x")
    answer = client.generic(
        "POST",
        "/upload/",
        b"",
        content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH="99",
        **{"wsgi.input": body},
    )
    assert (answer.status_code, body.tell()) == (302, 0)
