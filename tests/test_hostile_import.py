"""Anything as a log, through the whole import: never an exception, every row accounted for, nothing twice.

The reader alone is tested in dshweb/sessionlog/tests/core; here its answer meets the database and the audit. SQLite here,
PostgreSQL in test_postgres.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dshweb.sessionlog.core.accounting import Accounting
from dshweb.sessionlog.core.surface import SURFACE_TYPES
from dshweb.sessionlog.models import Compaction, Frame, LogFile, Message, Outcome, Session, SourceFile
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.evidence import LogEvents
from dshweb.sessionlog.services.ingest import Import, ingest_file
from tests.builders import CHECKED, frame
from tests.hostile import POISONS, line, poisoned, session, spread
from tests.picture import picture

BOUNDED = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
KNOWN = session()
TYPES = sorted({row["type"] for row in KNOWN})

texts = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["\x00", "\ud800", "/srv/app/a.yaml", "端口 9000", "c1", "t1"]
)
numbers = st.integers() | st.integers(0, 20) | st.floats(allow_nan=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
shortened = {name: poison for name, poison in POISONS.items() if name != "long"}


@st.composite
def mutated(draw: st.DrawFn) -> dict:
    """A row as DSH writes it, or with one member poisoned or replaced by any value."""
    row = draw(st.sampled_from(KNOWN))
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return row
    if kind == 1:
        return spread(row, draw(texts))
    poison = draw(values if kind == 2 else st.sampled_from(list(shortened.values())))
    return draw(st.sampled_from(list(poisoned(row, poison))))


@st.composite
def made_up(draw: st.DrawFn) -> dict:
    """A row with a known type and anything else in it."""
    row = {"type": draw(st.sampled_from(TYPES)), "seq": draw(st.integers(0, 30) | numbers), "time": draw(numbers)}
    return row | {"data": draw(values), "surfaceOp": draw(st.sampled_from(["append", None]) | values)}


rows = st.lists(mutated() | made_up() | values, max_size=25)


@pytest.fixture
def import_(people, data_dir, tmp_path):
    """Writes a log to a place of its own, imports and audits it, checks what must always hold, and returns its report."""
    number = itertools.count()
    run = Import.by(people.team, people.bob, inline=True)

    def act(data: bytes, ending: str = ""):
        path = tmp_path / f"{next(number)}" / f"session.v4.jsonl{ending}"
        path.parent.mkdir()
        path.write_bytes(data)
        report = ingest_file(path, run=run)
        check(report, path, data)
        again(path, run, report)
        forget()
        return report

    return act


def forget() -> None:
    """Rows of one example are not looked through again in the next."""
    Session.unscoped.all().delete()
    SourceFile.unscoped.all().delete()


def check(report, path: Path, data: bytes) -> None:
    place = SourceFile.unscoped.get(location=str(path))
    assert report.status in {"ok", "damaged", "unsupported", "failed"}
    assert place.status == report.status
    assert "error" not in [entry["code"] for entry in report.damage], report.damage
    json.dumps(report.to_json(), ensure_ascii=False).encode()  # can be printed
    if report.status == "failed":
        assert place.log is None
        return
    log = place.log
    assert log.complete
    with store.opened(log.stored) as stream:
        assert stream.read() == data
    counts = Accounting(**log.accounting)
    assert counts.adds_up()
    assert counts.size == len(data) == log.size
    assert (report.rows, report.events) == (counts.rows, counts.events)
    assert report.rows == counts.event_rows + sum(report.skipped.values())
    frames = Frame.unscoped.filter(log=log)
    assert sum(frames.values_list("events", flat=True)) == counts.events
    assert sum(frames.values_list("rows", flat=True)) == counts.rows
    attempts = Compaction.unscoped.filter(log=log)
    assert sum(report.compactions.values()) == attempts.count()
    rounds = attempts.filter(outcome=Outcome.COMPLETED).order_by("position").values_list("round", flat=True)
    assert list(rounds) == list(range(1, len(rounds) + 1))
    check_messages(log)


def check_messages(log: LogFile) -> None:
    """One message for each surface event of a known type, as the log gives it when it is read again by seq."""
    from dshweb.sessionlog.core.reader import read_log
    from dshweb.sessionlog.services.steps import limits

    with store.opened(log.stored) as stream:
        events = [
            event
            for batch in read_log(stream, compressed=log.file_name.endswith(".zstd"), limits=limits())
            for event in batch.events
        ]
    surface = [event for event in events if event.surface_op is not None and event.type in SURFACE_TYPES]
    messages = Message.unscoped.filter(log=log).order_by("position")
    assert list(messages.values_list("position", "seq")) == [(event.row, event.seq) for event in surface]
    with LogEvents(log) as read:
        first = {}
        for event in events:
            first.setdefault(event.seq, event)
        for seq, event in first.items():
            found = read.get(seq)
            assert found is not None
            assert (found.type, found.row) == (event.type, event.row)


def again(path: Path, run: Import, report) -> None:
    """A second import of the same bytes, also when the file looks touched, changes nothing."""
    before = picture()
    place = SourceFile.unscoped.select_related("log").get(location=str(path))
    assert ingest_file(path, run=run, place=place).to_json() == report.to_json() | {"changed": False}
    os.utime(path, (1, 1))
    touched = ingest_file(path, run=run, place=SourceFile.unscoped.select_related("log").get(location=str(path)))
    assert touched.to_json() == report.to_json() | {"changed": report.status == "failed"}
    assert picture() == before


def test_rows_as_they_should_be_are_all_taken(import_):
    report = import_(b"".join(map(line, KNOWN)))
    assert (report.status, report.events, report.compactions["completed"]) == ("ok", len(KNOWN) - 1, 1)


@BOUNDED
@given(rows=rows)
def test_any_rows_in_a_plain_log(import_, rows):
    import_(b"".join(map(line, rows)))


@BOUNDED
@given(batches=st.lists(st.lists(mutated() | made_up(), max_size=6), max_size=5), cut=st.integers(0, 40))
def test_any_rows_in_a_compressed_log_also_a_torn_one(import_, batches, cut):
    frames = [CHECKED.compress(b"".join(map(line, batch))) for batch in [KNOWN[:1], *batches]]
    data = b"".join(frames)
    import_(data[: len(data) - cut], ".zstd")


@BOUNDED
@given(
    pieces=st.lists(st.binary(max_size=60) | st.sampled_from([frame(row) for row in KNOWN]), max_size=8),
    ending=st.sampled_from(["", ".zstd"]),
)
def test_any_bytes(import_, pieces, ending):
    import_(b"".join(pieces), ending)


@BOUNDED
@given(data=st.binary(max_size=300), ending=st.sampled_from(["", ".zstd"]))
def test_bytes_that_are_no_log_at_all(import_, data, ending):
    report = import_(data, ending)
    assert report.events in (None, 0)


@BOUNDED
@given(rows=st.lists(mutated(), min_size=2, max_size=20), cuts=st.lists(st.floats(0, 1), max_size=4))
def test_a_hostile_log_that_grows_ends_as_one_read_at_once(people, data_dir, tmp_path, rows, cuts):
    """Read in pieces that end anywhere, in one team, and whole, in another."""
    data = b"".join(CHECKED.compress(line(row)) for row in [KNOWN[0], *rows])
    seen = []
    for team, ends in ((people.team, sorted(int(cut * len(data)) for cut in cuts)), (people.other_team, [])):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}-{team.slug}"
        folder.mkdir(exist_ok=True)
        path = folder / "session.v4.jsonl.zstd"
        run = Import.by(team, people.bob, inline=True)
        for end in [*ends, len(data)]:
            path.write_bytes(data[:end])
            place = SourceFile.unscoped.select_related("log").filter(team=team, location=str(path)).first()
            ingest_file(path, run=run, place=place)
        seen.append(_of_team(team, path))
        forget()
    assert seen[0] == seen[1]


def _of_team(team, path: Path) -> dict:
    text = json.dumps(picture(), default=str, sort_keys=True).replace(str(path), "PLACE")
    return {name: value for name, value in json.loads(text).items() if name not in ("sessions", "places")}
