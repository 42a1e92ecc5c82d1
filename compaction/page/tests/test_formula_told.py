"""The formula beside the chart: its terms with their origins, which bound won, and what is known without a trigger."""

from __future__ import annotations

from compaction.core.budget import Meter, budget, preview
from compaction.core.formula import Reserve, spec
from compaction.core.policy import resolve
from compaction.page.chart import drawn
from compaction.page.tests.test_chart import GAP, chart_of, facts_of, in_english, stock

__all__ = ["in_english"]


def test_the_formula_shows_its_numbers_and_what_won():
    told = stock().formula
    first, second, third = told.lines
    assert first.numbers == f"1{GAP}000{GAP}000 × 0.8"
    assert first.value == f"800{GAP}000"
    assert not first.won
    assert second.numbers == f"1{GAP}000{GAP}000 − 256{GAP}000 − 65{GAP}536"
    assert second.value == f"678{GAP}464"
    assert second.won
    assert third.numbers == f"744{GAP}000 × 0.16"
    assert third.value == f"119{GAP}040"
    assert told.trigger == 678_464
    assert told.winner.startswith("The headroom won")
    assert not told.overrode
    assert [(term.symbol, term.origin) for term in told.terms] == [
        ("W", "as the log says"), ("ratio", "default"), ("O", "the adapter's default for this model"),
        ("headroom", "default"), ("retain", "default"),
    ]  # fmt: skip
    assert told.terms[3].control.href == "#id_headroomTokens"


def test_a_default_that_beat_a_set_value_stands_beside_the_formula():
    told = chart_of({"thresholdRatio": 0.7}, 1_000_000, 256_000, 9, 1).formula
    assert "set here, 0.7" in told.overrode
    assert [one.key for one in told.controls] == ["headroomTokens"]
    assert next(term for term in told.terms if term.symbol == "ratio").is_set


def test_without_a_trigger_the_known_terms_are_shown():
    told = chart_of({}, 65_536, 8_000, 9, 1).formula
    assert [line.value for line in told.lines] == [f"52{GAP}428.8", f"−8{GAP}000", None]
    assert told.trigger is None
    assert told.controls[0].key == "headroomTokens"
    unknown = chart_of({}, 65_536, None, 9, 1).formula
    assert [line.value for line in unknown.lines] == [f"52{GAP}428.8", None, None]
    assert unknown.terms[2].value is None
    assert unknown.terms[2].origin.startswith("nobody said")


def test_a_policy_of_the_model_and_a_tail_in_tokens():
    policies = [{"provider": "p", "model": "m", "thresholdRatio": 0.5, "retainTokens": 7_000}]
    policy = resolve({"modelPolicies": policies}).for_route("p", "m")
    at = spec(policy, 100_000, Reserve(0, "none-declared"))
    bodies = (
        budget(Meter("usage", 9, 1), policy, at, 100_000).body(),
        preview(Meter("usage", 9, 1), policy, at, None).body(),
    )
    told = drawn(*bodies, at, policy, facts_of(9, 128_000)).formula
    assert told.terms[1].origin == "set in the policy of this model"
    assert told.terms[0].origin == f"from the model routes; the log says 128{GAP}000"
    assert told.lines[2].value == f"7{GAP}000"
    assert told.terms[4].control.key == "retainTokens"
