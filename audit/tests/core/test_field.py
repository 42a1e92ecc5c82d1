"""Field reports part 1 (FR-001 … FR-014) on their own inputs: each kind of fault, not only the one file."""

from __future__ import annotations

import pytest

from audit.core.policy import Policy
from audit.core.record import audit
from audit.tests.core.build import canons, record_of, row
from audit.tests.core.logs import DATA, cases_of_log

FIELD = DATA / "field" / "compaction"


def records(name: str):
    return [audit(case, Policy()) for case in cases_of_log(FIELD / name)]


def test_fr001_asks_that_no_user_made_come_first():
    (record,) = records("fabricated-user-ask.v4.jsonl")
    rows = record["fidelity"]["unverified"]
    assert [one["canon"] for one in rows] == ["post the invoice to the channel", "refresh the stock table"]
    assert {one["class"] for one in rows} == {"user_quote"}


def test_fr001_such_asks_rank_above_altered_ids():
    run = "4be1a2c7-90d3-4f5e-8b6a-1122334455ff"
    record = record_of([("human", f"run {run}")], f'- run {run[:-1]}e\n- User asked: "drop the table"')
    assert [one["class"] for one in record["fidelity"]["unverified"]] == ["user_quote", "uuid"]


def test_fr002_lines_under_a_heading_of_user_messages_are_claims():
    (record,) = records("fabricated-instruction-ko.v4.jsonl")
    (only,) = record["fidelity"]["unverified"]
    assert only["class"] == "user_quote"
    assert "collect all that is missing" in only["text"]


def test_fr004_a_constraint_that_nobody_recorded_is_unverified():
    (record,) = records("invented-constraint.v4.jsonl")
    assert [one["class"] for one in record["fidelity"]["unverified"]] == ["user_rule"]


def test_fr005_every_identifier_that_did_not_survive_is_named_with_its_seq():
    (record,) = records("identifiers-lost.v4.jsonl")
    seqs = {one["canon"]: one["where"]["seq"] for one in record["coverage"]["lost"]}
    assert seqs == {
        "550e8400-e29b-41d4-a716-446655440000": 0,
        "10.1.2.3": 0,
        "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432": 0,
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef": 0,
        "4c01db0b339c": 2,
        "OPS-77": 2,
        "/var/lib/app/state.db": 2,
    }


def test_fr007_numbers_that_only_the_assistant_wrote_carry_the_mark():
    (record,) = records("assistant-only-numbers.v4.jsonl")
    assert record["fidelity"]["unverified"] == []
    assert [(one["canon"], one["evidence"]) for one in record["fidelity"]["assistantOnly"]] == [
        ("37 %", "assistant_only"),
        ("4.2 %", "assistant_only"),
    ]


def test_fr008_a_notice_under_the_user_role_is_no_consent():
    (record,) = records("false-confirmation.v4.jsonl")
    assert [(one["class"], one["kind"]) for one in record["fidelity"]["unverified"]] == [("user_consent", "consent")]


def test_fr008_the_users_own_word_is_consent():
    record = record_of([("human", "push?"), ("human", "yes, go ahead and push")], "- User confirmed the push.")
    assert record["fidelity"]["unverified"] == []


def test_fr010_empty_and_idle_summaries_cannot_be_audited():
    assert [record["verdict"] for record in records("empty-and-degenerate.v4.jsonl")] == ["cannot_be_audited"] * 2


def test_fr011_one_lost_rule_stands_above_dozens_of_timings():
    log = "\n".join(f"2026-11-01 10:{n:02}:01 INFO step {n} took {n * 13 + 7} ms" for n in range(60))
    notes = "\n".join(f"{'abcdefghijklmnopqrstuvwxyz'[n]} time: {n * 17 + 3} ms" for n in range(20))
    pieces = [
        ("human", "Never restart the billing service. Agreed limit: 40 connections."),
        ("tool_result", log),
        ("tool_result", notes),
        ("tool_result", notes),
        ("assistant", "Measured p95 of 812 ms; decision: keep pool at 40 connections; p95 is 812 ms."),
        ("assistant", "So p95 of 812 ms stays."),
    ]
    lost = record_of(pieces, "- The team looked at timings of the service and will go on.")["coverage"]["lost"]
    assert lost[0]["class"] == "user_rule"
    assert lost[0]["text"].startswith("Never restart")
    assert [one["canon"] for one in lost[1:3]] == ["40 connection", "812 ms"]
    assert {one["tier"] for one in lost[3:]} <= {"C"}
    assert len(lost) < 10


def test_fr014_a_later_compaction_has_the_leaves_of_what_it_shadows():
    one, two = records("nested-two.v4.jsonl")
    assert one["ledger"]["leafSeqs"] == [[1, 2], [4, 4]]
    assert (one["ledger"]["depth"], two["ledger"]["depth"]) == (1, 2)
    assert two["ledger"]["leafCount"] == 3
    assert {"8434", "2048 MB"} <= set(canons(two))
    assert row(two, "8434")["near"] == {"canon": "8443", "seq": 4}
    assert row(two, "8443", "coverage")["altered"] is True


def test_a_spiral_of_compactions_is_audited_each_for_itself():
    done = records("spiral-12.v4.jsonl")
    assert len(done) == 12
    assert [record["ledger"]["leafCount"] for record in done] == [2] * 12


@pytest.mark.parametrize("name", ["failed-and-cancelled.v4.jsonl", "unclosed-start.v4.jsonl"])
def test_attempts_without_a_summary_have_no_record(name: str):
    assert records(name) == []
