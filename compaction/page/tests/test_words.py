"""Every code of the rules, of `diagnose` and of `inspect` has words of its own, with its numbers and its controls."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from django.utils import translation

from compaction import inspecting
from compaction.core import (
    diagnose as diagnosing,
)
from compaction.core import (
    document,
    formula,
    last,
    measure,
    patch_rows,
    problem,
    rules_common,
    rules_enhanced,
    rules_form,
    rules_native,
    rules_routes,
)
from compaction.core.budget import Meter, Range
from compaction.core.diagnose import Diagnostic, diagnose
from compaction.core.formula import NoSpec, Reserve, spec
from compaction.core.keys import ALL_KEYS, POLICY_KEYS
from compaction.core.policy import problems_of, resolve
from compaction.core.problem import Problem
from compaction.core.rules_form import problems
from compaction.page import words, words_found
from compaction.services import keepable

CODE = re.compile(r"[a-z]+(?:-[a-z]+)*")
MAKERS = {"Problem": 1, "_refuse": 1, "NoSpec": 0, "Diagnostic": 0}  # where the code stands among the arguments
CASES = [
    json.loads(line)["set"]
    for line in (Path(__file__).parents[3] / "tests/data/settings/cases.jsonl").read_text().splitlines()
    if line
]


@pytest.fixture(autouse=True)
def in_english():
    with translation.override("en"):
        yield


def made_by(*modules: object) -> set[str]:
    """The codes that stand as plain text in calls that make a finding."""
    found = set()
    for module in modules:
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
            at = MAKERS.get(getattr(node.func, "id", "")) if isinstance(node, ast.Call) else None
            code = node.args[at] if at is not None and len(node.args) > at else None
            if isinstance(code, ast.Constant) and CODE.fullmatch(str(code.value)):
                found.add(str(code.value))
    return found


RULES = made_by(document, problem, rules_common, rules_enhanced, rules_form, rules_native, rules_routes, patch_rows)
TRIGGERS = made_by(formula)
FINDINGS = made_by(diagnosing)
KEEPABLE = {"too-deep", "too-large", "bad-text"}


def test_the_codes_were_found():
    assert {"half-pair", "effort-unknown", "unknown-key", "no-output-cap", "bad-ops", "expression"} <= RULES
    assert {"window-unknown", "no-pressure-budget", "retain-not-below-threshold"} <= TRIGGERS
    assert {"default-won", "fixed-prefix", "no-safe-range"} <= FINDINGS
    source = Path(str(keepable.__file__)).read_text()
    assert set(re.findall(r'"((?:too|bad)-[a-z]+)"', source)) == KEEPABLE


@pytest.mark.parametrize("code", sorted(RULES | TRIGGERS | KEEPABLE))
@pytest.mark.parametrize("path", ["", "headroomTokens", "modelPolicies[3].maxTokens", "modelPolicies[0]"])
def test_every_code_of_the_rules_has_words(code, path):
    told = words.problem_words(Problem(path, code, "ENGLISH", "error", ("low", "high")))
    assert told
    assert "ENGLISH" not in told
    assert "%(" not in told
    assert "modelPolicies[" not in told


def test_a_code_nobody_knows_keeps_its_message():
    assert words.problem_words(Problem("auto", "made-up", "the message")) == "the message"
    found = Diagnostic("made-up", "the sentence", controls=("auto",))
    assert words.diagnostic_words(found, None, None, None)[0] == "the sentence"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_the_field_cases_give_is_worded(case):
    for found in (*problems(case), *problems_of(case)):
        told = words.problem_words(found)
        assert told != found.message


def test_words_name_the_field_and_what_is_accepted():
    (found,) = problems({"maxTokens": 0})
    assert words.problem_words(found) == "Longest summary must be a whole number, 1 or more."
    (found,) = problems({"compactionRetries": 1.5})
    assert words.problem_words(found) == "Further rounds under pressure must be a whole number, 0 or more."
    (found,) = problems({"mode": "best"})
    assert words.problem_words(found) == "Strategy must be one of: DSH native, Goal-enhanced, File hand-off."
    (found,) = problems({"a<b": 1})
    assert words.problem_words(found).startswith('Unknown key "a<b". Supported keys: mode, auto')
    none = Problem("reasoningEffort", "effort-not-supported", "x", supported=())
    assert words.problem_words(none) == "The model takes no effort: leave it empty."


def test_every_setting_has_a_name():
    assert set(words.LABELS) == set(ALL_KEYS)
    assert all(words.label(key) != key for key in POLICY_KEYS)
    assert len({str(one) for one in words.LABELS.values()}) == len(ALL_KEYS)


@pytest.mark.parametrize("code", sorted(FINDINGS | TRIGGERS))
def test_every_finding_has_words(code):
    policy = resolve({"thresholdRatio": 0.7}).policy
    at: object = spec(policy, 1_000_000, Reserve(256_000, "adapter"))
    if code in TRIGGERS:
        at = NoSpec(code, "ENGLISH")
    told, _ = words.diagnostic_words(Diagnostic(code, "ENGLISH"), at, Meter("usage", 9, 5), policy)
    assert told
    assert "ENGLISH" not in told


def found_for(document_: dict[str, object], window: int, total: int, fixed: int, cut: Range | None = None):
    policy = resolve(document_).policy
    at, meter = spec(policy, window, Reserve(2_000, "request")), Meter("usage", total, fixed)
    return {
        one.code: words.diagnostic_words(one, at, meter, policy)
        for one in diagnose(policy, at, meter, cut, auto=bool(document_.get("auto", True)))
    }


SMALL = {"maxTokens": 2_000, "headroomTokens": 4_000}


def test_findings_carry_their_numbers_and_link_their_controls():
    told, links = found_for(SMALL, 24_000, 20_000, 19_000)["fixed-prefix"]
    assert "19\u202f000 tokens" in told
    assert "18\u202f000" in told
    assert [(one.key, one.href, one.label) for one in links] == [
        ("headroomTokens", "#id_headroomTokens", "Headroom"), ("thresholdRatio", "#id_thresholdRatio", "Threshold"),
    ]  # fmt: skip
    told, links = found_for(SMALL | {"retainTokens": 5_000}, 24_000, 20_000, 14_000)["fixed-plus-retained"]
    assert "14\u202f000" in told
    assert "5\u202f000" in told
    assert links[0].href == "#id_retainTokens"
    told, links = found_for({"maxTokens": 13_000, "headroomTokens": 4_000}, 24_000, 1, 2_000)["summary-may-refill"]
    assert "13\u202f000" in told
    assert links[0].key == "maxTokens"
    told, links = found_for(SMALL, 24_000, 19_000, 900)["no-safe-range"]
    assert links[0].key == "retainRatio"
    assert found_for(SMALL | {"auto": False}, 24_000, 1, 1)["auto-off"][1][0].href == "#id_auto"


def test_a_default_that_beat_a_set_value_is_said():
    told, links = found_for({"thresholdRatio": 0.9}, 200_000, 1, 1)["default-won"]
    assert "0.9" in told
    assert "180\u202f000" in told
    assert "default headroom 65\u202f536" in told
    assert "132\u202f464" in told
    assert links[0].key == "headroomTokens"
    told, links = found_for({"headroomTokens": 100}, 200_000, 1, 1)["default-won"]
    assert "headroom set here, 100" in told
    assert "default threshold 0.8" in told
    assert links[0].key == "thresholdRatio"


def test_no_trigger_says_why_and_what_is_no_field_has_no_link():
    told, links = found_for({}, 65_536, 1, 1)["no-pressure-budget"]
    assert "63\u202f536 tokens" in told
    assert "65\u202f536" in told
    assert [(one.key, bool(one.href)) for one in links] == [
        ("headroomTokens", True), ("contextWindow", False), ("defaultMaxTokens", False),
    ]  # fmt: skip
    told, _ = found_for({}, 1_000, 1, 1)["no-message-budget"]
    assert "-1\u202f000" in told
    told, _ = found_for(SMALL | {"retainTokens": 18_000}, 24_000, 1, 1)["retain-not-below-threshold"]
    assert told.count("18\u202f000") == 2


def test_every_note_of_inspect_has_words():
    constants = [
        value
        for module, names in ((inspecting, inspecting.__dict__), (measure, measure.__dict__), (last, last.__dict__))
        for name, value in names.items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str) and module.__name__
    ]
    notes = [one for one in constants if one != inspecting.OUR_PRESET]
    assert len(notes) >= 8
    assert all(one in words_found.NOTES for one in notes)
    assert all(words.note_words(one) for one in notes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the log names the agent preset <b>, which brings its own compaction engine", "the agent preset <b>, which"),
        ("the settings cannot be used: x", "The settings cannot be used: x"),
        ("context window of p/m unknown; capacity not checked", "window of p/m is unknown"),
        ("state left out of the summary request to fit p/m: todos", "so that it fits: p/m: todos"),
        ("41: assistant/message outside its own step", "at seq 41"),
        ("something new 100 %s", "something new 100 %s"),
    ],
)
def test_notes_with_a_part_of_their_own(text, told):
    assert told in words.note_words(text)


def test_reasons_of_a_preview():
    assert words.reason_words(None) == ""
    assert "not reached" in words.reason_words("below-threshold")
    assert "tool call with its result" in words.reason_words("no-safe-range")
    assert words.reason_words("unavailable: context window unknown") == "The context window of the model is unknown."
    assert words.reason_words(f"unavailable: {inspecting.NOT_MEASURED}") == "This session has not been measured yet."
    policy = resolve({}).policy
    at = spec(policy, 65_536, Reserve(2_000, "request"))
    assert isinstance(at, NoSpec)
    assert "the headroom takes 65\u202f536" in words.reason_words(f"unavailable: {at.message}", at, policy)
    assert str(words.NO_CUT) == "No computable safe cut"


def test_blockers_are_told_in_their_order():
    assert words.blocker_words(["pending-question", "running-job", "new-one"]) == [
        "waiting for the user", "a job is running", "new-one",
    ]  # fmt: skip
    assert words.blocker_words(None) == []
    assert list(words.BLOCKERS) == [
        "agent-busy", "queued-input", "goal-paused", "goal-blocked", "pending-question", "running-job", "running-child",
        "cancelled", "queue-failed", "no-live-agent",
    ]  # fmt: skip


def test_states_of_the_last_compaction():
    assert set(words.STATUSES) == set(last.Status.__args__)
    assert set(words.RESERVE_ORIGINS) == set(formula.ReserveOrigin.__args__)
    assert set(words.WINNERS) == set(formula.Winner.__args__)
    assert words.origin_words("set", "policy") != words.origin_words("set")
