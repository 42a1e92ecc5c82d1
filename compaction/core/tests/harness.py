"""Runs of the real harness (`dsh headless`, the runtime from PyPI) with the scripted provider of `tests/harness`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.fake_provider import FakeProvider

DSH = shutil.which("dsh") or shutil.which("dsh", path=str(Path(sys.executable).parent))
needs_harness = pytest.mark.skipif(
    DSH is None, reason="the real harness (deepseek-harness-runtime-bin) is not installed"
)

PROVIDER, MODEL, WINDOW, RESERVE = "deepseek-official", "deepseek-flash", 24_000, 2000
SUMMARY = "## Primary Request and Intent\n- Read the pieces.\n## Next Step\n- Read on."


def environment(folder: Path, provider: str = "") -> dict[str, str]:
    """For a run with its home in `folder`/dsh; `provider` is the address of the model, none is asked without."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "DSH_HOME": str(folder / "dsh"),
           "DSH_TELEMETRY_MODE": "DISABLED"}  # fmt: skip
    return env | ({"DEEPSEEK_BASE_URL": provider, "DEEPSEEK_API_KEY": "fake-key"} if provider else {})


def patch(settings: dict[str, Any], *, pruner: bool) -> list[dict[str, Any]]:
    model = {"id": MODEL, "name": "Fake", "contextWindow": WINDOW, "systemPromptUpdate": "in-history",
             "toolUpdate": "addition-only"}  # fmt: skip
    return [
        {"id": "compaction-basic", "config": settings},
        {"id": "tool-result-pruner", "disabled": not pruner},
        {"id": "llm-deepseek", "config": {"defaultContextWindow": WINDOW, "maxTokens": RESERVE, "models": [model],
                                          "retryPolicy": {"mode": "normal", "maxRetries": 1}}},
    ]  # fmt: skip


def run(
    folder: Path, settings: dict[str, Any], steps: list[dict[str, Any]], *, pruner: bool, task: str, session: str = ""
) -> Path:
    """One headless run, of a new session or going on with one; its log. The harness' own exit code is not looked at."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / "patch.yml").write_text(json.dumps(patch(settings, pruner=pruner)))
    with FakeProvider({"steps": steps, "fallback": {"compaction": {"text": SUMMARY}}}) as fake:
        env = {**environment(folder, fake.base_url), "DSH_PERMISSION_MODE": "danger-full-access"}
        argv = [str(DSH), "--profile", "headless", "--patch", str(folder / "patch.yml"), "--json"]
        argv += ["--session-id", session, task] if session else [task]
        done = subprocess.run(argv, cwd=work, env=env, capture_output=True, text=True, timeout=120)
    logs = list((folder / "dsh").glob("sessions/*/*/session.v4.jsonl.zstd"))
    assert logs, done.stderr[-2000:]
    return logs[0]


def projection(folder: Path) -> dict[str, Any]:
    """The harness' own projection of the one session in `folder`."""
    (path,) = (folder / "dsh").glob("storages/session_projcache/sessions/*.json")
    rows: dict[str, Any] = json.loads(path.read_text())["record"]["rows"]
    return rows
