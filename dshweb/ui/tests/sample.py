"""A team with one of everything, for tests that walk all pages and for the pictures."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from dshweb.access.models import Team, User
from dshweb.sessionlog.core.leaves import LedgerReason
from dshweb.sessionlog.models import Source, SourceFile
from dshweb.tasks.models import State
from dshweb.ui.tests.rows import (
    HOSTILE,
    ID_A,
    make_audit,
    make_compaction,
    make_log,
    make_messages,
    make_session,
    make_task,
)


def fill(team: Team, owner: User | None = None) -> None:
    """A team with one of everything."""
    now = timezone.now()
    full = make_session(
        team, ID_A, owner, compactions=1, failed_compactions=2, parent_session="parent-1", origin="fork"
    )
    log = make_log(
        full,
        damage=[
            {"code": "bad_checksum", "offset": 20480, "detail": "frame of 1 204 bytes"},
            {"code": "seq_gap", "seq": 17, "detail": "expected 17, found 19"},
            {"code": "seq_by_position", "detail": "3 rows"},
        ],
        status="damaged",
        accounting={
            "size": 48213,
            "bytes_good": 47009,
            "bytes_damaged": 1204,
            "frames": 28,
            "damaged_frames": 1,
            "rows": 33,
            "event_rows": 31,
            "events": 31,
            "skipped": {"bad_row": 2},
        },
    )
    full.status = "damaged"
    full.save()
    make_log(full, "session.v3.jsonl", current=False, format=3, stored="old", size=9120)
    make_messages(log)
    make_audit(make_compaction(log), reasons=(LedgerReason("damaged_log"), LedgerReason("missing_seq", 12)))
    make_compaction(
        log,
        40,
        outcome="failed",
        error="provider: 503 overloaded",
        summary=None,
        round=None,
        took_ms=None,
        shadowed_tokens=None,
        summary_seq=None,
        start_seq=44,
        end_seq=45,
    )
    make_compaction(log, 50, outcome="unmatched", summary=None, round=None, at=None, start_seq=50, end_seq=None)
    make_session(team, "parent-1", title="订单服务配置", model="deepseek-pro", last_at=now - timedelta(days=1))
    hostile = make_session(team, "h-1", title=HOSTILE, cwd=HOSTILE, last_at=now - timedelta(hours=3), compactions=2)
    other = make_log(hostile)
    make_messages(other, [("user/message", "user", True, HOSTILE), ("tool/result", "", False, "x" * 9000)])
    make_audit(make_compaction(other, summary=[" "], compaction_id="blank"))
    make_compaction(other, 60, compaction_id="waits")
    make_session(
        team,
        "e0b7c93d",
        title="",
        cwd="",
        model="",
        last_at=None,
        created_at=None,
        turns=None,
        events=None,
        tokens=None,
        status="failed",
    )
    Source.unscoped.create(team=team, path="/srv/logs/dsh-home", watch=True, last_scan_at=now - timedelta(minutes=2))
    Source.unscoped.create(
        team=team, path="/srv/gone", last_error="FileNotFoundError: no such folder", last_scan_at=now
    )
    SourceFile.unscoped.create(
        team=team,
        location="/srv/logs/dsh-home/sessions/a/session.v4.jsonl.zstd",
        log=log,
        size=48213,
        status="damaged",
        read_at=now,
    )
    SourceFile.unscoped.create(
        team=team, location="/srv/logs/notes.jsonl.zstd", status="failed", error="not_zstd: no Zstandard frame", size=77
    )
    make_task(
        team,
        kind="audit",
        label="96 compactions",
        state=State.RUNNING,
        done=60,
        total=96,
        unit="compactions",
        rate=4.1,
        sampled_at=now,
        started_at=now - timedelta(seconds=15),
    )
    make_task(
        team,
        kind="ingest",
        label="legacy-archive",
        state=State.FAILED,
        done=12_400_000,
        total=58_000_000,
        unit="bytes",
        started_at=now - timedelta(minutes=9),
        finished_at=now - timedelta(minutes=8),
        error="OSError: the source went away. What was read is kept.",
        attempts=2,
        history=[
            {"startedAt": "2026-11-30T08:00:00+00:00", "endedAt": "2026-11-30T08:01:00+00:00", "why": "worker-died"}
        ],
    )
    make_task(
        team,
        kind="rescan",
        label="/srv/logs/dsh-home",
        state=State.DONE,
        done=3,
        total=3,
        unit="files",
        attempts=1,
        started_at=now - timedelta(minutes=20),
        finished_at=now - timedelta(minutes=20),
    )
    make_task(team, label="waits")
