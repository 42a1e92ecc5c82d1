"""The pass over a log: growing, torn and damaged files, looks at the pressure, what-if."""

from __future__ import annotations

import io
import json

import pytest

from compaction.core.marks import marks
from compaction.core.replay import Replay
from compaction.core.what_if import Pressure, Route, what_if
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.core.resume import Resume, StaleState
from dshweb.sessionlog.tests.core.logs import CORPUS, FIELD, damaged_log

from .feeds import call, opened, text
from .recorded import events_of


def read_all(data, replay=None, resume=None):
    replay = replay or Replay()
    reader = read_log(io.BytesIO(data), resume=resume)
    for batch in reader:
        replay.feed_batch(batch, reader)
    return replay, reader


def the(name):
    (path,) = (CORPUS / name).glob("sessions/*/*/session*.jsonl*")
    return path


@pytest.mark.parametrize("name", ["manual-compact", "legacy-v3", "pressure-compaction"])
@pytest.mark.parametrize("part", [0.2, 0.5, 0.77, 0.999])
def test_a_file_that_grows_is_caught_up_with_by_its_new_events(name, part):
    data = the(name).read_bytes()
    first, reader = read_all(data[: int(len(data) * part)])
    kept = json.loads(json.dumps([first.to_state(), reader.resume().to_json()]))
    grown, _ = read_all(data, Replay.from_state(kept[0]), Resume.from_json(kept[1]))
    whole, _ = read_all(data)
    assert grown.to_state() == whole.to_state()
    assert grown.measure() == whole.measure()


def test_a_torn_tail_is_told_but_not_kept():
    path, facts = damaged_log("damaged-torn-by-3-bytes")
    replay, _ = read_all(path.read_bytes())
    assert replay.measure().total is not None
    assert replay.seq == facts["readableEventsFromStart"] + facts["completeRowsInTornFrame"] - 1
    assert replay.to_state()["seq"] == facts["readableEventsFromStart"] - 1


@pytest.mark.parametrize("name", ["damaged-bad-checksum", "damaged-corrupt-middle-frame"])
def test_lost_rows_make_the_measurement_unavailable(name):
    path, _ = damaged_log(name)
    replay, _ = read_all(path.read_bytes())
    assert replay.measure().measurement == "unavailable"
    assert replay.measure().reason == "rows of the log could not be read"
    assert Replay.from_state(replay.to_state()).measure() == replay.measure()
    assert replay.last_compaction().before_tokens is None


def test_a_state_of_another_version_or_shape_is_refused():
    for state in ({}, {"v": 0}, {"v": 1}, {**Replay().to_state(), "meter": {"version": 4}}):
        with pytest.raises(StaleState):
            Replay.from_state(state)


def test_the_state_holds_no_text_of_rows():
    secret = "correct horse battery staple"
    session = opened()
    session.system(text(secret))
    session.request(tools=[{"name": secret}])
    session.user(text(secret))
    session.answer(call(secret, secret))
    session.result(text(secret))
    session.compact(3, 3, [3], secret)
    assert secret not in json.dumps(session.replay().to_state())


def looks(session):
    found = []
    session.replay(lambda _, check: found.append((check.seq, check.fired, check.again)))
    return found


def test_the_harness_looks_before_every_step_and_only_with_a_routed_header():
    session = opened()
    session.request()
    session.close()
    session.finish()
    session.begin()
    second = session.open()
    session.close()
    third = session.open()
    assert looks(session) == [(second, False, False), (third, False, False)]


def test_what_the_pressure_sets_off_is_a_look_that_fired():
    session = opened()
    session.request()
    session.user(text("a" * 100))
    session.close()
    prune = session.row("compaction/prune", {})
    session.row("compaction/prune", {})
    session.compact(3, 3, [3], turn=1)
    then = session.open()
    assert looks(session) == [(prune, True, False), (prune + 2, True, True), (then, False, True)]


def test_neither_a_manual_compaction_nor_one_inside_a_step_is_a_look():
    session = opened()
    session.request()
    session.user(text("a" * 100))
    session.compact(3, 3, [3], turn=1)
    session.close()
    session.finish()
    session.compact(6, 6, [6])
    assert looks(session) == []


def test_what_if_with_the_recorded_settings_fires_where_it_did():
    header, events = events_of(the("pressure-compaction"))
    points = what_if(header, events, lambda _: Pressure(16800, 1500))
    assert [p.over for p in points] == [p.fired for p in points]
    (fired,) = [p for p in points if p.over]
    recorded = next(e for e in events if e.type == "compaction/summary").body
    assert {"start": fired.range.start, "end": fired.range.end} == recorded["shadowedRange"]
    assert (fired.range.tokens, fired.measurement) == (recorded["shadowedTokenCount"], "measured")
    assert fired.route == Route("deepseek-official", "deepseek-flash", 21000, 2000)


def test_what_if_says_unknown_where_the_route_has_no_limits():
    header, events = events_of(the("pressure-compaction"))
    points = what_if(header, events, lambda _: None)
    assert len(points) > 3
    assert {(p.over, p.range, p.refusal) for p in points} == {(None, None, None)}


def test_rows_that_are_missing_or_come_twice_make_the_measurement_unavailable():
    session = opened()
    for n in range(4):
        session.user(text(f"{n}" * 40))
    whole = session.events()
    for rows, reason in (
        (whole, None),
        ([*whole[:3], *whole[4:]], "4: the row in front of it is seq 2"),
        ([*whole, *whole[-2:]], "4: the row in front of it is seq 5"),
    ):
        replay = Replay()
        for event in rows:
            replay.feed(event)
        found = replay.measure()
        assert (found.reason, found.total is None) == (reason, reason is not None)


@pytest.mark.parametrize("name", ["seq-gap", "seq-goes-back-after-end-seed"])
def test_field_logs_out_of_order_are_not_measured(name):
    header, events = events_of(FIELD / "parse" / f"{name}.v4.jsonl")
    replay = Replay()
    replay.start(header)
    for event in events:
        replay.feed(event)
    assert replay.measure().measurement == "unavailable"


def test_ranges_are_selected_only_as_far_as_asked_and_nothing_is_measured_behind_lost_rows():
    header, events = events_of(the("repeated-compaction"))
    points = what_if(header, events, lambda _: Pressure(1, 100), ranges=3)
    assert [p.range is not None or p.refusal is not None for p in points if p.over] == [True] * 3 + [False] * 27
    half = len(events) // 2
    lost = what_if(header, events, lambda _: Pressure(1, 100), whole=half)
    assert {p.over for p in lost if p.seq >= events[half].seq} == {None}
    assert {p.over for p in lost if p.seq < events[half].seq} == {True}
    assert [one.compaction.before_tokens for one in marks(header, events, whole=half)][-1] is None


def test_a_lower_threshold_fires_earlier_and_a_higher_one_never():
    header, events = events_of(the("repeated-compaction"))
    count = [
        sum(bool(p.over) for p in what_if(header, events, lambda _, t=t: Pressure(t, 100)))
        for t in (0, 9000, 14000, 10**6)
    ]
    assert count == sorted(count, reverse=True)
    assert count[0] > count[2] > count[3] == 0
    refused = what_if(header, events, lambda _: Pressure(0, 10**6))
    assert {p.refusal for p in refused} == {"all-retained"}
