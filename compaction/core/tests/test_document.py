"""The settings document: operations, exclusive forms, and when a reload is due."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.core.document import Op, mutate, normalised, parse_ops, requires_reload, same
from compaction.core.keys import ALL_KEYS, PAIR, RETENTION
from compaction.core.policy import resolve
from compaction.core.problem import InvalidSettings
from compaction.core.rules_form import problems
from compaction.core.tests.documents import some_document


def code(call, *args):
    with pytest.raises(InvalidSettings) as caught:
        call(*args)
    return caught.value.problems[0].code


def test_setting_one_retention_form_unsets_the_other():
    got = mutate({"retainRatio": 0.2, "auto": True}, [Op("set", "retainTokens", 9)])
    assert got.document == {"auto": True, "retainTokens": 9}
    assert [(change.key, change.had, change.has) for change in got.changes] == [
        ("retainRatio", True, False), ("retainTokens", False, True),
    ]  # fmt: skip
    # the page sends the unset as well, before or after
    ops = [Op("unset", "retainTokens"), Op("set", "retainRatio", 0.3)]
    assert (
        mutate(got.document, ops).document
        == mutate(got.document, ops[::-1]).document
        == {"auto": True, "retainRatio": 0.3}
    )


def test_half_changes_are_refused():
    assert code(mutate, {}, [Op("set", "retainRatio", 0.1), Op("set", "retainTokens", 1)]) == "both-retentions"
    assert code(mutate, {}, [Op("set", "summarizationModel", "m")]) == "half-pair"
    both = [Op("set", "summarizationModel", "m"), Op("unset", "summarizationProvider")]
    assert code(mutate, {}, both) == "half-pair"
    assert code(mutate, {}, [Op("set", "treshold", 1)]) == "unknown-key"
    assert mutate({}, [Op("set", key, "x") for key in PAIR]).document == dict.fromkeys(PAIR, "x")


def test_the_given_document_stays_as_it_is():
    document = {"retainRatio": 0.2}
    mutate(document, [Op("set", "retainTokens", 1), Op("unset", "mode")])
    assert document == {"retainRatio": 0.2}


@pytest.mark.parametrize(
    ("raw", "want"),
    [
        ({}, "bad-ops"), ([], "bad-ops"), ([{"op": "unset", "path": "auto"}] * 101, "bad-ops"), ([3], "bad-op"),
        ([{"op": "drop", "path": "auto"}], "bad-op"), ([{"op": "set", "path": "auto", "value": True, "x": 1}], "bad-op"),
        ([{"op": "unset", "path": "auto", "value": 1}], "bad-op"), ([{"op": "set", "path": "auto"}], "no-value"),
        ([{"op": "set", "path": ["modelPolicies", "0"], "value": 1}], "bad-path"), ([{"op": "unset", "path": "x"}], "unknown-key"),
    ],
)  # fmt: skip
def test_operations_that_make_no_sense(raw, want):
    assert code(parse_ops, raw) == want


def test_operations_as_they_arrive():
    raw = [{"op": "set", "path": ["auto"], "value": False}, {"op": "unset", "path": "mode"}]
    assert parse_ops(raw) == (Op("set", "auto", value=False), Op("unset", "mode"))


some_ops = st.lists(
    st.builds(Op, st.sampled_from(("set", "unset")), st.sampled_from(ALL_KEYS), st.sampled_from((1, 0.5, "x", True))),
    min_size=1, max_size=6,
)  # fmt: skip


@given(st.lists(some_ops, max_size=5))
def test_no_series_of_changes_leaves_both_forms_or_half_a_pair(series):
    document = {}
    for ops in series:
        try:
            got = mutate(document, ops)
        except InvalidSettings:
            continue
        told = dict(document)
        for change in got.changes:
            told.pop(change.key, None)
            if change.has:
                told[change.key] = change.after
        assert same(told, got.document), "the changes tell the whole difference"
        document = got.document
        assert not all(key in document for key in RETENTION)
        assert (PAIR[0] in document) == (PAIR[1] in document)


def snapshot(document):
    return normalised(resolve(document))


def test_no_reload_when_only_the_spelling_differs():
    assert snapshot({})["maxTokens"] == 65_536
    assert not requires_reload({"mode": "goal", "thresholdRatio": 0.8, "headroomTokens": 65536.0}, snapshot({}))
    two = [{"provider": "p", "model": "m", "maxTokens": 1}, {"model": "a", "provider": "p"}]
    assert not requires_reload({"modelPolicies": two[::-1]}, snapshot({"modelPolicies": two}))
    assert list(snapshot({"retainTokens": 3})) == [
        "mode", "auto", "thresholdRatio", "headroomTokens", "retainTokens", "summarizationProvider", "summarizationModel",
        "reasoningEffort", "cachePriority", "maxTokens", "compactionRetries", "maxOverflowRetries", "modelPolicies",
    ]  # fmt: skip


def test_reload_when_a_value_or_the_form_differs_or_nothing_resolves():
    assert requires_reload({"auto": False}, snapshot({}))
    assert requires_reload({"retainTokens": 1}, snapshot({}))
    assert requires_reload({"reasoningEffort": "low", "mode": "native"}, snapshot({"mode": "native"}))
    assert requires_reload({"thresholdRatio": 7}, snapshot({}))
    assert requires_reload({"maxTokens": True}, snapshot({"maxTokens": 1}))
    assert requires_reload({"modelPolicies": [{"provider": "p", "model": "m"}]}, snapshot({}))


@given(st.integers(0, 2**32))
def test_a_snapshot_taken_now_needs_no_reload_and_is_a_document_itself(seed):
    document = some_document(random.Random(seed))
    if isinstance(document, dict) and not problems(document):
        body = snapshot(document)
        assert not requires_reload(document, body)
        assert same(snapshot(dict(body.items())), body), "normalising again changes nothing"


def test_json_equality():
    assert same({"a": [1, True]}, {"a": [1.0, True]})
    assert not same({"a": True}, {"a": 1})
    assert not same([1], [1, 2])
    assert not same({}, {"a": None})
    assert not same(None, 0)
