"""What came of a task: counts in words, and ways to the sessions, compactions and files it was about."""

from __future__ import annotations

import pytest

from audit.models import Audit
from dshweb.sessionlog.models import Compaction, Session
from dshweb.tasks import services
from dshweb.tasks.models import State, Task
from tests.builders import session_frames, write

pytestmark = pytest.mark.django_db


def test_bringing_a_folder_in_and_auditing_it_link_to_what_was_made(client, people, data_dir, tmp_path):
    write(tmp_path, session_frames())
    broken = tmp_path / "sessions" / "--x--" / "session-00000000-0000-4000-8000-00000000000f" / "session.v4.jsonl.zstd"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"this is no log at all, however it is called")
    task = services.enqueue(people.team, "ingest", "k", {"path": str(tmp_path), "owner": people.alice.pk}, "folder")
    services.drain(people.team)
    task.refresh_from_db()
    assert task.state == State.DONE, task.error
    client.force_login(people.bob)
    page = client.get(f"/tasks/{task.pk}/").content.decode()
    assert "2 logs seen" in page
    assert "1 intact" in page
    session = Session.unscoped.get()
    assert f'href="/sessions/{session.pk}/?log={session.current_id}"' in page
    assert "session.v4.jsonl.zstd" in page
    audits = Task.unscoped.get(kind="audit")
    page = client.get(f"/tasks/{audits.pk}/").content.decode()
    assert f"{Audit.unscoped.count()} audits made" in page
    for row in Compaction.unscoped.all():
        assert f'href="/compactions/{row.pk}/"' in page


def test_a_result_of_another_version_breaks_nothing(client, people):
    client.force_login(people.bob)
    for kind, result in (
        ("audit", {"audits": "x"}),
        ("ingest", {"status": []}),
        ("rescan", {}),
        ("ingest", [1]),
        ("gone", {"a": 1}),
    ):
        task = Task.unscoped.create(team=people.team, kind=kind, key=f"{kind}{result}", state=State.DONE, result=result)
        assert client.get(f"/tasks/{task.pk}/").status_code == 200, (kind, result)
