"""From saved to held, with real processes: saved settings need a reload, and the next worker holds them (issue 4, done when 2)."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.processes import environment, manage, started, until

pytestmark = pytest.mark.slow

PATCH = """- id: dsh-better-compact
  config:
    retainTokens: 5000
"""


def inspected(env: dict[str, str]) -> dict[str, Any]:
    run = manage(["inspect", "--skip-checks"], env)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def a_worker_ran(env: dict[str, str], log: Path) -> None:
    log.unlink(missing_ok=True)
    with started(["worker"], env, log) as worker:
        until(lambda: "is ready" in log.read_text(), "it gets ready", worker, log)
        until(
            lambda: (found := inspected(env))["activeConfig"] and not found["requiresReload"], "it holds", worker, log
        )
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0


def test_saved_settings_are_held_by_the_next_worker_and_not_before(tmp_path):
    env, log, file = environment(tmp_path / "data"), tmp_path / "log", tmp_path / "cordis.patch.yml"
    assert manage(["migrate", "--verbosity=0", "--skip-checks"], env).returncode == 0
    first = inspected(env)
    assert (first["activeConfig"], first["requiresReload"]) == (None, False)
    a_worker_ran(env, log)
    before = inspected(env)["activeConfig"]
    assert before["retainRatio"] == 0.16
    file.write_text(PATCH)
    run = manage(["settings", "import", "default", str(file), "--revision", "0"], env)
    assert run.returncode == 0, run.stderr
    saved = inspected(env)
    assert (saved["activeConfig"], saved["requiresReload"]) == (before, True)
    a_worker_ran(env, log)
    after = inspected(env)
    assert (after["activeConfig"]["retainTokens"], after["requiresReload"]) == (5000, False)
    assert "retainRatio" not in after["activeConfig"]
