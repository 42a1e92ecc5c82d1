"""Rows 83-106 of COMPACTION-AUDIT §8 (L = leaves, S = summary), as mended by AUDIT-REFINEMENTS §2.6."""

from __future__ import annotations

import pytest

from audit.core.case import Elsewhere
from audit.tests.core.build import canons, record_of, row


def test_83_a_windows_path_from_decoded_arguments_verifies():
    record = record_of([("tool_args", "write\npath\nC:\\Users\\a\\x.txt")], "- wrote C:\\Users\\a\\x.txt")
    assert canons(record) == []
    assert record["fidelity"]["classes"]["abs_path"] == {"asserted": 1, "verified": 1}


def test_84_a_path_in_arguments_that_are_not_json_verifies():
    record = record_of([("tool_args", 'bash\n{"command": "cat /srv/a.log')], "- read /srv/a.log")
    assert canons(record) == []


def test_85_a_fact_of_a_tool_alone_is_lost_in_tier_c_when_stated_and_outside_the_score():
    record = record_of([("human", "look"), ("tool_result", "config: /srv/app/a.yaml")], "- looked around the place")
    found = row(record, "/srv/app/a.yaml", "coverage")
    assert (found["tier"], found["kind"], found["sources"]) == ("C", "lost", ["tool_result"])
    assert record["coverage"]["score"] is None
    assert record["coverage"]["toolOnly"] == {"facts": 1, "kept": 0, "rowsCut": 0}


def test_85_a_fact_on_a_line_of_a_log_is_not_lost():
    log = "\n".join(f"2026-11-01 10:00:0{n} INFO wrote /srv/app/{n}.bin" for n in range(9))
    assert canons(record_of([("tool_result", log)], "- the job ran"), "coverage") == []


def test_86_a_fact_of_a_tool_alone_verifies_also_from_the_middle_of_a_log():
    log = "\n".join(f"2026-11-01 10:00:0{n} INFO wrote /srv/app/part-{n}.bin" for n in range(9))
    record = record_of([("tool_result", log)], "- wrote /srv/app/part-7.bin and /srv/app/part-77.bin")
    assert canons(record) == ["/srv/app/part-77.bin"]


def test_87_reasoning_verifies_but_is_not_key():
    pieces = [("reasoning", "maybe /srv/guess/a.yaml")]
    assert canons(record_of(pieces, "- see /srv/guess/a.yaml")) == []
    assert canons(record_of(pieces, "- nothing of it"), "coverage") == []


@pytest.mark.parametrize(("place", "name"), [("system", "system"), ("state", "state"), ("earlier", "earlier_log")])
def test_88_89_a_fact_from_outside_the_leaves_stays_unverified_and_says_where_it_stands(place: str, name: str):
    elsewhere = Elsewhere(**{place: lambda: ["work in /opt/outside/a.toml"]})
    record = record_of([("human", "go")], "- see /opt/outside/a.toml", elsewhere=elsewhere)
    assert row(record, "/opt/outside/a.toml")["foundElsewhere"] == name


def test_places_outside_the_leaves_are_asked_only_when_needed_and_once():
    asked = []
    elsewhere = Elsewhere(state=lambda: asked.append(1) or [])
    record_of([("human", "/srv/a/b.txt")], "- /srv/a/b.txt", elsewhere=elsewhere)
    assert asked == []
    record_of([("human", "go")], "- /srv/a/b.txt /srv/a/c.txt", elsewhere=elsewhere)
    assert asked == [1]


def test_90_91_an_image_is_opaque_but_its_name_is_text():
    record = record_of([("human", "diagram-3.png")], "- diagram-3.png shows 512 MB", opaque=1)
    assert canons(record) == ["512 MB"]
    assert record["ledger"]["opaqueBlocks"] == 1


def test_93_94_95_a_summary_is_never_ground_truth():
    pieces = [("human", "see /srv/app/conf.yaml"), ("assistant", "limit is /srv/app/limit.yaml")]
    record = record_of(pieces, "- /srv/app/conf.yaml and /srv/app/made-up.yaml", depth=2)
    assert canons(record) == ["/srv/app/made-up.yaml"]
    assert canons(record, "coverage") == ["/srv/app/limit.yaml"]
    assert row(record, "/srv/app/limit.yaml", "coverage")["where"]["seq"] == 1
    assert record["ledger"]["depth"] == 2


def test_96_an_incomplete_ledger_says_why():
    record = record_of([("human", "a")], "b", reasons=["checkpoint_without_summary"])
    assert record["ledger"]["incomplete"] is True
    assert record["ledger"]["reasons"] == [{"code": "checkpoint_without_summary", "seq": None}]


def test_97_formatting_of_a_number_does_not_matter():
    record = record_of([("human", "limit 1,024 MB")], "- limit 1024MB")
    assert (canons(record), canons(record, "coverage")) == ([], [])
    assert record["coverage"]["score"] == 1.0
    assert record["fidelity"]["rate"] == 1.0


