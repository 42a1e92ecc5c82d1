"""What follows what: found → imported → audited, by tasks, and once more after the masking patterns changed."""

from __future__ import annotations

from datetime import timedelta
from threading import Event

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from audit.models import Audit
from dshweb import pipeline
from dshweb.sessionlog.models import LogFile, MaskPattern, Message, Source
from dshweb.sessionlog.services import steps
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.sessionlog.services.requests import request_ingest
from dshweb.sessionlog.services.watch import follow
from dshweb.sessionlog.signals import log_imported
from dshweb.tasks.models import Task
from dshweb.tasks.services import drain, enqueue
from tests.builders import assistant, frame, session_frames, write

pytestmark = pytest.mark.django_db(transaction=True)


class Looks(Event):
    """Stops the follower after so many looks."""

    def __init__(self, looks: int, between=lambda: None) -> None:
        super().__init__()
        self.left, self.between = looks, between

    def wait(self, timeout: float | None = None) -> bool:
        self.left -= 1
        self.between()
        return self.left < 0


def test_an_ingest_task_leads_to_an_audit_task(people, data_dir, tmp_path):
    write(tmp_path, session_frames())
    enqueue(people.team, "ingest", "k", {"path": str(tmp_path), "owner": people.bob.pk})
    drain()
    assert [task.kind for task in Task.objects.for_team(people.team).order_by("id")] == ["ingest", "audit"]
    assert set(Task.objects.for_team(people.team).values_list("state", flat=True)) == {"done"}
    assert Audit.objects.for_team(people.team).count() == 2


def test_a_watched_source_is_followed_and_an_unwatched_one_is_not(people, data_dir, tmp_path):
    path = write(tmp_path / "watched", session_frames())
    write(tmp_path / "other", session_frames(), "session-00000000-0000-4000-8000-0000000000cc")
    Source.unscoped.create(team=people.team, path=str(tmp_path / "watched"), watch=True, owner=people.bob)
    Source.unscoped.create(team=people.team, path=str(tmp_path / "other"), watch=False)
    pipeline.follow_watched_sources(Looks(2, between=drain))
    drain()
    assert LogFile.objects.for_team(people.team).count() == 1
    tasks = Task.objects.for_team(people.team).filter(kind="ingest").count()
    assert tasks == 1, "an unchanged file asks for nothing"

    def grow() -> None:
        if path.stat().st_size == sum(map(len, session_frames())):
            path.write_bytes(path.read_bytes() + frame(assistant(12, "one more")))

    pipeline.follow_watched_sources(Looks(2, between=grow))
    drain()
    assert Message.objects.for_team(people.team).filter(text="one more").exists()


def test_a_rescan_masks_stored_text_anew_and_keeps_the_audits(people, data_dir, tmp_path):
    write(tmp_path, session_frames())
    enqueue(people.team, "ingest", "k", {"path": str(tmp_path), "owner": None})
    drain()
    before = set(Audit.objects.for_team(people.team).values_list("pk", flat=True))
    assert Message.objects.for_team(people.team).filter(text__contains="/srv/app/conf-0").exists()
    MaskPattern.unscoped.create(team=people.team, name="conf", expression=r"/srv/app/conf-\d")
    enqueue(people.team, "rescan", "masking")
    drain()
    assert not Message.objects.for_team(people.team).filter(text__contains="/srv/app/conf-0").exists()
    assert Message.objects.for_team(people.team).filter(text__contains="[redacted:conf]").exists()
    now = set(Audit.objects.for_team(people.team).values_list("pk", flat=True))
    assert before < now, "the new patterns give new records, the old ones stay"
    enqueue(people.team, "rescan", "masking")
    drain()
    assert set(Audit.objects.for_team(people.team).values_list("pk", flat=True)) == now


class Ended(Exception):
    """As if the process had ended here."""


