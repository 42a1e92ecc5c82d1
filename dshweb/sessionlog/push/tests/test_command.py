"""The command `push` as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.push.tests.logs import BYTES, CORPUS, ROOT
from dshweb.sessionlog.services.discover import find_logs
from dshweb.tasks.services import drain
from tests.processes import hearing


def push(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", "push", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": os.environ["PATH"], **environment},
    )  # fmt: skip


def test_the_command_needs_no_database_and_leaves_nothing(live_server, people, secret, data_dir, tmp_path):
    home, data = CORPUS / "forked", tmp_path / "nothing"
    environment = {"DSHWEB_PUSH_TOKEN": secret, "DSHWEB_DATA_DIR": str(data)}
    first = push(home, "--server", live_server.url, "--piece", 5000, **environment)
    assert first.returncode == 0, first.stderr
    again = push(home, "--server", live_server.url, "--json", **environment)
    assert again.returncode == 0, again.stderr
    rows = [json.loads(line) for line in again.stdout.splitlines()]
    summary = rows.pop()["summary"]
    assert summary["logs"] == len(rows) == len(find_logs(home).logs)
    assert summary["status"] == {"sent": 0, "unchanged": len(rows), "shorter": 0, "deleted": 0, "failed": 0}
    assert first.stdout.splitlines()[-1].startswith(f"{len(rows)} logs ({len(rows)} sent), ")
    assert not data.exists()
    drain(people.team)
    assert LogFile.unscoped.count() == len(rows)


def test_a_collector_that_is_told_to_stop_counts_a_log_that_grew_once(live_server, secret, data_dir, log):
    log.write_bytes(BYTES[: len(BYTES) // 2])
    with subprocess.Popen(
        [sys.executable, "manage.py", "push", str(log.parent), "--server", live_server.url, "--watch"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hearing,
        env={"PATH": os.environ["PATH"], "DSHWEB_PUSH_TOKEN": secret, "DSHWEB_DATA_DIR": str(log.parent.parent / "none")},
    ) as collector:  # fmt: skip
        try:
            assert collector.stdout.readline().startswith("sent ")
            log.write_bytes(BYTES)
            assert collector.stdout.readline().startswith("sent ")
            collector.send_signal(signal.SIGINT)
            said, trouble = collector.communicate(timeout=60)
        finally:
            collector.kill()
    assert said.splitlines()[-1] == f"1 log (1 sent), {len(BYTES)} bytes sent"
    assert trouble.splitlines() == [trouble.rstrip("\n")], trouble
    assert "watching" in trouble
    assert collector.returncode == 0, "Ctrl-C is how it is stopped, and nothing was lost"


def test_the_command_says_in_one_line_what_is_wrong(live_server, transactional_db, people, tmp_path):
    wrong = push(CORPUS / "forked", "--server", live_server.url, DSHWEB_PUSH_TOKEN="dshw_wrong")
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (1, 1)
    assert "does not accept the token" in wrong.stderr
    assert push(tmp_path / "no", "--server", live_server.url, "--token", "x").returncode == 1
    assert push(CORPUS, "--server", live_server.url).returncode == 2
    assert push(CORPUS).returncode == 2
    assert "list of processes" in push("--help").stdout
