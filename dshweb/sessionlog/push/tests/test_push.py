"""The collector against a real server."""

from __future__ import annotations

import threading

import pytest

from dshweb.sessionlog.models import DELETED, LogFile, Session, SourceFile
from dshweb.sessionlog.push.client import Client
from dshweb.sessionlog.push.names import Names
from dshweb.sessionlog.push.sender import Sender
from dshweb.sessionlog.push.tests.logs import BYTES, FOLDER, NAME, OTHER
from dshweb.sessionlog.services import inbox, store
from dshweb.sessionlog.services.discover import find_logs
from dshweb.tasks.services import drain


@pytest.fixture
def there(live_server, secret, data_dir):
    """A sender to a running server, with bob's token; what it said is in `.said`."""

    def make(piece=3000):
        said: list[str] = []
        sender = Sender(Client(live_server.url, secret), stop=threading.Event(), tries=3, say=said.append, piece=piece)
        sender.said = said
        return sender

    return make


def stored():
    return [store.local_path(row.stored).read_bytes() for row in LogFile.unscoped.order_by("id")]


def test_a_log_is_shipped_once_and_what_is_new_of_it_after_that(there, log, people):
    half = len(BYTES) // 2
    log.write_bytes(BYTES[:half])
    sender = there()
    assert (sent := sender.send(log, FOLDER, NAME)).status == "sent"
    assert sent.bytes == half
    drain(people.team)
    log.write_bytes(BYTES)
    for again in (sender, there()):  # the same process, and one that remembers nothing
        sent = again.send(log, FOLDER, NAME)
        assert (sent.status, sent.bytes) == (("sent", len(BYTES) - half) if again is sender else ("unchanged", 0))
    drain(people.team)
    assert stored() == [BYTES]
    assert Session.unscoped.get().owner == people.bob


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("kept", [0, 70_000])
def test_a_log_written_anew_from_somewhere_on_is_sent_from_there(there, log, people, imported, kept):
    there(1 << 20).send(log, FOLDER, NAME)
    if imported:
        drain(people.team)
    for anew in (BYTES[:kept] + OTHER * 3, BYTES[:kept] + b"?"):
        log.write_bytes(anew)
        sent = there(1 << 20).send(log, FOLDER, NAME)
        assert sent.status == "sent", sent
        assert sent.bytes <= len(anew) - kept + 64 * 1024
        drain(people.team)
        assert anew in stored() or [path.read_bytes() for path in waiting()] == [anew]


def waiting():
    return list(inbox.folder("pieces").iterdir())


def test_a_log_that_is_shorter_here_takes_nothing_away_there(there, log, people):
    there().send(log, FOLDER, NAME)
    drain(people.team)
    for length in (len(BYTES) - 10, 0):
        log.write_bytes(BYTES[:length])
        assert there().send(log, FOLDER, NAME).status == "shorter"
    assert stored() == [BYTES]


def test_a_log_deleted_there_is_not_sent_again(there, log, people):
    there().send(log, FOLDER, NAME)
    drain(people.team)
    Session.unscoped.all().delete()
    SourceFile.unscoped.update(status=DELETED)
    assert there().send(log, FOLDER, NAME).status == "deleted"
    assert Session.unscoped.count() == 0


def test_a_log_the_server_does_not_take_fails_alone(there, log, settings):
    settings.MAX_UPLOAD_BYTES = len(BYTES) - 1
    sent = there().send(log, FOLDER, NAME)
    assert sent.status == "failed"
    assert "Larger than" in sent.reason
    assert there().send(log.with_name("gone"), FOLDER, "gone").reason == "the file is gone"


def test_logs_of_one_name_are_told_apart_in_every_run(tmp_path):
    for folder in ("a/session-1", "b/session-1", "b/session-2", "c\\d"):
        path = tmp_path / "sessions" / folder / NAME
        path.parent.mkdir(parents=True)
        path.touch()
    found = find_logs(tmp_path).logs
    names = Names(tmp_path)
    names.learn(found)
    given = [names.of(path) for path in found]
    assert len(set(given)) == 4
    assert ("session-2", NAME) in given
    assert all("\\" not in folder for folder, _name in given)
    other = Names(tmp_path)
    other.learn(reversed(found))
    assert [other.of(path) for path in found] == given
