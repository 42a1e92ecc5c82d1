"""A session whose process died and was resumed: DSH takes the torn tail back and writes its whole rows anew. The log stays."""

from __future__ import annotations

import os

import pytest

from audit.models import Audit
from dshweb.sessionlog.models import Compaction, LogFile, Message, Session
from dshweb.sessionlog.services import steps, store
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.sessionlog.services.rebuild import rebuild_log
from tests.builders import BORN, assistant, frame, human, session_frames, write
from tests.test_ingest_growth import bring_in, picture, whole  # noqa: F401

FRAMES = session_frames(rounds=2)
TORN = frame(human(12, "x" * 50), human(13, "zz"))[:-7]
SEED = {"type": "session/end-seed", "seq": 13, "time": BORN, "data": {}}
REPAIRED = frame(human(12, "x" * 50)) + frame(SEED)


def pks() -> list[set[int]]:
    return [set(model.unscoped.values_list("pk", flat=True)) for model in (LogFile, Session, Compaction, Audit)]


def again(path, data: bytes) -> None:
    path.write_bytes(data)
    os.utime(path, ns=(path.stat().st_mtime_ns + 10**9,) * 2)


TAILS = {
    "repaired": REPAIRED,
    "repaired, shorter than it was": frame(SEED | {"seq": 12}),
    "only cut off": b"",
    "of the same length, torn too": frame(human(12, "y" * 50), human(13, "zz"))[:-7],
    "repaired and gone on": REPAIRED + frame(human(14, "on"), assistant(15, "and on")),
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_a_log_with_its_torn_tail_written_anew_keeps_its_addresses_and_audits(
    people, data_dir, tmp_path, whole, tail  # noqa: F811
):  # fmt: skip
    path = write(tmp_path, [*FRAMES, TORN])
    bring_in(people, path)
    assert LogFile.unscoped.get().status == "damaged"
    before = pks()
    assert [len(found) for found in before] == [1, 1, 2, 2]
    data = b"".join(FRAMES) + tail
    again(path, data)
    assert bring_in(people, path).changed
    assert pks() == before
    log = LogFile.unscoped.get()
    with store.opened(log.stored) as stream:
        assert stream.read() == data
    wanted = whole(data)
    assert picture(log) == wanted
    rebuild_log(log)
    assert picture(log) == wanted


def test_a_torn_tail_that_did_not_change_is_not_read_again(people, data_dir, tmp_path):
    path = write(tmp_path, [*FRAMES, TORN])
    bring_in(people, path)
    again(path, path.read_bytes())
    assert not bring_in(people, path).changed


def test_an_import_killed_before_it_read_the_new_tail_is_made_good(people, data_dir, tmp_path, whole, monkeypatch):  # noqa: F811
    path = write(tmp_path, [*FRAMES, TORN])
    bring_in(people, path)
    before = pks()
    other = frame(human(12, "y" * 50), human(13, "zz"))[:-7]
    data = b"".join(FRAMES) + other
    assert len(data) == path.stat().st_size
    again(path, data)

    def killed(*_args, **_more):
        raise OSError("as if the process had ended here")

    with monkeypatch.context() as patch:
        patch.setattr(steps, "read_on", killed)
        assert bring_in(people, path).status == "failed"
    assert not LogFile.unscoped.get().complete
    assert bring_in(people, path).changed
    assert pks() == before
    assert picture(LogFile.unscoped.get(team=people.team)) == whole(data)


def test_a_change_before_the_torn_tail_is_another_log(people, data_dir, tmp_path):
    path = write(tmp_path, [*FRAMES, TORN])
    bring_in(people, path)
    old = LogFile.unscoped.get().pk
    again(path, b"".join(FRAMES[:-1]) + frame(human(11, "something else")) + REPAIRED)
    bring_in(people, path)
    assert LogFile.unscoped.get().pk != old


def test_a_copy_with_the_torn_tail_keeps_a_log_of_its_own(people, data_dir, tmp_path):
    path, copy = write(tmp_path / "1", [*FRAMES, TORN]), write(tmp_path / "2", [*FRAMES, TORN])
    bring_in(people, path)
    bring_in(people, copy)
    assert LogFile.unscoped.count() == 1
    again(path, b"".join(FRAMES) + REPAIRED)
    bring_in(people, path)
    ours, theirs = (LogFile.unscoped.get(places__location=str(place)) for place in (path, copy))
    assert ours.pk != theirs.pk
    with store.opened(theirs.stored) as stream:
        assert stream.read() == copy.read_bytes()


def test_a_title_and_folder_said_only_in_the_torn_tail_go_with_it(people, data_dir, tmp_path):
    title = {"type": "session/title", "seq": 12, "time": BORN, "data": {"title": "taken back"}}
    moved = {"type": "working-directory/change", "seq": 13, "time": BORN, "data": {"cwd": "/taken/back"}}
    path = write(tmp_path, [*FRAMES, frame(title, moved)[:-3]])
    run = Import.by(people.team, people.bob, inline=True)
    ingest_file(path, run=run)
    assert (Session.unscoped.get().title, Session.unscoped.get().cwd) == ("taken back", "/taken/back")
    again(path, b"".join(FRAMES) + frame(human(12, "on")))
    bring_in(people, path)
    session = Session.unscoped.get()
    assert (session.cwd, "taken" in session.title) == ("/home/dev/proj", False)
    assert Message.unscoped.filter(text="on").exists()
