"""What goes wrong around an import – lost bytes, other versions, replaced files, steps that were never taken – is made good."""

from __future__ import annotations

import json
import os

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from audit.models import Audit
from dshweb.sessionlog.models import Compaction, LogFile, MaskPattern, Message, Session, SourceFile
from dshweb.sessionlog.services import steps, store
from dshweb.sessionlog.services.ingest import Import, ingest_file, ingest_path
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.sessionlog.services.report import Totals
from tests.builders import BORN, assistant, compaction, frame, header, human, session_frames, write

A, B = (f"session-00000000-0000-4000-8000-00000000000{letter}" for letter in "ab")


def bring_in(people, path) -> Totals:
    totals = Totals()
    ingest_path(path, run=Import.by(people.team, people.bob, inline=True), totals=totals)
    return totals


def log_at(path) -> LogFile:
    return LogFile.unscoped.get(places__location=str(path))


def shown(session: str = A) -> tuple:
    row = Session.unscoped.get(session_id=session)
    return row.current_id, row.title, row.events, row.compactions, row.status


def replace(path, data: bytes) -> None:
    path.write_bytes(data)
    os.utime(path, ns=(path.stat().st_mtime_ns + 10**9,) * 2)


def test_a_file_replaced_by_an_older_copy_leaves_its_session_showing_that_copy(people, data_dir, tmp_path):
    newer, older = session_frames(rounds=2), session_frames(rounds=1)
    path, copy = write(tmp_path / "1", newer), write(tmp_path / "2", older)
    bring_in(people, copy)
    wanted = shown()
    bring_in(people, path)
    assert shown()[:1] + shown()[2:] == (log_at(path).pk, 12, 2, "ok")
    replace(path, b"".join(older))
    bring_in(people, path)
    assert LogFile.unscoped.count() == 1
    assert shown() == wanted == (log_at(path).pk, wanted[1], 6, 1, "ok")


def test_a_file_replaced_by_another_sessions_log_takes_its_session_with_it(people, data_dir, tmp_path):
    path, other = write(tmp_path / "1", session_frames()), tmp_path / "2" / "session.v4.jsonl.zstd"
    bring_in(people, path)
    data = frame(header(B)) + frame(human(0, "something else"))
    other.parent.mkdir()
    other.write_bytes(data)
    bring_in(people, other)
    replace(path, data)
    bring_in(people, path)
    assert [row.session_id for row in Session.unscoped.all()] == [B]
    assert LogFile.unscoped.get().places.count() == 2
    assert (Audit.unscoped.count(), Compaction.unscoped.count()) == (0, 0)
    assert shown(B)[1:] == ("something else", 1, 0, "ok")


def test_a_session_whose_newest_log_went_shows_the_other_one_at_once(people, data_dir, tmp_path):
    path, copy = write(tmp_path / "1", session_frames(rounds=2)), write(tmp_path / "2", session_frames(rounds=1))
    bring_in(people, path)
    bring_in(people, copy)
    replace(path, frame(header(B)) + frame(human(0, "something else")))
    bring_in(people, path)
    assert shown()[:1] + shown()[2:] == (log_at(copy).pk, 6, 1, "ok")


def test_lost_stored_bytes_are_brought_in_again(people, data_dir, tmp_path):
    path = write(tmp_path, session_frames())
    bring_in(people, path)
    store.delete(log_at(path).stored)
    with pytest.raises(FileNotFoundError):
        rebuild_log(log_at(path))
    replace(path, path.read_bytes() + frame(assistant(12, "one more")))
    totals = bring_in(people, path)
    assert (totals.changed, totals.status["ok"]) == (1, 1)
    assert Message.unscoped.filter(text="one more").count() == 1
    assert store.size(log_at(path).stored) == path.stat().st_size


def test_a_file_whose_log_was_deleted_is_read_again(people, data_dir, tmp_path):
    path = write(tmp_path, session_frames())
    bring_in(people, path)
    Session.unscoped.all().delete()
    assert SourceFile.unscoped.get().log is None
    assert bring_in(people, path).changed == 1
    assert shown()[2:] == (12, 2, "ok")
    replace(path, b"no log at all")
    assert bring_in(people, path).status["failed"] == 1
    assert bring_in(people, path).changed == 0, "what is no log is not looked at again while it stays as it is"


@pytest.mark.parametrize("stale", ["another version", "another shape", "no reader", "beyond the stored bytes"])
def test_a_log_with_a_state_of_another_dshweb_is_read_anew(people, data_dir, tmp_path, stale):
    frames = session_frames(rounds=2)
    path = write(tmp_path, frames[:-1])
    bring_in(people, path)
    log = log_at(path)
    audits = set(Audit.unscoped.values_list("pk", flat=True))
    state = json.loads(log.state)
    if stale == "another version":
        state["scan"]["v"] = 0
    elif stale == "another shape":
        state["scan"]["work"]["no_such_member"] = 1
    elif stale == "no reader":
        del state["reader"]
    else:
        state["reader"]["offset"] = 10**9
    LogFile.unscoped.update(state=json.dumps(state))
    path.write_bytes(b"".join(frames))
    totals = bring_in(people, path)
    assert (totals.changed, totals.status["ok"]) == (1, 1)
    assert (log_at(path).pk, log_at(path).complete) == (log.pk, True)
    assert (Message.unscoped.count(), shown()[2:]) == (6, (12, 2, "ok"))
    assert audits <= set(Audit.unscoped.values_list("pk", flat=True))


class Killed(Exception):
    """As if the process had ended here."""


