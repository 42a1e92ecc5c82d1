"""The native rules against recorded verdicts of the real engine (DSH 0.2.1-rc.2), and their reasons.

`native_verdicts.jsonl`: one document per line and whether the engine refused to start with it, recorded with the probe of
`test_rules_native_harness.py` (which asks the runtime again where it is installed).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compaction.core.keys import ALL_KEYS, NATIVE_KEYS, POLICY_KEYS, strip_enhanced
from compaction.core.policy import problems_of, resolve
from compaction.core.problem import InvalidSettings
from compaction.core.rules_native import refusal

DATA = Path(__file__).parents[3] / "tests/data/settings/native_verdicts.jsonl"
VERDICTS = [json.loads(line) for line in DATA.read_text().splitlines()]


def test_every_recorded_verdict_is_ours():
    differ = [row for row in VERDICTS if (refusal(row["config"]) is not None) != row["refused"]]
    assert not differ
    refused = sum(row["refused"] for row in VERDICTS)
    assert 100 < refused < len(VERDICTS) - 100


def test_every_document_that_the_engine_takes_resolves():
    for row in VERDICTS:
        if row["refused"] or not isinstance(row["config"], dict):
            continue
        settings = resolve(row["config"])
        for override in settings.overrides:
            policy = settings.for_route(str(override["provider"]), str(override["model"]))
            assert policy.max_tokens.value > 0
            assert policy.retention.form == "tokens" or policy.retention.value < policy.threshold_ratio.value


POLICY = {"provider": "p", "model": "m"}


@pytest.mark.parametrize(
    ("document", "path", "code"),
    [
        # the schema looks at the whole document first, the engine key by key after it
        ({"treshold": 1, "auto": "yes"}, "auto", "not-a-flag"),
        ({"treshold": 1, "thresholdRatio": 3}, "treshold", "unknown-key"),
        ({"maxTokens": 0, "thresholdRatio": 3}, "maxTokens", "not-a-whole-number"),
        ({"thresholdRatio": 3, "retainRatio": 7}, "thresholdRatio", "not-a-ratio"),
        ({"retainRatio": 0.9, "headroomTokens": 0}, "maxTokens", "no-output-cap"),
        ({"thresholdRatio": 0.16}, "retainRatio", "retain-not-below-threshold"),
        ({"thresholdRatio": 0.1, "modelPolicies": [{**POLICY, "x": 1}]}, "retainRatio", "retain-not-below-threshold"),
        ({"modelPolicies": [{**POLICY, "auto": True}]}, "modelPolicies[0].auto", "unknown-key"),
        ({"modelPolicies": [{**POLICY, "modelPolicies": []}]}, "modelPolicies[0].modelPolicies", "unknown-key"),
        ({"modelPolicies": [POLICY, {**POLICY, "model": "M"}, POLICY]}, "modelPolicies[2]", "duplicate-policy"),
        ({"modelPolicies": [{"provider": "p", "model": ""}]}, "modelPolicies[0].model", "empty-text"),
        (
            {"modelPolicies": [{**POLICY, "thresholdRatio": 0.1}]},
            "modelPolicies[0].retainRatio",
            "retain-not-below-threshold",
        ),
        ({"headroomTokens": True}, "headroomTokens", "not-a-number"),
        ({"compactionRetries": float("inf")}, "compactionRetries", "not-a-whole-number"),
        ({"thresholdRatio": float("nan")}, "thresholdRatio", "not-a-ratio"),
        ({"thresholdRatio": 0}, "thresholdRatio", "not-a-ratio"),
        ({"retainRatio": 0}, "retainRatio", "not-a-ratio"),
        ({"maxTokens": None}, "maxTokens", "not-a-whole-number"),
        ({"summarizationModel": "m"}, "summarizationModel", "half-pair"),
        ([], "", "not-an-object"),
    ],
)
def test_the_first_reason(document, path, code):
    found = refusal(document)
    assert (found.path, found.code) == (path, code)


@pytest.mark.parametrize(
    "document",
    [
        None, {}, {"thresholdRatio": 1}, {"maxTokens": 1.0}, {"retainTokens": 10**300}, {"modelPolicies": None},
        {"toString": 1, "modelPolicies": [{**POLICY, "__proto__": 1}]}, {"retainTokens": 5, "thresholdRatio": 0.1},
        {"modelPolicies": [{**POLICY, "retainTokens": 5, "thresholdRatio": 0.1}]}, {"compactionRetries": 0, "maxOverflowRetries": 0},
        {"maxTokens": 1, "headroomTokens": 0, "modelPolicies": [{**POLICY, "headroomTokens": 0}]},
    ],
)  # fmt: skip
def test_what_the_engine_takes(document):
    assert refusal(document) is None


def test_enhanced_keys_are_stripped_and_judged_apart():
    document = {"mode": "turbo", "reasoningEffort": 3, "cachePriority": None, "thresholdRatio": 7}
    assert refusal(strip_enhanced(document)).path == "thresholdRatio"
    with pytest.raises(InvalidSettings) as caught:
        resolve(document)
    assert [problem.path for problem in caught.value.problems] == [
        "mode",
        "reasoningEffort",
        "cachePriority",
        "thresholdRatio",
    ]
    assert problems_of({"mode": "handoff", "thresholdRatio": 1}) == ()


def test_the_supported_lists():
    assert refusal({"x": 1}).supported == NATIVE_KEYS
    (found,) = problems_of({"mode": "goal", "reasoningEfort": "low"})
    assert (found.key, found.supported) == ("reasoningEfort", ALL_KEYS)
    assert refusal({"modelPolicies": [{**POLICY, "x": 1}]}).supported == POLICY_KEYS
    assert set(ALL_KEYS) - set(NATIVE_KEYS) == {"mode", "reasoningEffort", "cachePriority"}


@pytest.mark.parametrize(
    ("value", "name"), [(float("inf"), "Infinity"), (float("-inf"), "-Infinity"), (float("nan"), "NaN")]
)
def test_what_is_no_number_of_json_is_not_called_null(value, name):
    assert refusal({"headroomTokens": value}).message.endswith(f"not {name}")
