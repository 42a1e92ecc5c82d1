"""Two logs of one session come to their end at the same moment, on PostgreSQL: the newer one is shown, whoever is last."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import session_frames, write
from tests.processes import ROOT, environment, manage

pytestmark = pytest.mark.slow

# Both logs are made unread. Each importer commits its log's last step; neither sees the other's before its own commit.
RACE = """
import threading, django
django.setup()
from django.db import connection, transaction
from dshweb.sessionlog.models import LogFile, Session
from dshweb.sessionlog.services import sessions

rows = list(LogFile.unscoped.order_by("last_seq").values("id", "last_seq", "last_time", "accounting", "work"))
session = Session.unscoped.get().pk
LogFile.unscoped.update(last_seq=None, last_time=None, accounting={}, work={})
Session.unscoped.update(current=None)
wrote, late = threading.Barrier(2), threading.Event()

def end(row, first):
    with transaction.atomic():
        LogFile.unscoped.filter(pk=row["id"]).update(**row)
        wrote.wait()
        if not first:
            late.wait(10)
        sessions.refresh(session)
        if first:
            late.set()
            threading.Event().wait(0.5)  # the other one is at the row by now
    connection.close()

newer, older = rows[-1], rows[0]
threads = [threading.Thread(target=end, args=a) for a in ((newer, True), (older, False))]
[t.start() for t in threads]
[t.join() for t in threads]
assert newer["last_seq"] > older["last_seq"]
assert Session.unscoped.get().current_id == newer["id"], "the older log is shown"
"""


def test_the_newer_of_two_logs_that_end_at_once_is_shown(postgres, tmp_path: Path):
    env = environment(tmp_path / "data", DATABASE_URL=postgres.create("two_logs"), LOG_LEVEL="ERROR")
    assert manage(["migrate", "-v0"], env).returncode == 0
    frames = session_frames(rounds=2)
    for name, data in (("old", frames[:5]), ("new", frames)):
        write(tmp_path / "home" / name, data)
    assert manage(["ingest", str(tmp_path / "home")], env).returncode == 0
    run = subprocess.run(
        [sys.executable, "-c", RACE], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
