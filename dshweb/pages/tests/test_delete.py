"""A session is deleted whole, its places are left alone until somebody asks, and a kill leaves nothing half."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection, transaction

from audit.models import Audit
from dshweb.access.callers import caller_for_user
from dshweb.access.models import AccessLog, Visibility
from dshweb.pages.tests.logs import ROWS, bring_in, ingest
from dshweb.sessionlog.models import DELETED, Compaction, LogFile, Message, Session, SourceFile
from dshweb.sessionlog.services import delete, search, steps, store
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.tasks.models import Task
from tests.builders import frame, human

# real transactions: files go on commit
pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    pass


@pytest.fixture
def home(tmp_path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def session(people, home, data_dir):
    return bring_in(people, home, owner=people.bob)


def left() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {search.TABLE}")
        rows = cursor.fetchone()[0]
    models = (Session, LogFile, Message, Compaction, Audit)
    return {model.__name__: model.unscoped.count() for model in models} | {
        "search": rows,
        "files": len(list(store.names())),
    }


NOTHING = dict.fromkeys(("Session", "LogFile", "Message", "Compaction", "Audit", "search", "files"), 0)


@pytest.mark.parametrize(
    ("who", "status"), [("bob", 200), ("alice", 200), ("vera", 403), ("mallory", 404), (None, 302)]
)
def test_who_deletes_and_that_looking_changes_nothing(client, people, session, who, status):
    if who:
        client.force_login(getattr(people, who))
    before = left()
    url = f"/sessions/{session.pk}/delete"
    page = client.get(url)
    assert page.status_code == status
    assert left() == before
    done = client.post(url)
    if status == 200:
        assert "What would go" in page.content.decode()
        assert done.status_code == 302
        assert left() == NOTHING
        (row,) = AccessLog.unscoped.filter(action="session-deleted")
        assert row.user == getattr(people, who)
        assert session.session_id in row.target
    else:
        assert done.status_code == status
        assert left() == before


def test_a_member_deletes_no_session_of_another(client, people, home, data_dir):
    hers = bring_in(people, home, owner=people.alice)
    client.force_login(people.bob)
    assert client.post(f"/sessions/{hers.pk}/delete").status_code == 403


def test_a_scan_leaves_it_alone_until_somebody_asks(client, people, session, home):
    assert delete.delete_session(session.pk, by=caller_for_user(people.bob))
    place = SourceFile.unscoped.get()
    for _ in range(2):
        totals = ingest(people, home)
        assert totals.to_json()["status"]["deleted"] == totals.logs == 1
        assert left() == NOTHING
    client.force_login(people.vera)
    assert client.post(f"/sources/files/{place.pk}/again").status_code == 403
    client.force_login(people.mallory)
    assert client.post(f"/sources/files/{place.pk}/again").status_code == 404
    client.force_login(people.bob)
    assert "Bring in again" in client.get("/sources/").content.decode()
    assert client.post(f"/sources/files/{place.pk}/again").status_code == 302
    assert Task.unscoped.get(kind="ingest").payload["path"] == place.location
    ingest(people, home)
    assert Session.unscoped.get().session_id == session.session_id
    assert Message.unscoped.count() == 8


def test_it_comes_back_to_whom_it_belonged(client, people, session, home):
    delete.delete_session(session.pk, by=caller_for_user(people.bob))
    client.force_login(people.alice)
    for _ in range(2):
        assert client.post(f"/sources/files/{SourceFile.unscoped.get().pk}/again").status_code == 302
    assert Task.unscoped.get(kind="ingest").payload["owner"] == people.bob.pk


def test_where_owners_see_their_own_no_other_member_brings_it_back(client, people, home, data_dir):
    """Who asked would have become its owner, and read what another had taken away."""
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    hers = bring_in(people, home, owner=people.alice)
    delete.delete_session(hers.pk, by=caller_for_user(people.alice))
    url = f"/sources/files/{SourceFile.unscoped.get().pk}/again"
    client.force_login(people.bob)
    assert "Bring in again" not in client.get("/sources/").content.decode()
    assert client.post(url).status_code == 403
    assert not Task.unscoped.filter(kind="ingest").exists()
    client.force_login(people.alice)
    assert "Bring in again" in client.get("/sources/").content.decode()
    assert client.post(url).status_code == 302
    assert Task.unscoped.get(kind="ingest").payload["owner"] == people.alice.pk


def test_the_command_brings_it_in_again_when_told(people, session, home):
    delete.delete_session(session.pk, by=caller_for_user(people.bob))
    assert delete.lift_below(people.team.pk, home) == 1
    ingest(people, home)
    assert Session.unscoped.count() == 1


def test_killed_before_its_commit_everything_is_there(people, session):
    before = left()

    def die(execute, sql, params, many, context):
        if sql.startswith("DELETE") and "sessionlog_session" in sql:
            raise Killed
        return execute(sql, params, many, context)

    with pytest.raises(Killed), connection.execute_wrapper(die):
        delete.delete_session(session.pk, by=caller_for_user(people.bob))
    assert left() == before
    assert SourceFile.unscoped.get().status == "ok"
    assert not AccessLog.unscoped.filter(action="session-deleted").exists()


def test_killed_between_rows_and_files_the_sweep_finds_them(people, session, tmp_path, monkeypatch):
    kept = bring_in(people, tmp_path / "other", [human(0, "x")], session="session-other", owner=people.bob)

    def die(_name):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(store, "delete", die)
        with pytest.raises(Killed):
            delete.delete_session(session.pk, by=caller_for_user(people.bob))
    assert list(Session.unscoped.all()) == [kept]
    assert len(list(store.names())) == 2
    assert delete.sweep() == 1
    assert list(store.names()) == [kept.current.stored]
    assert delete.sweep() == 0


def test_an_import_that_runs_meanwhile_ends_without_an_error(people, session, home, monkeypatch):
    """Deleted after the import has read and before it commits its step."""
    path = next(home.rglob("*.zstd"))
    bigger = [*ROWS, human(12, "more")]
    bring_in_again = steps._Run._commit
    gone = []

    def commit(self, *, complete):
        if not gone:
            gone.append(delete.delete_session(session.pk, by=caller_for_user(people.bob)))
        bring_in_again(self, complete=complete)

    with path.open("ab") as log:
        log.write(frame(bigger[-1]))
    monkeypatch.setattr(steps._Run, "_commit", commit)
    report = ingest_file(path, run=Import.by(people.team, people.bob, inline=True), place=None)
    assert gone == [True]
    assert report.status == DELETED
    place = SourceFile.unscoped.get()
    assert (place.status, place.error, place.log) == (DELETED, "", None)
    assert {**left(), "files": 0} == NOTHING
    delete.sweep()
    assert left() == NOTHING


def test_deleted_twice_at_once_is_deleted_once(people, session):
    caller = caller_for_user(people.bob)
    assert delete.delete_session(session.pk, by=caller)
    assert not delete.delete_session(session.pk, by=caller)
    assert AccessLog.unscoped.filter(action="session-deleted").count() == 1
    with transaction.atomic():
        assert not delete.delete_session(session.pk, by=caller)
