"""Every line of the field's settings cases (tests/data/settings/cases.jsonl), and the settings part of COMPACTION §20."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compaction.core.diagnose import diagnose
from compaction.core.formula import NoSpec, Reserve, Spec, spec
from compaction.core.keys import ALL_KEYS
from compaction.core.policy import resolve
from compaction.core.rules_form import problems
from compaction.core.rules_native import refusal
from compaction.core.rules_routes import Route
from compaction.core.rules_routes import problems as route_problems

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "tests/data/settings/cases.jsonl").read_text().splitlines()
    if line
]
DEEPSEEK = ("off", "low", "high", "max")
# line → the codes that the form gives for the document alone
REFUSED = {
    3: ["retain-not-below-threshold"], 6: ["both-retentions"], 7: ["half-pair"], 8: ["threshold-is-one"],
    9: ["not-a-number"], 10: ["unknown-key"], 12: ["not-a-whole-number"], 13: ["no-output-cap"], 15: ["duplicate-policy"],
}  # fmt: skip
WORKED_OUT = {1: "no-pressure-budget", 2: "no-message-budget", 4: 550_464, 5: "window-unknown", 14: 300_000}
OTHER = {11}


def test_every_line_is_told_here():
    assert set(REFUSED) | set(WORKED_OUT) | OTHER == set(range(1, len(CASES) + 1))
    assert len(CASES) == 15


@pytest.mark.parametrize("line", sorted(REFUSED))
def test_the_form_refuses(line):
    found = problems(CASES[line - 1]["set"])
    assert [problem.code for problem in found] == REFUSED[line]
    assert all(problem.severity == "error" for problem in found)
    # the harness refuses the same ones, but for a ratio of 1
    assert (refusal(CASES[line - 1]["set"]) is None) == (line == 8)


@pytest.mark.parametrize("line", sorted(WORKED_OUT))
def test_the_formula_answers(line):
    case = CASES[line - 1]
    settings = case["set"]
    if line == 2:  # headroom 0 needs an output cap before there is a policy at all, see line 13
        assert [problem.code for problem in problems(settings)] == ["no-output-cap"]
        settings = settings | {"maxTokens": 4096}
    assert problems(settings) == ()
    got = spec(resolve(settings).policy, case["W"], Reserve(case["O"], "adapter"))
    want = WORKED_OUT[line]
    if isinstance(want, int):
        assert isinstance(got, Spec)
        assert got.threshold == want
    else:
        assert isinstance(got, NoSpec)
        assert got.code == want
        assert got.unknown == (want == "window-unknown")


def test_line_2_tells_both_bounds():
    got = spec(resolve(CASES[1]["set"] | {"maxTokens": 1}).policy, 32_768, Reserve(32_768, "adapter"))
    assert isinstance(got, NoSpec)
    assert dict(got.terms) == {"ratioTerm": 26214.4, "messageBudget": 0, "pressureBudget": 0}
    assert got.message.startswith("no usable trigger")


def test_line_4_says_that_the_headroom_bound_won():
    policy = resolve(CASES[3]["set"]).policy
    got = spec(policy, 1_000_000, Reserve(384_000, "adapter"))
    assert isinstance(got, Spec)
    assert (got.winner, got.ratio_term, got.pressure_budget) == ("headroom", 800_000.0, 550_464)
    assert got.default_overrode is None, "the headroom was set too"


def test_a_default_never_beats_a_set_ratio_unsaid():
    got = spec(resolve({"thresholdRatio": 0.9}).policy, 1_000_000, Reserve(256_000, "adapter"))
    assert isinstance(got, Spec)
    assert (got.winner, got.default_overrode) == ("headroom", "thresholdRatio")
    (said,) = diagnose(resolve({"thresholdRatio": 0.9}).policy, got, None, None)[:1]
    assert said.code == "default-won"
    assert "0.9" in said.text
    assert "678464" in said.text
    assert said.controls == ("headroomTokens",)
    # line 14 itself: the set ratio wins, nothing to say
    case = CASES[13]
    got = spec(resolve(case["set"]).policy, case["W"], Reserve(case["O"], "request"))
    assert isinstance(got, Spec)
    assert (got.winner, got.default_overrode) == ("ratio", None)


def test_line_9_says_that_it_is_a_text():
    (found,) = problems(CASES[8]["set"])
    assert "a text, not a number" in found.message
    assert found.path == "thresholdRatio"


def test_line_10_names_the_key_and_lists_the_allowed_ones():
    (found,) = problems(CASES[9]["set"])
    assert '"treshold"' in found.message
    assert found.supported == ALL_KEYS
    assert all(key in found.message for key in ALL_KEYS)


def test_line_11_an_effort_outside_the_models_list():
    settings = resolve(CASES[10]["set"])
    follows = ("deepseek-official", "deepseek-flash")
    (found,) = route_problems(settings, lambda _p, _m: Route(efforts=DEEPSEEK), follows)
    assert (found.code, found.severity, found.supported) == ("effort-not-supported", "error", DEEPSEEK)
    # an unknown list: it may be saved, with a warning
    (found,) = route_problems(settings, lambda _p, _m: None, follows)
    assert (found.code, found.severity) == ("effort-unknown", "warning")
    # kept, but not judged, while native is selected
    assert (
        route_problems(resolve(CASES[10]["set"] | {"mode": "native"}), lambda _p, _m: Route(efforts=DEEPSEEK), follows)
        == ()
    )


# ---- COMPACTION §20, 5 and 6


def test_stock_numbers():
    got = spec(resolve({}).policy, 1_000_000, Reserve(256_000, "adapter"))
    assert isinstance(got, Spec)
    assert (got.message_budget, got.pressure_budget, got.threshold, got.retain) == (744_000, 678_464, 678_464, 119_040)
    assert got.winner == "headroom"
    assert got.default_overrode is None
    assert resolve({}).policy.max_tokens.value == 65_536
    assert resolve({}).policy.max_tokens.origin == "headroomTokens"


def test_numbers_of_the_small_window():
    got = spec(resolve({"headroomTokens": 4000}).policy, 24_000, Reserve(2_000, "request"))
    assert isinstance(got, Spec)
    assert (got.threshold, got.retain) == (18_000, 3_520)


def test_the_ratio_wins_on_a_wide_window():
    got = spec(resolve({"headroomTokens": 0, "maxTokens": 1}).policy, 100_000, Reserve(0, "none-declared"))
    assert isinstance(got, Spec)
    assert (got.threshold, got.winner) == (80_000, "ratio")


def test_a_tail_as_large_as_the_trigger_is_an_error():
    policy = resolve({"retainTokens": 18_000, "headroomTokens": 4000}).policy
    got = spec(policy, 24_000, Reserve(2_000, "request"))
    assert isinstance(got, NoSpec)
    assert got.code == "retain-not-below-threshold"
    assert got.controls[0] == "retainTokens"
    below = spec(resolve({"retainTokens": 17_999, "headroomTokens": 4000}).policy, 24_000, Reserve(2_000, "request"))
    assert isinstance(below, Spec)


def route(top, **own):
    return resolve({**top, "modelPolicies": [{"provider": "p", "model": "m", **own}]}).for_route("p", "m")


def test_a_policy_switches_the_retention_form():
    got = route({"retainRatio": 0.2}, retainTokens=7)
    assert (got.retention.form, got.retention.value, got.retention.scope) == ("tokens", 7, "policy")
    got = route({"retainTokens": 7}, retainRatio=0.2)
    assert (got.retention.form, got.retention.value) == ("ratio", 0.2)
    got = route({"retainTokens": 7}, headroomTokens=3)
    assert (got.retention.form, got.retention.value, got.retention.scope) == ("tokens", 7, "profile")


def test_a_policy_with_headroom_but_no_output_cap():
    got = route({}, headroomTokens=1000)
    assert (got.max_tokens.value, got.max_tokens.origin, got.max_tokens.scope) == (1000, "headroomTokens", "policy")
    got = route({"maxTokens": 9}, headroomTokens=1000)
    assert (got.max_tokens.value, got.max_tokens.origin, got.max_tokens.scope) == (9, "set", "profile")
    assert (
        problems({"modelPolicies": [{"provider": "p", "model": "m", "headroomTokens": 0}]})[0].code == "no-output-cap"
    )
    assert problems({"maxTokens": 9, "modelPolicies": [{"provider": "p", "model": "m", "headroomTokens": 0}]}) == ()


def test_a_policy_matches_exactly():
    settings = resolve({"modelPolicies": [{"provider": "p", "model": "M", "maxOverflowRetries": 5}]})
    assert settings.for_route("p", "m").max_overflow_retries.value == 1
    assert settings.for_route("p", "M").max_overflow_retries.value == 5
