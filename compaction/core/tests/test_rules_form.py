"""The form's rules: at least as strict as the harness, all findings at once, enhanced keys in their place."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from compaction.core.document import normalised
from compaction.core.keys import POLICY_KEYS, strip_enhanced
from compaction.core.policy import resolve
from compaction.core.rules_form import problems
from compaction.core.rules_native import refusal
from compaction.core.tests.documents import some_document

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
documents = st.builds(lambda seed: some_document(random.Random(seed)), st.integers(0, 2**32))


@given(documents)
def test_whatever_the_form_lets_pass_the_harness_takes(document):
    if not problems(document):
        assert refusal(strip_enhanced(document)) is None
        normalised(resolve(document))


@given(documents)
def test_what_the_harness_refuses_the_form_refuses_with_a_word_for_each(document):
    if refusal(document) is not None and not (isinstance(document, dict) and "mode" in document):
        found = problems(document)
        # null instead of nothing, and names that JavaScript drops, are refused by the form alone; never the reverse
        assert document is None or found
        assert all(problem.message and problem.code for problem in found)


@given(json_values)
def test_any_json_value_gets_an_answer(value):
    problems(value)
    refusal(value)
    assert problems({"modelPolicies": value, "mode": value, "thresholdRatio": value, "maxTokens": value}) is not None


def test_all_findings_come_at_once():
    found = problems({"thresholdRatio": 2, "headroomTokens": -1, "mode": "turbo", "auto": 1, "x": 1})
    assert [problem.path for problem in found] == ["x", "mode", "auto", "thresholdRatio", "headroomTokens"]


def test_enhanced_keys_are_unknown_inside_a_policy():
    (found,) = problems({"modelPolicies": [{"provider": "p", "model": "m", "mode": "goal"}]})
    assert (found.path, found.code, found.supported) == ("modelPolicies[0].mode", "unknown-key", POLICY_KEYS)


def test_null_is_refused_where_the_harness_lets_it_pass():
    assert refusal({"modelPolicies": None}) is None
    assert [problem.code for problem in problems({"modelPolicies": None})] == ["not-a-list"]
    assert refusal({"toString": 1}) is None
    assert [problem.code for problem in problems({"toString": 1})] == ["unknown-key"]


def codes(document):
    return [(problem.path, problem.code) for problem in problems(document)]


def test_edges():
    policy = {"provider": "p", "model": "m"}
    assert codes({"thresholdRatio": 0.16}) == [("retainRatio", "retain-not-below-threshold")]
    assert codes({"thresholdRatio": 0.17, "retainRatio": 0.16}) == []
    assert codes({"modelPolicies": [{"provider": "", "model": "m"}]}) == [("modelPolicies[0].provider", "empty-text")]
    assert codes({"modelPolicies": [{"provider": "p", "model": 3}]}) == [("modelPolicies[0].model", "empty-text")]
    assert codes({"modelPolicies": [{**policy, "thresholdRatio": 0.16}]}) == [
        ("modelPolicies[0].retainRatio", "retain-not-below-threshold")
    ]
    assert codes({"modelPolicies": [{**policy, "thresholdRatio": 0.1, "retainTokens": 5}]}) == []
    # a finding of the profile is not repeated for each policy
    assert codes({"thresholdRatio": 0.1, "modelPolicies": [policy]}) == [("retainRatio", "retain-not-below-threshold")]
    assert codes({"modelPolicies": [{"provider": "p\0", "model": "m"}]}) == [("modelPolicies[0]", "bad-text")]
    assert codes({"modelPolicies": [3]}) == [("modelPolicies[0]", "not-an-object")]
    assert codes({"retainRatio": 0}) == [("retainRatio", "not-a-ratio")]
    assert codes([]) == [("", "not-an-object")]
