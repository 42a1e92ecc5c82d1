"""Real processes: writers of one profile's settings at once, on both databases; a worker that starts anew holds what was saved."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.processes import ROOT, environment, manage, started, until

pytestmark = pytest.mark.slow
WRITERS, ROUNDS = 3, 12
WRITE = f"""
from compaction.core.document import Op
from compaction.models import Profile
from compaction.services.settings import Conflict, mutate
row, lost = Profile.unscoped.get(is_default=True), 0
for _ in range({ROUNDS}):
    while True:
        ops = (Op("set", "compactionRetries", row.document.get("compactionRetries", 0) + 1),)
        try:
            row = mutate(row, ops, row.revision, by=None).profile
            break
        except Conflict as conflict:
            row, lost = conflict.theirs, lost + 1
print(lost)
"""
SHOW = """
import json
from compaction.models import Profile, SettingsRevision
from compaction.services.engine import active_config, reload_needed
row = Profile.unscoped.get(is_default=True)
active = active_config(row)
kept = SettingsRevision.unscoped.order_by("revision").values_list("revision", "document")
print(json.dumps({"revision": row.revision, "document": row.document, "active": active, "history": list(kept),
                  "reload": reload_needed(row, active)}))
"""
SAVE = """
from compaction.core.document import Op
from compaction.models import Profile
from compaction.services.settings import mutate
row = Profile.unscoped.get(is_default=True)
mutate(row, (Op("set", "thresholdRatio", 0.6), Op("set", "mode", "handoff")), row.revision, by=None)
"""


def shell(env: dict[str, str], code: str) -> str:
    run = manage(["shell", "--no-imports", "-c", code], env)
    assert run.returncode == 0, run.stderr
    return run.stdout


def migrated(env: dict[str, str]) -> dict[str, str]:
    run = manage(["migrate", "-v0"], env)
    assert run.returncode == 0, run.stderr
    return env


def check_writers(env: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", WRITE]
    writers = [
        subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(WRITERS)
    ]
    for writer in writers:
        out, err = writer.communicate(timeout=120)
        assert (writer.returncode, err) == (0, ""), err
        assert out.strip().isdigit()
    found = json.loads(shell(env, SHOW))
    assert (found["revision"], found["document"]) == (WRITERS * ROUNDS, {"compactionRetries": WRITERS * ROUNDS})
    assert found["history"] == [[n, {"compactionRetries": n}] for n in range(1, WRITERS * ROUNDS + 1)]


def test_processes_that_write_at_once_lose_no_update(tmp_path):
    check_writers(migrated(environment(tmp_path / "data", LOG_LEVEL="ERROR")))


def test_nor_on_postgresql(tmp_path, postgres_url):
    check_writers(migrated(environment(tmp_path / "data", LOG_LEVEL="ERROR", DATABASE_URL=postgres_url)))


def test_what_is_saved_is_held_by_the_next_worker_and_not_before(tmp_path):
    env = migrated(environment(tmp_path / "data"))

    def shown() -> dict:
        return json.loads(shell(env, SHOW))

    assert (shown()["active"], shown()["reload"]) == (None, False)
    with started(["worker"], env, tmp_path / "one.log"):
        until(lambda: shown()["active"] is not None, "a snapshot")
        assert shown()["active"]["mode"] == "goal"
        shell(env, SAVE)
        found = shown()
        assert (found["active"]["mode"], found["active"]["thresholdRatio"], found["reload"]) == ("goal", 0.8, True)
    with started(["worker"], env, tmp_path / "two.log"):
        until(lambda: shown()["reload"] is False, "a new snapshot")
        assert (shown()["active"]["mode"], shown()["active"]["thresholdRatio"]) == ("handoff", 0.6)
