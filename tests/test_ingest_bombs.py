"""Small files that cost much: what is held and what is stored stays bounded, and what was left out is said."""

from __future__ import annotations

import pytest
import zstandard

from dshweb.sessionlog.models import Frame, LogFile, Message
from dshweb.sessionlog.services import steps
from tests.builders import CHECKED, assistant, frame, header, human
from tests.test_ingest_growth import bring_in, picture, whole, write  # noqa: F401

SKIPPABLE = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
EMPTY = CHECKED.compress(b"")
START, END = [frame(header()), frame(human(0, "before"))], frame(assistant(1, "after"))


@pytest.mark.parametrize("nothing", [SKIPPABLE, EMPTY], ids=["skippable", "empty"])
def test_a_run_of_frames_that_hold_nothing_is_one_row(people, data_dir, tmp_path, monkeypatch, nothing):
    monkeypatch.setattr(steps, "STEP_FRAMES", 2)
    path = write(tmp_path, [*START, nothing * 3000, END])
    assert bring_in(people, path).events == 2
    log = LogFile.unscoped.get()
    runs = list(Frame.unscoped.filter(log=log, events=0, has_header=False).values_list("length", flat=True))
    assert runs == [3000 * len(nothing)]
    accounting = log.accounting
    assert (accounting["skippable_frames"], accounting["frames"]) in ((3000, 3), (0, 3003))
    assert Message.unscoped.filter(text="after").exists()


def test_runs_are_the_same_however_the_log_grew(people, data_dir, tmp_path, whole):  # noqa: F811
    pieces = [*START, SKIPPABLE, SKIPPABLE, EMPTY, EMPTY, SKIPPABLE, END, SKIPPABLE]
    for end in range(1, len(pieces) + 1):
        bring_in(people, write(tmp_path, pieces[:end]))
    wanted = whole(b"".join(pieces))
    assert picture(LogFile.unscoped.get(team=people.team)) == wanted
    assert [row["kind"] for row in wanted["frames"]] == [
        "data", "data", "skippable", "data", "skippable", "data", "skippable",
    ]  # fmt: skip


def test_a_step_ends_after_so_many_frames(people, data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "STEP_FRAMES", 3)
    held = []
    commit = steps._Run._commit
    monkeypatch.setattr(
        steps._Run, "_commit", lambda run, **how: (held.append(len(run.pending.frames)), commit(run, **how))[1]
    )
    bring_in(people, write(tmp_path, [*START, *(frame(human(n, f"{n}")) for n in range(1, 20))]))
    assert max(held) == 3
    assert Frame.unscoped.count() == 21


def test_a_frame_of_too_many_rows_is_read_so_far_and_said(people, data_dir, tmp_path, monkeypatch):
    squeezed = zstandard.ZstdCompressor(level=3, write_checksum=True, write_content_size=False)
    most = steps.limits().frame_rows
    bomb = squeezed.compress(b'{"type":"x"}\n' * (most + 1000))
    report = bring_in(people, write(tmp_path, [*START, bomb, frame(assistant(most + 1001, "after"))]))
    assert (report.status, report.skipped) == ("damaged", {"limit_rows": 1000})
    assert [entry["code"] for entry in report.damage] == ["seq_by_position", "no_time", "limit_rows", "lost_rows"]
    assert Message.unscoped.filter(text="after").exists()
