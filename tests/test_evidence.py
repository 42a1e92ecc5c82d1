"""Events of a stored log by seq: whatever order its seqs are in, found without reading the log again and again."""

from __future__ import annotations

import pytest

from dshweb.sessionlog.models import Compaction, Frame, LogFile
from dshweb.sessionlog.services import evidence
from dshweb.sessionlog.services.evidence import LogEvents
from dshweb.sessionlog.services.ingest import Import, ingest_file
from tests.builders import frame, header, human, session_frames, write

FRAMES = 300
ORDERS = {
    "in order": list(range(FRAMES)),
    "one far ahead": [9_000_000, *range(FRAMES - 1)],
    "a second writer starts at 0": [*range(FRAMES // 2), *range(FRAMES // 2)],
    "two writers in turns": [n // 2 + (n % 2) * 100_000 for n in range(FRAMES)],
    "falling": list(range(FRAMES, 0, -1)),
}


@pytest.mark.parametrize("order", ORDERS)
def test_every_event_is_found_and_no_frame_is_read_much_more_than_once(people, data_dir, tmp_path, monkeypatch, order):
    seqs = ORDERS[order]
    path = write(tmp_path, [frame(header()), *(frame(human(seq, f"text {n}")) for n, seq in enumerate(seqs))])
    ingest_file(path, run=Import.by(people.team, people.bob))
    first = {seq: f"text {n}" for n, seq in reversed(list(enumerate(seqs)))}
    read = []
    real = evidence.read_events
    monkeypatch.setattr(
        evidence, "read_events", lambda source, info, limits: (read.append(info), real(source, info, limits))[1]
    )
    with LogEvents(LogFile.unscoped.get()) as events:
        found = {seq: events.get(seq) for seq in first}
        assert events.get(10**12) is None
    assert {seq: event and event.body["content"][0]["text"] for seq, event in found.items()} == first
    assert len(read) <= 2 * FRAMES


def test_nested_summaries_read_each_frame_once_and_give_what_each_gives_alone(people, data_dir, tmp_path, monkeypatch):
    rounds = 30
    path = write(tmp_path, session_frames(rounds=rounds))
    ingest_file(path, run=Import.by(people.team, people.bob))
    monkeypatch.setattr(evidence, "CACHE_BYTES", 1)  # no frame is kept decoded
    read = []
    real = evidence.read_events
    monkeypatch.setattr(
        evidence, "read_events", lambda source, info, limits: (read.append(info), real(source, info, limits))[1]
    )
    log = LogFile.unscoped.get()
    compactions = list(Compaction.unscoped.filter(log=log).order_by("position"))
    assert len(compactions) == rounds
    with LogEvents(log) as events:
        together = [_told(events.summary(one)) for one in compactions]
    assert together[-1][1].depth == rounds
    assert len(read) <= 4 * Frame.unscoped.filter(log=log).count()
    alone = []
    for one in compactions:
        with LogEvents(log) as events:
            alone.append(_told(events.summary(one)))
    assert together == alone


def _told(summary):
    return summary.texts, summary.ledger, summary.leaves, list(summary.earlier())
