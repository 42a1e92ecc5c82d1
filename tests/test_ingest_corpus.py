"""Logs that real DSH processes wrote, through store, import and audit: what comes out is what `facts.json` says went in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.core import facts as factlib
from audit.models import Audit
from audit.services.run import case_of
from dshweb.sessionlog.models import Compaction, LogFile, Message
from dshweb.sessionlog.services.evidence import LogEvents
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.report import LogReport, Totals

CORPUS = Path(__file__).parent / "data" / "corpus"
SCENARIOS = sorted(path.parent.name for path in CORPUS.glob("*/facts.json"))
PLANTED_ID = "5c1d9b7e-2f3a-4d6c-8e90-a1b2c3d4e5f6"
BIG = Path(__file__).parents[2] / "shared" / "dsh" / "corpus" / "big"


def bring_in(people, path: Path, *, inline: bool = False) -> tuple[list[LogReport], Totals]:
    reports: list[LogReport] = []
    totals = Totals()
    ingest_path(path, run=Import.by(people.team, people.bob, inline=inline), totals=totals, on_report=reports.append)
    return reports, totals


def facts_of(scenario: str) -> dict:
    return json.loads((CORPUS / scenario / "facts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if not name.startswith("damaged")])
def test_counts_are_those_of_the_recording(people, data_dir, scenario):
    reports, totals = bring_in(people, CORPUS / scenario)
    wanted = {entry["sessionId"]: entry for entry in facts_of(scenario)["logs"]}
    assert {report.session_id for report in reports} == set(wanted)
    for report in reports:
        entry = wanted[report.session_id]
        assert (report.status, report.format, report.events, report.rows, report.frames) == (
            "ok", entry["formatVersion"], entry["events"], entry["rows"], entry["frames"],
        )  # fmt: skip
        assert report.turns == entry["eventCounts"].get("turn/start", 0)
        # the recording calls a cancelled attempt failed, with the error that says so
        outcomes = [row["outcome"] for row in entry["compactions"]]
        ours = report.compactions
        assert (ours["completed"], ours["failed"] + ours["cancelled"], ours["unmatched"]) == tuple(
            outcomes.count(name) for name in ("completed", "failed", "unmatched")
        )
        check_rows(people, report, entry)
    assert totals.events == sum(entry["events"] for entry in wanted.values())


def check_rows(people, report: LogReport, entry: dict) -> None:
    log = LogFile.objects.for_team(people.team).get(session__session_id=report.session_id)
    rows = {row.start_seq: row for row in Compaction.objects.for_team(people.team).filter(log=log)}
    assert set(rows) == {want["startSeq"] for want in entry["compactions"]}
    for want in entry["compactions"]:
        row = rows[want["startSeq"]]
        assert row.compaction_id == want["compactionId"]
        assert (row.summary_seq, row.end_seq, row.turn) == (want.get("summarySeq"), want.get("endSeq"), want["turn"])
        assert row.shadowed_seqs == want.get("shadowedSeqs", [])
        assert row.shadowed_tokens == want.get("shadowedTokenCount")
        assert row.error == want.get("error", "")
    users = Message.objects.for_team(people.team).filter(log=log, type="user/message")
    assert users.count() == entry["eventCounts"].get("user/message", 0)
    assert users.filter(human=True).count() == entry["userMessageSources"].get("user", 0)


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name.startswith("damaged")])
def test_damaged_copies_yield_their_readable_rows(people, data_dir, scenario):
    (report,), _totals = bring_in(people, CORPUS / scenario, inline=True)
    facts = facts_of(scenario)["facts"]
    middle = "middle" in scenario or "checksum" in scenario
    assert report.status == "damaged"
    assert report.events == (64 if middle else facts["readableEventsFromStart"] + facts["completeRowsInTornFrame"])
    assert facts["damagedFrameOffset"] in [entry.get("offset") for entry in report.damage]
    if middle:
        audit = Audit.objects.for_team(people.team).get()
        assert "damaged_log" in [reason["code"] for reason in audit.record["ledger"]["reasons"]]


def test_the_audits_of_a_torn_log_say_so_when_the_damage_lies_before_the_summary(people, data_dir):
    for scenario in SCENARIOS:
        if scenario.startswith("damaged"):
            bring_in(people, CORPUS / scenario, inline=True)
    for audit in Audit.objects.for_team(people.team).select_related("compaction__log"):
        codes = [reason["code"] for reason in audit.record["ledger"]["reasons"]]
        before = [
            entry for entry in audit.compaction.log.damage if entry["code"] in {"bad_checksum", "corrupt_frame"}
        ]  # the torn ones end behind the summary
        assert ("damaged_log" in codes) == bool(before)


@pytest.mark.parametrize(
    "scenario", ["pressure-compaction", "pressure-compaction-zh", "manual-compact", "legacy-v0", "legacy-v3"]
)
def test_recorded_strings_are_classified(people, data_dir, scenario):
    """A string that is a fact of some class is judged as recorded; the others go through the vocabulary."""
    bring_in(people, CORPUS / scenario, inline=True)
    facts = facts_of(scenario)["facts"]
    audit = Audit.objects.for_team(people.team).order_by("-id").first()
    record = audit.record
    unverified = said(record["fidelity"]["unverified"])
    lost = said(record["coverage"]["lost"])
    for text in facts.get("inventedInSummary", []):
        assert hit(text, unverified), (text, unverified)
    for text in facts.get("keptInSummary", []):
        assert not hit(text, unverified), text
        assert not hit(text, lost), text
    for text in facts.get("droppedFromSummary", []):
        if factlib.extract(text) or hit(text, lost):
            assert hit(text, lost), (text, lost)
    for text in facts.get("supersededInSummary", []):
        stale = said([row for row in record["coverage"]["lost"] if row["kind"] == "stale"])
        assert hit(text, stale), (text, stale)


@pytest.mark.parametrize("scenario", ["pressure-compaction", "pressure-compaction-zh", "manual-compact"])
def test_recorded_strings_serve_as_vocabulary(people, data_dir, scenario):
    from audit.core.policy import Policy, Vocabulary
    from audit.core.record import audit as make_record

    bring_in(people, CORPUS / scenario)
    facts = facts_of(scenario)["facts"]
    dropped, kept = facts.get("droppedFromSummary", []), facts.get("keptInSummary", [])
    superseded, made_up = facts.get("supersededInSummary", []), facts.get("inventedInSummary", [])
    compaction = Compaction.objects.for_team(people.team).get()
    with LogEvents(compaction.log) as events:
        case = case_of(compaction, events)
    assert case is not None
    vocabulary = Vocabulary(keep=(*dropped, *kept), drop=(*superseded, *made_up))
    terms = make_record(case, Policy(vocabulary=vocabulary))["compliance"]
    assert sorted(term["term"] for term in terms["missing"]) == sorted(dropped)
    assert sorted(term["term"] for term in terms["superseded"]) == sorted([*superseded, *made_up])


def said(rows: list[dict]) -> list[str]:
    return [
        "\n".join([row["text"], row["canon"], *row["also"], *(row["family"] or {}).get("members", [])]) for row in rows
    ]


def hit(text: str, rows: list[str]) -> bool:
    plain = "".join(text.split()).lower()
    canons = {"".join(fact.canon.split()).lower() for fact in factlib.extract(text)}
    return any(needle in "".join(row.split()).lower() for row in rows for needle in {plain, *canons})


@pytest.mark.slow
@pytest.mark.skipif(not BIG.exists(), reason="../shared/dsh/corpus/big is not on this machine")
def test_the_big_log_shows_a_handful_of_rows_and_the_planted_facts_first(people, data_dir):
    (report,), _totals = bring_in(people, BIG, inline=True)
    entry = json.loads((BIG / "facts.json").read_text())["logs"][0]
    assert (report.events, report.frames, report.status) == (entry["events"], entry["frames"], "ok")
    for audit in Audit.objects.for_team(people.team).order_by("id"):
        lost = audit.record["coverage"]["lost"]
        assert len(lost) <= 5, [row["text"] for row in lost]
        # the two facts that the recording planted in every summary and in no event
        assert [row["text"] for row in audit.record["fidelity"]["unverified"]] == [PLANTED_ID, "12 MiB"]
