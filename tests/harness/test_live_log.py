"""A log that the real harness is writing at this moment: its compaction is audited and listed within 3 s of its end.

Needs the runtime from PyPI (`pip install deepseek-harness-runtime-bin==0.2.1rc2`); the model is the scripted provider beside this file.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.fake_provider import FakeProvider
from tests.test_two_writers import Home

DSH = shutil.which("dsh") or shutil.which("dsh", path=str(Path(sys.executable).parent))
pytestmark = [
    pytest.mark.harness,
    pytest.mark.skipif(DSH is None, reason="the real harness (deepseek-harness-runtime-bin) is not installed"),
]

KEPT = "7d9f2c34-1b6e-4f0a-8a77-52c0e1d4b9aa"
LOST = "/srv/app/config.yaml"
NO_SOURCE = "/srv/app/other.yaml"
SUMMARY = f"## Primary Request and Intent\n- Read two reports; the id is {KEPT}.\n## Critical Context\n- The config is {NO_SOURCE}."

# a small model window, so that two tool results are pressure enough
PATCH = [
    {"id": "compaction-basic", "config": {"thresholdRatio": 0.4, "headroomTokens": 2000, "maxTokens": 4000, "retainTokens": 300}},
    {"id": "llm-deepseek", "config": {
        "defaultContextWindow": 21000, "maxTokens": 4096,
        "models": [{"id": "deepseek-flash", "name": "Fake Flash", "contextWindow": 21000,
                    "systemPromptUpdate": "in-history", "toolUpdate": "addition-only"}],
        "retryPolicy": {"mode": "normal", "maxRetries": 2, "backoff": {"initialDelayMs": 50, "maxDelayMs": 200}},
    }},
]  # fmt: skip


def bash(word: str) -> dict:
    command = f"for i in $(seq 1 150); do echo {word} $i of the report says nothing much; done"
    return {"name": "bash", "arguments": {"description": "Print", "command": command}}


SCRIPT = {
    "steps": [
        {"kind": "chat", "text": "Looking at the files.", "tool_calls": [bash("line")]},
        {"kind": "chat", "text": "Then the other one.", "tool_calls": [bash("row")]},
        {"kind": "compaction", "text": SUMMARY},
        # the session goes on after the compaction: the log is not finished when it is read
        {
            "kind": "chat",
            "text": "Waiting.",
            "tool_calls": [{"name": "bash", "arguments": {"description": "Wait", "command": "sleep 5"}}],
        },
        {"kind": "chat", "text": "Done."},
    ]
}


def test_a_compaction_is_audited_within_three_seconds_of_its_end(tmp_path):
    home = Home(tmp_path / "data", WATCH_POLL_SECONDS="2")
    dsh_home, work = tmp_path / "dsh", tmp_path / "work"
    dsh_home.mkdir()
    work.mkdir()
    patch = tmp_path / "patch.yml"
    patch.write_text(json.dumps(PATCH))
    helpers = [home.start("worker"), home.start("ingest", "--watch", str(dsh_home))]
    try:
        home.wait("select count(*) from tasks_worker", lambda rows: rows == [(1,)])
        with FakeProvider(SCRIPT) as fake:
            env = {
                "PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "DSH_HOME": str(dsh_home),
                "DSH_TELEMETRY_MODE": "DISABLED", "DEEPSEEK_BASE_URL": fake.base_url, "DEEPSEEK_API_KEY": "fake-key",
                "DSH_PERMISSION_MODE": "danger-full-access",
            }  # fmt: skip
            task = f"Read the reports. The id is {KEPT} and the file is {LOST}"
            argv = [str(DSH), "--profile", "headless", "--patch", str(patch), "--json", task]
            with subprocess.Popen(argv, cwd=work, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as dsh:
                home.wait("select count(*) from audit_audit", lambda rows: rows == [(1,)], seconds=60)
                assert dsh.poll() is None, "the session should still be going on"
                dsh.communicate(timeout=60)
        ((record, created, at, took),) = home.rows(
            "select record, strftime('%s', a.created_at) + strftime('%f', a.created_at) - strftime('%S', a.created_at),"
            " strftime('%s', c.at) + strftime('%f', c.at) - strftime('%S', c.at), took_ms"
            " from audit_audit a join sessionlog_compaction c on c.id = a.compaction_id"
        )
        # `at` is the summary's time; its end follows within milliseconds
        assert created - at < 3.0, f"{created - at:.1f} s"
        assert took is not None
        parsed = json.loads(record)
        assert [row["text"] for row in parsed["fidelity"]["unverified"]] == [NO_SOURCE]
        assert LOST in [row["text"] for row in parsed["coverage"]["lost"]]
        home.wait(
            "select complete, status from sessionlog_logfile where last_seq > (select max(end_seq) from sessionlog_compaction)",
            lambda rows: rows == [(1, "ok")],
        )
    finally:
        for process in helpers:
            process.send_signal(signal.SIGTERM)
        for process in helpers:
            process.communicate(timeout=30)
