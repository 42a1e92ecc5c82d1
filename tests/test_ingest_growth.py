"""A log may grow, shrink, be replaced, be moved, be copied, be torn – and is read once, whole, without doubling."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audit.models import Audit
from dshweb.sessionlog.models import Compaction, Frame, LogFile, Message, Session, SourceFile
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.ingest import Import, ingest_file, ingest_path
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.sessionlog.services.report import Totals
from tests.builders import assistant, frame, header, human, session_frames, write


def bring_in(people, path: Path):
    return ingest_file(path, run=Import.by(people.team, people.bob, inline=True), place=place_of(path))


def place_of(path: Path) -> SourceFile | None:
    return SourceFile.unscoped.select_related("log").filter(location=str(path)).first()


def picture(log: LogFile) -> dict:
    """Everything a log is projected to, without ids and clock."""
    skip = {"id", "log", "log_id", "session_id", "team_id", "created_at"}

    def rows(queryset):
        return [{k: v for k, v in row.items() if k not in skip} for row in queryset.order_by("position").values()]

    log.refresh_from_db()
    session = Session.unscoped.get(pk=log.session_id)
    return {
        "messages": rows(Message.unscoped.filter(log=log)),
        "compactions": rows(Compaction.unscoped.filter(log=log)),
        "frames": [
            {k: v for k, v in row.items() if k not in skip}
            for row in Frame.unscoped.filter(log=log).order_by("offset").values()
        ],
        "accounting": log.accounting,
        "damage": log.damage,
        "log": (log.status, log.size, log.complete, log.last_seq, log.last_time, log.format, log.header),
        "session": (session.title, session.turns, session.events, session.tokens, session.compactions, session.status),
        "audits": [
            audit.record for audit in Audit.unscoped.filter(compaction__log=log).order_by("compaction__position")
        ],
    }


@pytest.fixture
def whole(people, data_dir, tmp_path):
    """The picture of an undisturbed read, made in another team so that nothing is shared."""

    def read(data: bytes) -> dict:
        path = write(tmp_path / "whole", [data])
        run = Import.by(people.other_team, people.mallory, inline=True)
        ingest_file(path, run=run)
        return picture(LogFile.unscoped.get(team=people.other_team))

    return read


def test_a_log_read_frame_by_frame_ends_as_one_read_at_once(people, data_dir, tmp_path, whole):
    frames = session_frames(rounds=3)
    for end in range(1, len(frames) + 1):
        path = write(tmp_path, frames[:end])
        report = bring_in(people, path)
        assert report.changed
    assert picture(LogFile.unscoped.get(team=people.team)) == whole(b"".join(frames))


def test_a_log_cut_anywhere_and_then_finished_ends_the_same(people, data_dir, tmp_path, whole):
    data = b"".join(session_frames(rounds=2))
    wanted = whole(data)
    for n, cut in enumerate(range(150, len(data), 61)):
        session = f"session-00000000-0000-4000-8000-{n:012d}"
        path = write(tmp_path, [data[:cut]], session)
        bring_in(people, path)
        path.write_bytes(data)
        bring_in(people, path)
        log = LogFile.unscoped.get(places__location=str(path))
        assert picture(log) == wanted, cut


def test_nothing_new_costs_a_stat_and_changes_nothing(people, data_dir, tmp_path, django_assert_max_num_queries):
    path = write(tmp_path, session_frames())
    bring_in(people, path)
    before = picture(LogFile.unscoped.get())
    os.chmod(path, 0)  # not even root's read would help: the file is not opened
    with django_assert_max_num_queries(10):
        totals = Totals()
        ingest_path(tmp_path, run=Import.by(people.team, people.bob), totals=totals)
    assert (totals.logs, totals.changed) == (1, 0)
    assert picture(LogFile.unscoped.get()) == before


def test_touching_a_log_reads_nothing_new_and_doubles_nothing(people, data_dir, tmp_path):
    path = write(tmp_path, session_frames())
    bring_in(people, path)
    before = picture(LogFile.unscoped.get())
    os.utime(path, (1, 1))
    assert not bring_in(people, path).changed
    assert picture(LogFile.unscoped.get()) == before


@pytest.mark.parametrize("change", ["rewritten at the same length", "shrunk", "replaced by another session"])
def test_a_log_that_is_no_continuation_is_read_anew(people, data_dir, tmp_path, whole, change):
    path = write(tmp_path, session_frames(rounds=2))
    bring_in(people, path)
    old = LogFile.unscoped.get()
    if change == "shrunk":
        data = b"".join(session_frames(rounds=1))
    elif change == "replaced by another session":
        data = frame(header("session-00000000-0000-4000-8000-00000000000b")) + frame(human(0, "something else"))
    else:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        data = bytes(data)
    path.write_bytes(data)
    os.utime(path, (2, 2))
    report = bring_in(people, path)
    assert report.changed
    log = LogFile.unscoped.get(places__location=str(path))
    assert log.pk != old.pk
    with store.opened(log.stored) as stream:
        assert stream.read() == data
    assert not LogFile.unscoped.filter(pk=old.pk).exists()
    assert picture(log) == whole(data)


def test_a_moved_or_copied_log_is_the_same_log(people, data_dir, tmp_path):
    path = write(tmp_path, session_frames())
    bring_in(people, path)
    copy = write(tmp_path / "backup", session_frames())
    assert not bring_in(people, copy).changed
    assert LogFile.unscoped.count() == Session.unscoped.count() == 1
    assert Message.unscoped.count() == 6


def test_a_diverging_copy_is_a_log_of_its_own_and_the_newest_content_is_shown(people, data_dir, tmp_path):
    frames = session_frames()
    older = write(tmp_path / "old", frames[:5])
    newer = write(tmp_path / "new", frames)
    bring_in(people, newer)
    bring_in(people, older)
    session = Session.unscoped.get()
    assert session.logs.count() == 2
    assert session.current == LogFile.unscoped.get(places__location=str(newer))
    assert session.compactions == 2


def test_the_stored_bytes_are_the_bytes_that_came(people, data_dir, tmp_path):
    data = b"".join(session_frames()) + b"torn"
    path = write(tmp_path, [data])
    bring_in(people, path)
    with store.opened(LogFile.unscoped.get().stored) as stream:
        assert stream.read() == data


def test_rebuild_makes_the_same_rows_and_keeps_the_audits(people, data_dir, tmp_path):
    path = write(tmp_path, session_frames())
    bring_in(people, path)
    log = LogFile.unscoped.get()
    before, audits = picture(log), set(Audit.unscoped.values_list("pk", flat=True))
    rebuild_log(log)
    assert picture(log) == before
    assert set(Audit.unscoped.values_list("pk", flat=True)) == audits


def test_an_appended_log_reads_only_its_new_frames(people, data_dir, tmp_path, monkeypatch):
    frames = session_frames(rounds=3)
    path = write(tmp_path, frames)
    bring_in(people, path)
    from dshweb.sessionlog.core import reader

    read = []
    take = reader.LogReader._batch
    monkeypatch.setattr(
        reader.LogReader, "_batch", lambda self, frame: (read.append(frame.offset), take(self, frame))[1]
    )
    more = frame(assistant(18, "and one more"))
    path.write_bytes(b"".join(frames) + more)
    bring_in(people, path)
    assert read == [len(b"".join(frames))]
    assert Message.unscoped.filter(text="and one more").count() == 1


def test_links_are_not_followed_and_one_bad_file_fails_alone(people, data_dir, tmp_path):
    home = tmp_path / "home"
    write(home, session_frames())
    bad = write(home, [b"this is no frame"], "session-00000000-0000-4000-8000-0000000000bb")
    outside = write(tmp_path / "outside", session_frames(rounds=1), "session-00000000-0000-4000-8000-0000000000cc")
    (home / "sessions" / "linked").symlink_to(outside.parent)
    (home / "sessions" / "session.jsonl").symlink_to(outside)
    totals, reports = Totals(), []
    ingest_path(home, run=Import.by(people.team, people.bob), totals=totals, on_report=reports.append)
    assert {report.path: report.status for report in reports}[str(bad)] == "failed"
    assert (totals.logs, totals.status["ok"], totals.status["failed"]) == (2, 1, 1)
    assert totals.passed_over["link"] == 2
    listed = SourceFile.objects.for_team(people.team).get(location=str(bad))
    assert listed.status == "failed"
    assert "not_zstd" in listed.error
