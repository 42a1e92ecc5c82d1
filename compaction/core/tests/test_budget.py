"""Budget and preview of inspect, diagnostics with their controls, capacity of a summary request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.core.budget import Meter, Range, budget, preview
from compaction.core.capacity import PARTS, Fit, OverBudget, fit
from compaction.core.diagnose import diagnose
from compaction.core.formula import NoSpec, Reserve, Spec, reserve, retained_for, spec
from compaction.core.policy import resolve

POLICY = resolve({"headroomTokens": 4000}).policy
SMALL = spec(POLICY, 24_000, Reserve(2_000, "request"))  # trigger 18 000, tail 3 520


def test_budget_of_a_measured_session():
    assert budget(Meter("usage", 18_008, 6_000), POLICY, SMALL, 24_000).body() == {
        "contextWindow": 24_000, "currentTokens": 18_008, "measurement": "measured", "fixedTokens": 6_000,
        "thresholdTokens": 18_000, "retainTokens": 3_520, "summaryMaxTokens": 4_000,
    }  # fmt: skip
    assert budget(Meter("none", 0, 0), POLICY, SMALL, 24_000).measurement == "estimated"


def test_a_failed_measurement_shows_no_number_at_all():
    body = budget(None, POLICY, SMALL, 24_000).body()
    assert body.pop("measurement") == "unavailable"
    assert set(body.values()) == {None}
    assert preview(None, POLICY, SMALL, None, failed="a range is not on the surface").body() == {
        "beforeTokens": None, "afterUpperBoundTokens": None, "rangeStart": None, "rangeEnd": None,
        "reason": "unavailable: a range is not on the surface",
    }  # fmt: skip


def test_an_unknown_window_leaves_thresholds_unknown():
    nothing = spec(POLICY, None, Reserve(None, "unknown"))
    got = budget(Meter("estimated", 5, 1), POLICY, nothing, None)
    assert (got.context_window, got.threshold_tokens, got.retain_tokens, got.current_tokens) == (None, None, None, 5)
    assert (
        preview(Meter("estimated", 5, 1), POLICY, nothing, Range(1, 2, 3)).reason
        == "unavailable: context window unknown"
    )


def test_preview_reasons():
    span = Range(180, 124, 14_000)
    at = preview(Meter("usage", 18_000, 1), POLICY, SMALL, span)
    assert (at.range_start, at.range_end, at.after_upper_bound_tokens, at.reason) == (
        180,
        124,
        4_000 + 98 + 4_000,
        None,
    )
    below = preview(Meter("usage", 17_999, 1), POLICY, SMALL, span)
    assert (below.reason, below.range_start) == ("below-threshold", 180)
    assert preview(Meter("usage", 18_000, 1), POLICY, SMALL, None).reason == "no-safe-range"


def test_who_reserved_the_output():
    assert reserve(2_000, 256_000, adapter_known=True) == Reserve(2_000, "request")
    assert reserve(None, 256_000, adapter_known=True) == Reserve(256_000, "adapter")
    assert reserve(None, None, adapter_known=True) == Reserve(0, "none-declared")
    assert reserve(None, None, adapter_known=False) == Reserve(None, "unknown")
    unknown = spec(POLICY, 24_000, reserve(None, None, adapter_known=False))
    assert isinstance(unknown, NoSpec)
    assert unknown.unknown
    assert unknown.code == "reserve-unknown"


def test_only_pressure_keeps_the_tail():
    assert [retained_for(kind, SMALL) for kind in ("automatic", "manual", "overflow")] == [3_520, 0, 0]


@pytest.mark.parametrize(
    ("settings", "fixed", "total", "code", "first"),
    [
        ({}, 18_000, 20_000, "fixed-prefix", "headroomTokens"),
        ({"thresholdRatio": 0.7}, 17_000, 20_000, "fixed-prefix", "thresholdRatio"),
        ({}, 15_000, 20_000, "fixed-plus-retained", "retainRatio"),
        ({"retainTokens": 9_000}, 9_000, 20_000, "fixed-plus-retained", "retainTokens"),
        ({}, 11_000, 20_000, "summary-may-refill", "maxTokens"),
        ({}, 1_000, 18_000, "no-safe-range", "retainRatio"),
    ],
)
def test_each_obstacle_names_its_setting(settings, fixed, total, code, first):
    policy = resolve({"headroomTokens": 4000, **settings}).policy
    got = diagnose(policy, spec(policy, 24_000, Reserve(2_000, "request")), Meter("usage", total, fixed), None)
    found = [item for item in got if item.code == code]
    assert len(found) == 1
    assert found[0].controls[0] == first


def test_nothing_to_say_when_all_is_well():
    assert diagnose(POLICY, SMALL, Meter("usage", 17_000, 1_000), Range(1, 2, 3)) == ()


ratios = st.sampled_from((0.05, 0.1, 0.3, 0.5, 0.8, 0.99))


@given(ratios, st.integers(0, 300_000), st.integers(1, 1_000_000), st.integers(0, 400_000))
def test_a_spec_keeps_the_harness_inequalities(ratio, headroom, window, kept_free):
    policy = resolve(
        {"thresholdRatio": ratio, "retainRatio": ratio / 2, "headroomTokens": headroom, "maxTokens": 1}
    ).policy
    got = spec(policy, window, Reserve(kept_free, "request"))
    if isinstance(got, NoSpec):
        assert not got.unknown
        assert got.message
        return
    assert isinstance(got, Spec)
    assert 0 <= got.retain < got.threshold <= window * ratio
    assert got.threshold <= window - kept_free - headroom
    bound = got.ratio_term if got.winner == "ratio" else got.pressure_budget
    assert got.threshold == int(bound)


def price(sent, omitted):
    return 100 * len(sent) + (10 if omitted else 0)


@pytest.mark.parametrize(
    ("window", "level", "omitted"),
    [(2_000, 0, ()), (1_999, 1, ("todos",)), (1_909, 2, ("todos", "questions", "jobs", "children")), (1_609, 3, PARTS)],
)
def test_state_is_reduced_in_order(window, level, omitted):
    got = fit(1_000, price, PARTS, 500, window, "p/m")
    assert isinstance(got, Fit)
    assert (got.level, got.omitted, got.aux <= got.limit) == (level, omitted, True)
    assert bool(got.diagnostics) == bool(omitted)
    assert set(got.sent) | set(got.omitted) == set(PARTS)
    assert not set(got.sent) & set(got.omitted)


def test_nothing_fits():
    got = fit(1_000, price, PARTS, 500, 1_509, "p/m")
    assert isinstance(got, OverBudget)
    assert got.code == "BETTER_COMPACT_BUDGET"
    assert all(word in got.message for word in ("1010", "500", "1509", "smaller span", "maxTokens", "larger window"))


def test_a_part_that_was_empty_is_not_left_out():
    got = fit(1_000, price, ("goal", "todos"), 500, 1_600, "p/m")
    assert isinstance(got, OverBudget | Fit)
    assert isinstance(got, Fit)
    assert (got.level, got.sent, got.omitted) == (3, (), ("goal", "todos"))
    assert fit(1_000, price, (), 500, 1_500, "p/m") == Fit(0, (), (), 1_000, 1_000, ())


def test_an_unknown_window_is_not_checked_and_says_so():
    got = fit(10**9, price, PARTS, 500, None, "p/m")
    assert isinstance(got, Fit)
    assert got.limit is None
    assert got.diagnostics == ("context window of p/m unknown; capacity not checked",)
    got = fit(10, price, ("goal", "jobs"), 500, None, "p/m")
    assert isinstance(got, Fit)
    assert (got.aux, got.sent) == (10 + 200, ("goal", "jobs"))


@pytest.mark.parametrize(
    ("window", "kept_free", "code"),
    [
        (0, 0, "bad-window"),
        (-5, 0, "bad-window"),
        (1.5, 0, "bad-window"),
        (10, -1, "bad-reserve"),
        (10, 10, "no-message-budget"),
    ],
)
def test_capacities_that_make_no_sense(window, kept_free, code):
    policy = resolve({"headroomTokens": 0, "maxTokens": 1}).policy
    got = spec(policy, window, Reserve(kept_free, "request"))
    assert isinstance(got, NoSpec)
    assert (got.code, got.unknown) == (code, False)


def test_the_smallest_window_that_works():
    policy = resolve({"headroomTokens": 0, "maxTokens": 1}).policy
    got = spec(policy, 10, Reserve(9, "request"))
    assert isinstance(got, Spec)
    assert (got.message_budget, got.threshold, got.retain) == (1, 1, 0)


def test_the_diagnostics_begin_exactly_at_the_trigger():
    def codes(fixed):
        return [item.code for item in diagnose(POLICY, SMALL, Meter("usage", 1, fixed), Range(1, 2, 3))]

    assert [codes(n) for n in (17_999, 18_000)] == [["fixed-plus-retained"], ["fixed-prefix"]]
    assert [codes(n) for n in (14_479, 14_480)] == [["summary-may-refill"], ["fixed-plus-retained"]]
    assert [codes(n) for n in (10_381, 10_382)] == [[], ["summary-may-refill"]]
    assert codes(None) == []
    assert [item.code for item in diagnose(POLICY, SMALL, None, None, auto=False)] == ["auto-off", "unmeasured"]