def test_what_a_killed_import_stored_of_a_file_written_anew_meanwhile_is_not_read(
    people, data_dir, tmp_path, monkeypatch
):
    talk = [frame(human(n, f"first {n}")) for n in range(40)]
    path = write(tmp_path, [frame(header()), *talk])
    monkeypatch.setattr(steps, "STEP_BYTES", 1)

    def stop_after_some(done: int, total: int) -> None:
        if done > total // 2:
            raise Killed

    log = LogFile.unscoped
    run = Import.by(people.team, people.bob)
    ingest_file(path, run=run, on_progress=stop_after_some)
    assert not log.get().complete
    assert store.size(log.get().stored) == path.stat().st_size
    read = log.get().size
    anew = path.read_bytes()[:read] + frame(human(1000, "written anew"))
    assert len(anew) < path.stat().st_size
    replace(path, anew)
    bring_in(people, path)
    texts = list(Message.unscoped.order_by("position").values_list("text", flat=True))
    assert texts[-1] == "written anew"
    assert texts[:-1] == [f"first {n}" for n in range(len(texts) - 1)]
    with store.opened(log_at(path).stored) as stream:
        assert stream.read() == anew


SECRET = "tango-4711-bravo"


def test_a_read_anew_hides_a_secret_in_title_folder_and_header_everywhere(people, data_dir, tmp_path):
    head = header(cwd=f"/srv/{SECRET}", note={"deep": SECRET})
    path = write(
        tmp_path, [frame(head), frame(human(0, f"my key is {SECRET}, keep it")), *session_frames(rounds=0)[1:]]
    )
    bring_in(people, path)
    assert SECRET in shown()[1]
    MaskPattern.unscoped.create(team=people.team, name="code", expression=r"tango-\d+-bravo")
    rebuild_log(log_at(path))
    replace(path, path.read_bytes() + frame(assistant(1, "noted")))
    bring_in(people, path)
    session, log = Session.unscoped.get(), log_at(path)
    assert (session.title, session.cwd) == ("my key is [redacted:code], keep it", "/srv/[redacted:code]")
    assert log.header["note"] == {"deep": "[redacted:code]"}, "the whole header, also after the log has grown"
    assert log.header["createdAt"] == BORN
    for row in (*Session.unscoped.values(), *LogFile.unscoped.values(), *Message.unscoped.values()):
        assert SECRET not in json.dumps(row, default=str)


def test_the_state_to_go_on_from_never_holds_the_header(people, data_dir, tmp_path):
    path = write(tmp_path, [frame(header(cwd=f"/srv/{SECRET}", note=SECRET)), frame(human(0, "hello"))])
    bring_in(people, path)
    assert SECRET not in log_at(path).state


def test_a_fork_shows_its_own_numbers_and_the_inherited_ones_apart(client, people, data_dir, tmp_path):
    rows = [human(0, "before"), assistant(1, "yes"), *compaction(2, [0, 1], "Summary of before: port 9000")]
    seed = {"type": "session/end-seed", "seq": 6, "time": BORN + 6000, "data": {"inherited": True}}
    own = [human(7, "after"), *compaction(8, [4, 7], "Summary of after: port 9000", key="c2")]
    head = header(isSeeded=True, parentSession=B)
    path = write(tmp_path, [frame(head), *(frame(row) for row in [*rows, seed, *own])])
    bring_in(people, path)
    session = Session.unscoped.get()
    assert (session.events, session.compactions, session.failed_compactions) == (5, 1, 0)
    assert session.inherited == {"events": 7, "turns": 0, "compactions": 1}
    assert session.parent_session == B
    client.force_login(people.bob)
    page = client.get(f"/sessions/{session.pk}/").content.decode()
    assert "inherited from the parent: 0, events: 7" in page
    bring_in(people, write(tmp_path, [frame(header(B)), *session_frames()[1:]], B))
    assert Session.unscoped.get(session_id=B).inherited is None


def test_an_unchanged_log_costs_no_look_at_its_state(people, data_dir, tmp_path):
    path = write(tmp_path, session_frames())
    bring_in(people, path)
    with CaptureQueriesContext(connection) as queries:
        assert bring_in(people, tmp_path).changed == 0
    heavy = ('"state"', '"damage"', '"accounting"', '"header"', '"summary"')
    assert not [query["sql"] for query in queries if any(name in query["sql"] for name in heavy)]


def test_the_list_of_sessions_and_the_results_of_a_call_are_read_through_an_index(people, data_dir, tmp_path):
    # the order of selectors.sessions_page
    newest = Session.unscoped.filter(team=people.team).order_by(F("last_at").desc(nulls_last=True), "-id")[:50]
    plan = newest.explain()
    assert "sessions_by_last_event" in plan
    assert "TEMP B-TREE" not in plan
    calls = Message.unscoped.filter(log=1, call_id__in=["x"], type="tool/result").order_by()
    assert "results_by_call" in calls.values("call_id").explain()


def test_whose_an_attempt_without_a_start_is_does_not_depend_on_how_the_log_grew(people, data_dir, tmp_path):
    """What ends the parent's part may come in a later import than the attempt."""
    end = {"type": "compaction/end", "seq": 19, "time": BORN + 19_000, "data": {"compactionId": "c1", "turn": 1}}
    frames = [frame(header(isSeeded=True, seedLength=1)), frame(end), frame(human(0, "one")), frame(human(20, "two"))]
    whole, grown = write(tmp_path / "1", frames), write(tmp_path / "2", frames[:2])
    bring_in(people, whole)
    bring_in(people, grown)
    replace(grown, b"".join([*frames, frame(human(21, "three"))]))
    bring_in(people, grown)
    assert list(Compaction.unscoped.values_list("inherited", flat=True)) == [False, False]
