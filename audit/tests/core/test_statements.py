"""Corrections, rules and claims on sentences of the kinds people type; the rows are in `statement_rows`."""

from __future__ import annotations

import pytest

from audit.core.statements import (
    Claim,
    Support,
    claimed_consents,
    claimed_quotes,
    claimed_rules,
    correction_kept,
    correction_scorable,
    corrections,
    resolve_old_values,
    rule_kept,
    rules,
    supported,
)
from audit.tests.core.statement_rows import CLAIMS, CORRECTIONS, RULE_KEPT, RULES, SUPPORTED


def claims(summary: str) -> list[Claim]:
    """As the record takes them: of overlapping claims the strictest kind."""
    found: list[Claim] = []
    for take in (claimed_consents, claimed_quotes, claimed_rules):
        for claim in take(summary):
            if all(claim.end <= other.start or other.end <= claim.start for other in found):
                found.append(claim)
    return sorted(found, key=lambda claim: claim.start)


@pytest.mark.parametrize(("text", "expected"), CORRECTIONS)
def test_a_correction_is_read_as_old_and_new(text: str, expected: list[str]) -> None:
    assert [c.canon for c in corrections(text) if c.scored] == expected


@pytest.mark.parametrize(("text", "expected"), RULES)
def test_a_rule_is_the_clause_around_its_cue(text: str, expected: list[str]) -> None:
    assert [r.text for r in rules(text)] == expected


@pytest.mark.parametrize(("text", "summary", "expected"), RULE_KEPT)
def test_a_rule_is_kept_when_a_cued_line_holds_half_of_its_terms(
    text: str, summary: str, expected: bool | None
) -> None:
    assert rule_kept(rules(text)[0], [summary]) is expected


@pytest.mark.parametrize(("summary", "expected"), CLAIMS)
def test_a_summary_line_about_the_user_is_a_claim(summary: str, expected: list[tuple[str, str]]) -> None:
    assert [(c.kind, c.text) for c in claims(summary)] == expected
    assert all(summary[c.start : c.end] == c.text for c in claims(summary))


@pytest.mark.parametrize(("summary", "human", "other", "expected"), SUPPORTED)
def test_a_claim_needs_a_source(summary: str, human: list[str], other: list[str], expected: bool) -> None:
    found = claims(summary)
    assert found
    assert all(supported(claim, human, other) for claim in found) is expected


@pytest.mark.parametrize(
    ("text", "summary", "expected"),
    [
        ("不是 8080，是 9090", "- port 9090", "kept"),
        ("不是 8080，是 9090", "- port 8080", "stale"),
        ("不是 8080，是 9090", "- the port is set", "lost"),
        ("不是 8080，是 9090", "- changed the port from 8080 to 9090", "kept"),
        ("不是 8080，是 9090", "- port 19090", "lost"),
        ("don't use requests", "- use httpx", "lost"),
        ("don't use requests", "- requests is not to be used", "kept"),
        ("The pool size should be 40, not 25.", "- Pool size is 25 in /etc/api/app.toml.", "stale"),
        ("上限应该是 200 条,不是 2000 条。", "- at most 2000 records", "stale"),
        ("上限应该是 200 条,不是 2000 条。", "- at most 200 records", "kept"),
        ("the limit is 30 s, not 60 s", "- limit 30 seconds", "kept"),
        ("the limit is 500 ms, not 250 ms", "- limit 500 s", "lost"),
        ("bump it from 1.9.3 to 2.0.0", "- version 1.9.3 → 2.0.1", "stale"),
        ("use src/app.ts instead of src/main.ts", "- entry is `src/app.ts`", "kept"),
        ("use src/app.ts instead of src/main.ts", "- entry is src/app.tsx", "lost"),
        ("I meant staging, not production", "- deployed to Staging", "kept"),
    ],
)
def test_a_correction_is_kept_lost_or_stale(text: str, summary: str, expected: str) -> None:
    (correction,) = corrections(text)
    assert correction_kept(correction, [summary]) == expected


def test_a_cue_alone_is_listed_but_never_scored() -> None:
    (correction,) = corrections("不对。")
    assert (correction.canon, correction.scored, correction_scorable(correction, ["x"])) == ("∅→∅", False, False)


def test_plain_han_words_cannot_be_looked_for_in_an_english_summary() -> None:
    (correction,) = corrections("颜色换成蓝色吧")
    assert not correction_scorable(correction, ["- The colour is blue."])
    assert correction_scorable(correction, ["- 颜色：绿色"])
    assert correction_kept(correction, ["- 颜色：绿色"]) == "lost"


def test_old_values_of_an_attribute_come_from_earlier_clauses_with_the_same_unit() -> None:
    (correction,) = corrections("批大小改成 500 行,刚才说错了。")
    earlier = ["把 users 表迁移到新库,批大小 2000 行,超时 90 秒。", "明白:批大小 3000 行,超时 90 秒。", "批大小 5 MB"]
    resolved = resolve_old_values(correction, earlier)
    assert (resolved.canon, resolved.old_values) == ("3000 行→500 行", ("2000 行", "3000 行"))
    assert correction_kept(resolved, ["批大小 2000 行"]) == "stale"
    assert resolve_old_values(correction, ["超时 90 秒"]) == correction


def test_a_named_old_value_is_not_resolved_again() -> None:
    (correction,) = corrections("不是 8080，是 9090")
    assert resolve_old_values(correction, ["端口 7070"]) == correction


def test_a_text_may_hold_several_corrections_and_rules() -> None:
    text = "端口用 7001 而不是 7000。另外,日志保留从 7 天改成 14 天,别动 deploy/prod.yaml。\n- 先别发布"
    assert [c.canon for c in corrections(text)] == ["7000→7001", "7 天→14 天"]
    assert [r.text for r in rules(text)] == ["别动 deploy/prod.yaml", "先别发布"]
    for found in (*corrections(text), *rules(text)):
        assert text[found.start : found.end] == found.text


def test_a_rule_only_of_foreign_words_is_not_judged_but_a_name_is() -> None:
    assert rule_kept(rules("别磨叽，先别聊架构")[0], ["- Work goes on."]) is None
    assert rule_kept(rules("别碰 billing_core")[0], ["- Work goes on."]) is False
    assert rule_kept(rules("别碰 billing_core")[0], ["- billing_core is off-limits"]) is True


def test_one_support_serves_many_claims() -> None:
    support = Support(["fix the build", "ok"], ["never push to main"])
    found = claims('- User asked: "fix the build"\n- User approved it.\n- Never push to main')
    assert [support.of(claim) for claim in found] == [True, True, True]
