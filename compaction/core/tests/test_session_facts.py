"""What is kept of a session answers `inspect` without its log."""

from __future__ import annotations

import json

import pytest

from compaction.core.policy import resolve
from compaction.core.session_facts import SessionFacts, facts_of, inspected

from .feeds import Session, opened, text
from .recorded import LOGS, limits, ran_with, tell


def kept(replay):
    facts, cuts = facts_of(replay)
    again = SessionFacts.from_json(json.loads(json.dumps(facts.to_json())))
    assert again == facts
    return again, cuts


def ask(replay, document, window=None, default=None, known=True):
    return inspected(*kept(replay), resolve(document), window=window, default_max_tokens=default, adapter_known=known)


@pytest.mark.parametrize(("scenario", "path"), [entry for entry in LOGS if entry[0] != "work-running"])
def test_budget_and_preview_are_those_of_the_replayed_log(scenario, path):
    replay = tell(scenario, path).replay
    document = {k: v for k, v in ran_with(scenario)["settings"].items() if v is not None}
    told = ask(replay, document)
    measured, header = replay.measure(), replay.meter.header
    body = told.budget.body()
    assert (body["currentTokens"], body["measurement"]) == (measured.total, measured.measurement)
    assert body["fixedTokens"] == replay.meter.fixed_tokens
    assert body["contextWindow"] == replay.meter.window
    if scenario.startswith("legacy"):
        return  # the default headroom does not fit their window
    threshold, retain = limits(document, replay.meter.window, header.max_tokens)
    assert (body["thresholdTokens"], body["retainTokens"]) == (threshold, retain)
    found, preview = replay.select(retain).range, told.preview
    if found is None:
        assert (preview.range_start, preview.reason) == (None, "no-safe-range")
    else:
        assert (preview.range_start, preview.range_end) == (found.start, found.end)
        assert preview.after_upper_bound_tokens == measured.total - found.tokens + 98 + body["summaryMaxTokens"]
        assert preview.reason == (None if measured.total >= threshold else "below-threshold")


def test_the_catalogue_goes_before_the_log_for_the_window_and_after_it_for_the_reserve():
    (entry,) = [entry for entry in LOGS if entry[0] == "pressure-compaction"]
    replay = tell(*entry).replay
    told = ask(replay, {"headroomTokens": 1000}, window=50_000, default=7)
    assert (told.budget.context_window, told.spec.reserve.tokens, told.spec.reserve.origin) == (50_000, 2000, "request")


def test_a_session_without_a_request_has_unknown_parts_not_zeros():
    session = opened()
    session.user(text("hello"))
    told = ask(session.replay(), {}, known=False)
    body = told.budget.body()
    assert (body["contextWindow"], body["fixedTokens"], body["thresholdTokens"]) == (None, None, None)
    assert (body["currentTokens"], body["measurement"]) == (10, "estimated")
    assert told.preview.reason == "unavailable: context window unknown"


def test_a_failed_measurement_leaves_every_number_unknown():
    session = Session()
    session.user({"type": "text"})
    told = ask(session.replay(), {}, window=1000)
    assert set(told.budget.body().values()) == {None, "unavailable"}
    assert told.preview.reason == "unavailable: 0: text block without text"


def test_facts_stay_small_however_long_the_session():
    (entry,) = [entry for entry in LOGS if entry[0] == "repeated-compaction"]
    facts, cuts = kept(tell(*entry).replay)
    assert len(json.dumps(facts.to_json())) < 1500
    assert len(cuts) <= 40 + 16 * facts.nodes
