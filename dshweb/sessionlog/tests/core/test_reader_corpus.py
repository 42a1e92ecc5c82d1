"""Every recorded log of the corpus, compared with the facts stated beside it."""

from __future__ import annotations

import io
import json
from collections import Counter

import pytest

from dshweb.sessionlog.core.index import read_events
from dshweb.sessionlog.core.ledger import build_ledger

from .logs import CORPUS, corpus_logs, damaged_log, plain, read

LOGS = corpus_logs()
IDS = [f"{scenario}-{n}" for n, (scenario, _, _) in enumerate(LOGS)]


@pytest.mark.parametrize(("scenario", "path", "facts"), LOGS, ids=IDS)
def test_the_log_reads_as_its_facts_say(scenario, path, facts):
    log = read(path, compressed=path.suffix == ".zstd")
    accounting = log.reader.accounting
    assert log.reader.status == "ok"
    assert log.reader.damage == []
    assert (accounting.frames, accounting.rows, accounting.events) == (facts["frames"], facts["rows"], facts["events"])
    assert (accounting.size, accounting.decoded_bytes) == (facts["compressedBytes"], facts["decompressedBytes"])
    assert dict(Counter(e.type for e in log.events)) == facts["eventCounts"]
    assert log.seqs == list(range(facts["events"]))
    assert [e.body["reason"]["kind"] for e in log.events if e.type == "turn/end"] == facts["turnEnds"]
    header = log.reader.header
    assert {k: v for k, v in header.raw.items() if k != "createdAt"} == facts["header"]
    assert (header.version, header.id) == (facts["formatVersion"], facts["sessionId"])
    assert header.extra == {}


@pytest.mark.parametrize(("scenario", "path", "facts"), LOGS, ids=IDS)
def test_its_authors_and_compactions_are_those_stated(scenario, path, facts):
    log = read(path)
    authors = Counter(m.author.stated for m in log.messages if m.type == "user/message")
    assert dict(authors) == facts["userMessageSources"]
    assert log.scan.surface.problems == []
    stated = [
        (c["compactionId"], c["turn"], c["startSeq"], c.get("summarySeq"), c.get("endSeq"), c.get("error"),
         c.get("sourceCommandId"), tuple(c.get("shadowedSeqs", ())), c.get("shadowedTokenCount"))
        for c in facts["compactions"]
    ]  # fmt: skip
    found = [
        (a.compaction_id, a.turn, a.start_seq, a.summary_seq, a.end_seq, a.error, a.source_command_id,
         a.shadowed_seqs, a.shadowed_tokens)
        for a in log.scan.attempts
    ]  # fmt: skip
    assert found == stated
    outcomes = ["failed" if a.outcome == "cancelled" else a.outcome for a in log.scan.attempts]
    assert outcomes == [c["outcome"] for c in facts["compactions"]]
    for attempt in log.scan.attempts:
        if attempt.outcome == "completed":
            assert attempt.span_ok
            assert attempt.checkpoint_seq == attempt.summary_seq + 1
            ledger, leaves = build_ledger(log.get(attempt.summary_seq), log.get, span_ok=attempt.span_ok)
            assert not ledger.incomplete
            assert [leaf.seq for leaf in leaves] == list(ledger.leaf_seqs)


@pytest.mark.parametrize(("scenario", "path", "facts"), LOGS, ids=IDS)
def test_any_frame_can_be_read_again_alone(scenario, path, facts):
    log = read(path)
    source = io.BytesIO(path.read_bytes())
    again = [e for info in log.frames for e in read_events(source, info)]
    assert list(map(plain, again)) == list(map(plain, log.events))


