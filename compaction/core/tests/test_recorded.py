"""Recorded compactions, prunes and projections of the real harness against our arithmetic (issue 4, "done when" 1)."""

from __future__ import annotations

import json

import pytest

from compaction.core.replay import Replay
from compaction.core.select import PruneConfig, pruned

from .recorded import BIG, LOGS, PROJECTIONS, boundaries, events_of, ran_with, tell

IDS = [f"{scenario}-{n}" for n, (scenario, _) in enumerate(LOGS)]
every_log = pytest.mark.parametrize(("scenario", "path"), LOGS, ids=IDS)
NEEDS_BIG = pytest.mark.skipif(BIG is None, reason="the big recorded log is not beside the repository (../shared)")


def agree(scenario, path):
    told = tell(scenario, path)
    assert told.replay.measure().reason is None
    for attempt in (*told.summaries, *told.prunes):
        assert attempt.computed == attempt.stated, attempt.seq
    pruner = ran_with(scenario)["pruner"]
    for looks in boundaries(told):
        first, threshold, _ = looks[0]
        over = first.measure.total >= threshold
        nodes_to_cut = any(e.seq == first.seq and e.type == "compaction/prune" for e in told.events)
        assert first.fired == over, (first.seq, first.measure.total, threshold)
        assert pruner or not nodes_to_cut
        for check, threshold, _ in looks[1:]:
            assert not check.fired or check.measure.total >= threshold, check.seq
    return told


@every_log
def test_ranges_counts_and_triggers_are_the_recorded_ones(scenario, path):
    agree(scenario, path)


def test_every_kind_of_compaction_is_among_them():
    counts = {}
    for scenario, path in LOGS:
        told = tell(scenario, path)
        counts[scenario] = counts.get(scenario, 0) + len(told.summaries)
        if scenario == "pruned-tool-results":
            assert len(told.prunes) == 3
    assert sum(counts.values()) == 17
    kinds = (
        "pressure-compaction",
        "manual-compact",
        "overflow-compaction",
        "repeated-compaction",
        "legacy-v0",
        "legacy-v3",
    )
    assert all(counts[name] for name in kinds)


@pytest.mark.slow
@NEEDS_BIG
def test_the_big_log_agrees_too():
    told = agree("big", BIG)
    assert (len(told.summaries), len(told.prunes)) == (4, 397)


@every_log
def test_only_the_recovery_from_an_overflow_compacts_inside_a_step(scenario, path):
    told = tell(scenario, path)
    automatic = {e.seq for e in told.events if e.type == "compaction/start" and e.body["turn"] is not None}
    inside = automatic - {check.seq for check, _, _ in told.checks if check.fired}
    assert len(inside) == (1 if scenario == "overflow-compaction" else 0)


@every_log
def test_pruned_results_read_as_the_harness_wrote_them(scenario, path):
    _, events = events_of(path)
    by_seq = {e.seq: e for e in events}
    for event in events:
        if event.type == "compaction/prune":
            (original,) = event.body["shadowedSeqs"]
            written = by_seq[event.seq + 1].body["message"]["content"]
            assert pruned(by_seq[original].body["message"]["content"], PruneConfig()) == written


@every_log
def test_usage_and_context_numbers_equal_the_harness_own_projection(scenario, path):
    stated = PROJECTIONS.get(f"{scenario}/{path.parent.name}")
    if stated is None:
        pytest.skip("DSH kept no projection of this session")
    header, events = events_of(path)
    replay = Replay()
    replay.start(header)
    for event in events:
        if event.seq <= stated["seq"]:
            replay.feed(event)
    meter, pressure, parts = replay.meter, stated["pressure"], stated["breakdown"]
    found = meter.occupancy
    assert found.surface_tokens == pressure["surfaceTokens"]
    assert found.pressure_tokens == pressure.get("pressureTokens")
    assert found.sampled_surface_tokens == pressure.get("sampledSurfaceTokens")
    assert found.window == pressure.get("contextWindow")
    assert (meter.tools_tokens or 0) == parts["toolsTokens"]
    assert (meter.system_tokens or 0) == parts["systemTokens"]
    head = meter.surface.head
    assert found.surface_tokens - (head.tokens if head else 0) == parts["messageTokens"]
    assert (
        [[n.seq, n.tokens] for n in replay.nodes() if n.system] == stated["systems"]
        or stated["nodes"]
        or header.version == 0
    )
    if stated["nodes"]:
        assert [[n.seq, n.tokens] for n in replay.nodes()] == stated["nodes"]


def test_every_projection_was_compared():
    keys = {f"{scenario}/{path.parent.name}" for scenario, path in LOGS}
    missing = {key for key in PROJECTIONS if key not in keys}
    assert {key.split("/")[0] for key in missing} <= {"big"}
    assert len(keys & PROJECTIONS.keys()) >= 35


@every_log
def test_a_log_in_pieces_gives_the_same_state(scenario, path):
    header, events = events_of(path)
    whole, piecewise = Replay(), Replay()
    whole.start(header)
    piecewise.start(header)
    for n, event in enumerate(events):
        whole.feed(event)
        piecewise.feed(event)
        if n % 3 == 0:
            kept = json.loads(json.dumps(piecewise.to_state()))
            piecewise = Replay.from_state(kept)
    assert piecewise.to_state() == whole.to_state()
    assert piecewise.measure() == whole.measure()
    assert piecewise.last_compaction() == whole.last_compaction()
