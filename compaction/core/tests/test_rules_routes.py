"""Settings against the model catalogue: summary route, effort, and a usable trigger on each route with a policy."""

from __future__ import annotations

import pytest

from compaction.core.formula import Reserve
from compaction.core.policy import resolve
from compaction.core.rules_routes import Route, problems

FLASH = ("deepseek-official", "deepseek-flash")
KNOWN = {
    FLASH: Route(1_000_000, Reserve(256_000, "adapter"), ("off", "high"), allowed=True),
    ("p", "small"): Route(16_384, Reserve(0, "none-declared"), (), allowed=False),
    ("p", "unsized"): Route(),
}


def found(document, follows=FLASH):
    got = problems(resolve(document), lambda provider, model: KNOWN.get((provider, model)), follows)
    return [(problem.path, problem.code, problem.severity) for problem in got]


def policy(model, **own):
    return {
        "modelPolicies": [{"provider": "x", "model": "y", "maxTokens": 1}, {"provider": "p", "model": model, **own}]
    }


def test_the_stock_settings_on_the_stock_model():
    assert found({}) == []
    assert found({}, follows=None) == []


def test_a_window_that_the_headroom_eats():
    assert found({}, ("p", "small")) == [("headroomTokens", "no-pressure-budget", "error")]
    assert found(policy("small")) == [("modelPolicies[1].headroomTokens", "no-pressure-budget", "error")]
    assert found(policy("small", headroomTokens=1000)) == []
    assert found(policy("small"), ("p", "small")) == [("headroomTokens", "no-pressure-budget", "error")], "told once"


def test_a_tail_above_the_trigger_of_a_known_route():
    assert found({"retainTokens": 678_464}) == [("retainTokens", "retain-not-below-threshold", "error")]
    assert found({"retainTokens": 678_463}) == []
    over = policy("small", headroomTokens=1000, retainTokens=16_000)
    assert found(over) == [("modelPolicies[1].retainTokens", "retain-not-below-threshold", "error")]


def test_an_unknown_window_is_nothing_wrong():
    assert found({}, ("p", "unsized")) == []
    assert found(policy("unsized")) == []
    assert found({}, ("p", "nobody-knows")) == []


@pytest.mark.parametrize(
    ("route", "want"),
    [
        (FLASH, []),
        (("p", "small"), [("summarizationModel", "route-not-allowed", "warning")]),
        (("p", "nobody-knows"), [("summarizationModel", "route-not-allowed", "warning")]),
        (("p", "unsized"), []),
    ],
)
def test_a_summary_route_outside_the_allowed_ones_is_kept_and_marked(route, want):
    assert found({"summarizationProvider": route[0], "summarizationModel": route[1]}) == want


def test_the_effort_is_judged_on_the_route_that_will_summarise():
    pair = {"summarizationProvider": "p", "summarizationModel": "small"}
    assert found({"reasoningEffort": "high"}) == []
    assert found({"reasoningEffort": "max"}) == [("reasoningEffort", "effort-not-supported", "error")]
    assert ("reasoningEffort", "effort-not-supported", "error") in found({**pair, "reasoningEffort": "high"}), (
        "it takes none"
    )
    assert found({"reasoningEffort": "high"}, follows=None) == [("reasoningEffort", "effort-unknown", "warning")]
    assert found({"reasoningEffort": "high"}, ("p", "unsized")) == [("reasoningEffort", "effort-unknown", "warning")]