def test_usage_equals_the_harness_own_projection():
    stated = json.loads((CORPUS / "token-usage.json").read_text())
    compared = 0
    for scenario, path, facts in LOGS:
        oracle = stated.get(f"{scenario}/{facts['sessionId']}")
        log = read(path)
        if oracle is None or any(e.seq > oracle["seq"] and e.type == "assistant/message" for e in log.events):
            continue  # written before a kill: it lags behind the log
        own, inherited = log.scan.work.usage, log.scan.work.inherited_usage
        totals = oracle["totals"]
        assert own.inputTokens + inherited.inputTokens == totals["uncachedInputTokens"], scenario
        assert own.outputTokens + inherited.outputTokens == totals["outputTokens"], scenario
        assert own.cacheReadTokens + inherited.cacheReadTokens == totals["cacheReadTokens"], scenario
        assert own.cacheWriteTokens + inherited.cacheWriteTokens == totals["cacheWriteTokens"], scenario
        compared += 1
    assert compared >= 30


@pytest.mark.parametrize("name", ["damaged-bad-checksum", "damaged-corrupt-middle-frame"])
def test_a_damaged_middle_frame_costs_its_own_rows_only(name):
    path, facts = damaged_log(name)
    log = read(path)
    assert log.reader.status == "damaged"
    assert len(log.events) == 64
    assert log.seqs == [*range(33), *range(35, 66)]
    damage = log.reader.damage
    assert (damage[0].offset, damage[0].kind) == (facts["damagedFrameOffset"], "bytes")
    assert (damage[1].code, damage[1].seq, damage[1].offset) == ("lost_rows", 33, facts["damagedFrameOffset"])
    assert [a.damaged_before for a in log.scan.attempts] == [True]


@pytest.mark.parametrize("name", ["damaged-torn-by-3-bytes", "damaged-torn-inside-magic", "damaged-torn-last-frame"])
def test_a_torn_tail_keeps_its_complete_rows(name):
    path, facts = damaged_log(name)
    log = read(path)
    assert log.seqs == list(range(facts["readableEventsFromStart"] + facts["completeRowsInTornFrame"]))
    assert sum(e.provisional for e in log.events) == facts["completeRowsInTornFrame"]
    assert [(d.code, d.offset) for d in log.reader.damage] == [("torn_tail", facts["damagedFrameOffset"])]
    assert log.reader.accounting.frames == facts["readableFramesFromStart"]
    assert log.reader.accounting.bytes_damaged == facts["unreadableBytesAfter"]
    assert log.reader.resume().offset == facts["damagedFrameOffset"]


def test_triggers_are_derived_as_the_scenarios_state():
    found = {}
    for scenario, path, _ in LOGS:
        found.setdefault(scenario, []).extend(a.trigger for a in read(path).scan.attempts)
    assert found["manual-compact"] == ["manual"]
    assert found["pressure-compaction"] == ["pressure"]
    assert found["overflow-compaction"] == ["overflow"]
    assert found["cancelled-compactions"] == ["manual", "pressure"]


def test_cancelled_attempts_are_told_from_failed_ones():
    (path,) = [p for s, p, _ in LOGS if s == "cancelled-compactions"]
    assert read(path).scan.compaction_totals == {"cancelled": 2}


def test_packed_rows_of_v0_are_expanded():
    (path,) = [p for s, p, _ in LOGS if s == "legacy-v0"]
    log = read(path)
    chunks = [e for e in log.events if 65 <= e.seq <= 71]
    assert "".join(e.body["chunk"]["text"] for e in chunks) == "Explain the failure briefly and precisely."
    assert {e.body["chunk"]["type"] for e in chunks} == {"reasoning-delta"}
    assert chunks[0].time == 1796025901189 or chunks[0].time < chunks[-1].time
    assert len({e.row for e in chunks}) == 1
    assert log.get(24).source_event_seqs == tuple(range(12, 24))


def test_inherited_prefixes_of_forks():
    cuts = {}
    for scenario, path, facts in LOGS:
        if scenario == "forked":
            log = read(path)
            cuts[facts["events"]] = log.reader.inherited_before
            cut = log.reader.inherited_before or 0
            assert [e.inherited for e in log.events] == [e.seq < cut for e in log.events]
            assert all(a.inherited == (a.start_seq < cut) for a in log.scan.attempts)
    assert cuts == {30: 19, 58: 46, 39: 26, 46: None}
