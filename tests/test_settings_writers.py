"""Real processes: writers of one profile's settings at once, on both databases."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.processes import ROOT, environment, manage

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
row = Profile.unscoped.get(is_default=True)
kept = SettingsRevision.unscoped.order_by("revision").values_list("revision", "document")
print(json.dumps({"revision": row.revision, "document": row.document, "history": list(kept)}))
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