def test_98_values_are_not_converted():
    record = record_of([("human", "limit 1024 MB"), ("human", "spare 7 GB")], "- limit 1 GB, spare 7 GB")
    assert canons(record) == ["1 GB"]
    assert canons(record, "coverage") == ["1024 MB"]


def test_98_a_number_of_the_same_unit_is_near():
    record = record_of([("human", "pool of 1024 MB")], "- memory is 999 MB")
    assert row(record, "999 MB")["near"] == {"canon": "1024 MB", "seq": 0}


def test_99_a_shorter_path_verifies_and_keeps():
    record = record_of([("human", "edit /repo/src/x.ts")], "- edited src/x.ts")
    assert (canons(record), canons(record, "coverage")) == ([], [])


def test_100_101_a_longer_name_is_another_file():
    record = record_of([("human", "edit src/x.ts")], "- edited src/x.tsx")
    assert canons(record) == ["src/x.tsx"]
    record = record_of([("human", "edit /etc/hosts")], "- edited /etc/hosts.allow")
    assert canons(record) == ["/etc/hosts.allow"]
    assert canons(record, "coverage") == ["/etc/hosts"]


@pytest.mark.parametrize(
    ("summary", "kind"), [("- 端口是 9090", None), ("- 端口是 8080", "stale"), ("- 端口没写", "lost")]
)
def test_102_a_correction_is_kept_stale_or_lost(summary: str, kind: str | None):
    record = record_of([("human", "不是 8080，是 9090")], summary)
    rows = [one for one in record["coverage"]["lost"] if one["class"] == "user_correction"]
    assert [one["kind"] for one in rows] == ([] if kind is None else [kind])
    assert [one["canon"] for one in rows] == ([] if kind is None else ["8080→9090"])


def test_103_a_dropped_tool_ban_is_lost():
    record = record_of([("human", "don't use requests")], "- we use httpx for the calls")
    assert [one["class"] for one in record["coverage"]["lost"]] in (["user_correction"], ["user_rule"])


def test_104_a_cue_alone_is_unscored():
    record = record_of([("human", "不对")], "- 端口是 8080")
    assert record["coverage"]["lost"] == []
    assert record["coverage"]["keyFacts"] == 0


def test_105_injected_words_are_no_correction():
    record = record_of([("injected", "use pnpm instead of npm"), ("human", "go on")], "- going on")
    assert record["coverage"]["lost"] == []


@pytest.mark.parametrize(("wrote", "rows"), [("use port 9090", 0), ("use port 9091", 1)])
def test_106_a_quote_of_the_user_must_be_the_users(wrote: str, rows: int):
    record = record_of([("human", wrote)], '- user corrected: "use port 9090"')
    quotes = [one for one in record["fidelity"]["unverified"] if one["class"].startswith("user_")]
    assert len(quotes) == rows


def test_number_that_only_the_assistant_wrote_says_so():
    record = record_of([("human", "make the KPI deck"), ("assistant", "Revenue grew 37%.")], "- Revenue grew 37%")
    assert canons(record) == []
    assert [(one["canon"], one["evidence"]) for one in record["fidelity"]["assistantOnly"]] == [
        ("37 %", "assistant_only")
    ]


def test_number_that_a_tool_printed_too_is_not_assistant_only():
    pieces = [("assistant", "It takes 350 ms."), ("tool_result", "x\n" * 9 + "then it took 350 ms in all\n")]
    assert record_of(pieces, "- takes 350 ms")["fidelity"]["assistantOnly"] == []


def test_an_altered_id_names_its_original_and_the_original_ranks_first():
    run = "4be1a2c7-90d3-4f5e-8b6a-1122334455ff"
    pieces = [("human", f"resume run {run} of /srv/jobs/one.yaml")]
    record = record_of(pieces, "- run 4be1a2c7-90d3-4f5e-8b6a-1122334455fe")
    assert row(record, run[:-1] + "e")["kind"] == "altered"
    assert row(record, run[:-1] + "e")["near"] == {"canon": run, "seq": 0}
    first = record["coverage"]["lost"][0]
    assert (first["canon"], first["altered"], first["tier"]) == (run, True, "A")


def test_old_values_are_not_key():
    record = record_of([("human", "timeout is 15 s"), ("human", "超时是 1500 ms，不是 15 s")], "- timeout 1500 ms")
    assert canons(record, "coverage") == []


def test_the_last_exchange_is_counted():
    pieces = [("human", "see /a/b.txt"), ("human", "now /c/d.txt"), ("assistant", "wrote /e/f.txt")]
    record = record_of(pieces, "- /a/b.txt and /c/d.txt")
    assert record["coverage"]["lastExchange"] == {"facts": 2, "kept": 1}
    assert record_of([("assistant", "x")], "- y")["coverage"]["lastExchange"] is None
