"""The commands as people and scripts meet them: odd paths, hostile names, what goes to which stream, which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dshweb.sessionlog.models import Session
from tests.builders import frame, header, human, session_frames, write

pytestmark = pytest.mark.django_db


def ingest(*paths, **options) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("ingest", *map(str, paths), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_a_pipe_named_by_hand_is_listed_as_failed_and_hangs_nobody(data_dir, tmp_path):
    pipe = tmp_path / "session.v4.jsonl"
    os.mkfifo(pipe)
    good = write(tmp_path / "home", session_frames(rounds=1))
    out, _err = ingest(pipe, good, json=True)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line.get("status") for line in lines[:2]] == ["failed", "ok"]
    assert lines[2]["summary"]["logs"] == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_path_behind_a_locked_folder_fails_alone(data_dir, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    good = write(tmp_path / "home", session_frames(rounds=1))
    locked.chmod(0)
    out, _err = ingest(locked / "session.v4.jsonl", good, json=True)
    assert [json.loads(line).get("status") for line in out.splitlines()[:2]] == ["failed", "ok"]


def test_a_name_that_is_too_long_fails_alone(data_dir, tmp_path):
    good = write(tmp_path / "home", session_frames(rounds=1))
    out, _err = ingest(tmp_path / ("x" * 300), good, json=True)
    assert [json.loads(line).get("status") for line in out.splitlines()[:2]] == ["failed", "ok"]


def test_an_unset_variable_is_wrong_usage_not_the_current_folder(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "ingest", ""], cwd=Path(__file__).parent.parent, capture_output=True, text=True,
        env={**os.environ, "DSHWEB_DATA_DIR": str(tmp_path / "data")}, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "names nothing" in done.stderr


def test_a_missing_path_is_said_and_the_others_are_read(data_dir, tmp_path):
    good = write(tmp_path / "home", session_frames(rounds=1))
    out = StringIO()
    with pytest.raises(CommandError, match="does not exist"):
        call_command("ingest", str(tmp_path / "nowhere"), str(good), stdout=out, json=True)
    assert [json.loads(line).get("status") for line in out.getvalue().splitlines()[:1]] == ["ok"]


def test_names_from_logs_cannot_move_the_cursor_or_fake_a_line(data_dir, tmp_path):
    evil = 'session-\x1b]0;PWN\x07\n{"summary": 1}'
    rows = [header(evil), human(0, "hi")]
    write(tmp_path, [frame(row) for row in rows], "session-\x1b[31mred\n{}")
    write(tmp_path, session_frames(rounds=1))
    Session.unscoped.all().delete()
    out, err = ingest(tmp_path)
    assert "\x1b" not in out + err
    assert len(out.splitlines()) == 3, out
    table = StringIO()
    call_command("audit", stdout=table)
    assert "\x1b" not in table.getvalue()


def test_json_output_holds_records_and_nothing_else(data_dir, tmp_path):
    write(tmp_path, session_frames(rounds=1))
    ingest(tmp_path)
    out, err = StringIO(), StringIO()
    call_command("audit", json=True, gate="uuid=9", stdout=out, stderr=err)
    assert [json.loads(line)["schema"] for line in out.getvalue().splitlines()] == ["audit.signals/1"]
    assert "uncalibrated" in err.getvalue()
    with pytest.raises(CommandError) as stopped:
        call_command("audit", gate="abs_path=0", stdout=StringIO())
    assert stopped.value.returncode == 3


@pytest.mark.parametrize("time", [253402300799999, -62135596800000, 10**18, -1])
def test_times_at_the_edge_of_the_calendar_break_no_page(data_dir, tmp_path, client, settings, time):
    from dshweb.access.models import User

    settings.TIME_ZONE = "Asia/Shanghai"
    rows = [header(createdAt=time), {**human(0, "hi"), "time": time}]
    write(tmp_path, [frame(row) for row in rows])
    ingest(tmp_path)
    client.force_login(User.objects.get(username="admin"))
    session = Session.unscoped.get()
    for page in ("/sessions/", f"/sessions/{session.pk}/", "/admin/sessionlog/session/", "/admin/sessionlog/message/"):
        assert client.get(page).status_code == 200, page


@pytest.mark.parametrize(
    "address", ["/sessions/?q=%00", "/sessions/?status=%00", "/admin/sessionlog/session/?status__exact=%00"]
)
def test_a_nul_in_an_address_is_refused_with_a_word(client, address):
    answer = client.get(address)
    assert answer.status_code == 400
    assert "NUL" in answer.content.decode()