def test_a_rescan_that_ended_between_two_steps_of_a_log_is_finished_by_the_next(
    people, data_dir, tmp_path, monkeypatch
):
    """The first step already says which patterns the log is read by; it is not done before the last one."""
    write(tmp_path, session_frames())
    enqueue(people.team, "ingest", "k", {"path": str(tmp_path), "owner": None})
    drain()
    MaskPattern.unscoped.create(team=people.team, name="conf", expression=r"/srv/app/conf-\d")
    monkeypatch.setattr(steps, "STEP_BYTES", 1)
    seen = []

    def end_after_three(log: LogFile, *, on_progress=None) -> LogFile:
        def look(done: int, total: int) -> None:
            seen.append(done)
            if len(seen) == 3:
                raise Ended

        return rebuild_log(log, on_progress=look)

    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "rebuild_log", end_after_three)
        enqueue(people.team, "rescan", "masking")
        drain()
    assert Task.objects.for_team(people.team).get(kind="rescan").state == "failed"
    log = LogFile.objects.for_team(people.team).get()
    assert (log.complete, bool(log.masking)) == (False, True)
    enqueue(people.team, "rescan", "masking")
    drain()
    log.refresh_from_db()
    assert (log.complete, log.messages.count()) == (True, 6)
    assert not Message.objects.for_team(people.team).filter(text__contains="/srv/app/conf-0").exists()
    assert Message.objects.for_team(people.team).filter(text__contains="[redacted:conf]").exists()


def test_one_folder_is_one_task_whoever_asks_for_it(people, data_dir, tmp_path, client):
    """A page, the admin and a watcher ask for the same work: it is done once."""
    source = Source.unscoped.create(team=people.team, path=str(tmp_path), owner=people.bob)
    client.force_login(people.bob)
    client.post(f"/sources/{source.pk}/scan")
    request_ingest(people.team, tmp_path, owner=people.bob.pk)
    (task,) = Task.objects.for_team(people.team)
    assert (task.label, task.created_by) == (str(tmp_path), people.bob)


def test_a_folder_that_is_gone_says_so_until_it_is_back(people, data_dir, tmp_path):
    folder = tmp_path / "logs"
    source = Source.unscoped.create(team=people.team, path=f"{folder}/", watch=True, owner=people.bob)

    def error() -> str:
        source.refresh_from_db()
        return source.last_error

    pipeline.follow_watched_sources(Looks(1))
    assert "nothing at this path" in error()
    write(folder, session_frames())
    request_ingest(people.team, folder, owner=None)
    drain()
    assert (error(), source.last_scan_at is None) == ("", False)
    assert Source.objects.for_team(people.team).count() == 1, "the same folder, however its path is written"
    folder.rename(tmp_path / "elsewhere")
    request_ingest(people.team, folder, owner=None)
    drain()
    assert "nothing at this path" in error()


def test_an_audit_that_fails_does_not_stop_a_rebuild(people, data_dir, tmp_path, capsys):
    write(tmp_path, session_frames())
    request_ingest(people.team, tmp_path, owner=None)
    drain()

    def broken(**_: object) -> None:
        raise ValueError("this receiver is broken")

    log_imported.connect(broken, weak=False)
    try:
        call_command("rebuild")
    finally:
        log_imported.disconnect(broken)
    assert "1 of 1 logs read again" in capsys.readouterr().out


def test_a_watcher_looks_after_waiting_work_also_when_nothing_changes(tmp_path):
    """A worker may die while tasks wait; nobody would do them until the next log is written."""
    stop, looks, changes = Event(), [], []

    def then() -> None:
        looks.append(len(changes))
        if len(looks) == 2:
            stop.set()

    follow([tmp_path / "not-there-yet"], changes.append, then=then, poll_seconds=0, stop=stop)
    assert looks == [0, 0]


def test_logins_that_are_over_are_cleared(client, people):
    client.force_login(people.bob)
    Client().force_login(people.alice)
    over = client.session
    over.set_expiry(timezone.now() - timedelta(hours=1))
    over.save()
    pipeline.clean_up()
    assert [row.get_decoded()["_auth_user_id"] for row in Session.objects.all()] == [str(people.alice.pk)]
