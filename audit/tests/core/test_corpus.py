"""Audits of the recorded corpus against the strings that each scenario planted (facts.json)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.core.growing import Growing
from audit.core.policy import Policy, Vocabulary
from audit.core.record import audit
from audit.tests.core.logs import DATA, SHARED, cases_of_log

CORPUS = DATA / "corpus"
BIG = SHARED / "dsh" / "corpus" / "big"
PLANTED = ["legacy-v0", "legacy-v3", "manual-compact", "pressure-compaction", "pressure-compaction-zh"]
DAMAGED = ["damaged-bad-checksum", "damaged-corrupt-middle-frame"]


def logs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("sessions/**/*") if path.name.endswith((".zstd", ".jsonl")))


def strings(row) -> list[str]:
    return [row["text"], row["canon"], *row["also"], *(row["family"] or {"members": []})["members"]]


def shown(record, axis: str, name: str) -> str:
    return "\n".join(text for row in record[axis][name] for text in strings(row))


@pytest.mark.parametrize("scenario", PLANTED)
def test_what_a_scenario_planted_is_found(scenario: str):
    facts = json.loads((CORPUS / scenario / "facts.json").read_text(encoding="utf-8"))["facts"]
    (path,) = logs(CORPUS / scenario)
    (case,) = cases_of_log(path)
    # A number that the assistant wrote once is not key by default; here every planted string counts.
    record = audit(case, Policy(critical_number_count=1))
    assert record["errors"] == []
    unverified, lost = shown(record, "fidelity", "unverified"), shown(record, "coverage", "lost")
    for text in facts.get("inventedInSummary", []):
        assert text in unverified
    for text in facts.get("keptInSummary", []):
        assert text not in unverified
        assert text not in lost
    for text in facts.get("droppedFromSummary", []):
        assert text in lost
    for text in facts.get("supersededInSummary", []):
        assert any(text in row["canon"] for row in record["coverage"]["lost"] if row["kind"] == "stale")


@pytest.mark.parametrize("scenario", PLANTED)
def test_planted_strings_as_vocabulary(scenario: str):
    facts = json.loads((CORPUS / scenario / "facts.json").read_text(encoding="utf-8"))["facts"]
    kept, dropped = facts.get("keptInSummary", []), facts.get("droppedFromSummary", [])
    stale = facts.get("supersededInSummary", [])
    vocabulary = Vocabulary(keep=(*kept, *dropped), drop=tuple(stale), scope=tuple(dropped))
    (case,) = cases_of_log(logs(CORPUS / scenario)[0])
    found = audit(case, Policy(vocabulary=vocabulary))["compliance"]
    assert [term["term"] for term in found["missing"]] == dropped
    assert [term["term"] for term in found["scopeLost"]] == dropped
    assert [term["term"] for term in found["superseded"]] == stale


@pytest.mark.parametrize("scenario", DAMAGED)
def test_a_damaged_log_says_so(scenario: str):
    (case,) = cases_of_log(logs(CORPUS / scenario)[0])
    record = audit(case, Policy())
    assert record["ledger"]["incomplete"] is True
    assert "damaged_log" in [reason["code"] for reason in record["ledger"]["reasons"]]


def test_raw_output_is_not_the_summary():
    facts = json.loads((CORPUS / "compaction-raw-output" / "facts.json").read_text(encoding="utf-8"))["facts"]
    (case,) = cases_of_log(logs(CORPUS / "compaction-raw-output")[0])
    record = audit(case, Policy(vocabulary=Vocabulary(drop=tuple(facts["onlyInRawOutput"]))))
    assert record["compliance"]["superseded"] == []
    assert record["fidelity"]["unverified"] == []


@pytest.mark.parametrize("folder", sorted(path.name for path in CORPUS.iterdir() if path.is_dir()))
def test_every_compaction_of_the_corpus_gives_a_record_without_errors(folder: str):
    for path in logs(CORPUS / folder):
        for case in cases_of_log(path):
            assert audit(case, Policy())["errors"] == []


@pytest.mark.slow
@pytest.mark.skipif(not BIG.exists(), reason="the big corpus log lies outside the repository")
def test_the_big_log_shows_a_handful_of_rows_with_the_planted_facts_on_top():
    shared = Growing()
    (path,) = logs(BIG)
    cases = cases_of_log(path)
    assert len(cases) == 4
    for case in cases:
        record = audit(case, Policy(), shared)
        assert [row["canon"] for row in record["fidelity"]["unverified"]] == [
            "5c1d9b7e-2f3a-4d6c-8e90-a1b2c3d4e5f6",
            "12 MiB",
        ]
        assert len(record["coverage"]["lost"]) <= 5
