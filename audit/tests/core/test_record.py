"""The record as a whole: schema, determinism, isolation, caps, hostile input (§3 and rows 111-115 of §8)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.core import coverage as coverage_module
from audit.core import fidelity as fidelity_module
from audit.core import pool as pool_module
from audit.core.case import Elsewhere
from audit.core.evaluate import case_of
from audit.core.growing import Growing
from audit.core.policy import Policy, Vocabulary
from audit.core.record import audit, dumps
from audit.core.times import iso_utc
from audit.tests.core.build import build, canons, record_of
from dshweb.sessionlog.core.leaves import SOURCES

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "data" / "audit-cases"


def test_the_record_has_the_members_of_the_schema():
    record = record_of([("human", "see /a/b.txt")], "- /a/c.txt", checkpoint=7)
    assert set(record) == {
        *("schema", "sessionId", "compactionId", "summarySeq", "checkpointSeq", "at", "engine", "configFp", "mode"),
        *("verdict", "ledger", "fidelity", "coverage", "compliance", "errors"),
    }
    assert (record["schema"], record["summarySeq"], record["checkpointSeq"]) == ("audit.signals/1", 1, 7)
    assert record["at"] == "2026-09-21T14:13:23.000Z"
    assert record["ledger"]["leafSeqs"] == [[0, 0]]
    assert set(record["fidelity"]["unverified"][0]) == {
        *("class", "text", "canon", "kind", "tier", "where", "sources", "occurrences", "weight", "near"),
        *("foundElsewhere", "altered", "also", "evidence", "family"),
    }


def test_a_place_leads_to_the_text():
    case = build([("human", "请看 /srv/数据/甲.txt。"), ("human", "x")], "- 见 /srv/数据/乙.txt")
    record = audit(case, Policy())
    for axis, name in (("fidelity", "unverified"), ("coverage", "lost")):
        (one,) = record[axis][name]
        where = one["where"]
        text = case.summary[where["block"]] if where["side"] == "summary" else case.leaves[where["seq"]].blocks[0].text
        assert text[where["start"] : where["end"]] == one["text"]


def test_times_outside_the_calendar_are_unknown():
    assert iso_utc(None) is None
    assert iso_utc(-1) is None
    assert iso_utc(10**18) is None
    assert iso_utc(0) == "1970-01-01T00:00:00.000Z"
    assert iso_utc(951_782_400_000) == "2000-02-29T00:00:00.000Z"
    assert iso_utc(253_402_300_799_999) == "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize("summary", ["", "  \n", "OK.", ("", " ")])
def test_an_empty_or_idle_summary_cannot_be_audited(summary):
    record = record_of([("human", "see /a/b.txt")], summary)
    assert record["verdict"] == "cannot_be_audited"
    assert record["coverage"]["score"] == 0.0
    assert record["fidelity"]["rate"] is None


def test_a_summary_without_any_block_cannot_be_audited():
    assert record_of([("human", "hi")], ())["verdict"] == "cannot_be_audited"


def test_a_short_summary_with_a_fact_is_audited():
    assert record_of([("human", "see /a/b.txt")], "/a/b.txt")["verdict"] == "audited"


def test_nothing_to_rate_is_null_never_one():
    record = record_of([("human", "hello there")], "- " + "prose without any fact in it " * 5)
    assert record["verdict"] == "audited"
    assert (record["fidelity"]["rate"], record["coverage"]["score"]) == (None, None)
    assert (record["fidelity"]["extended"]["rate"], record["coverage"]["extended"]["score"]) == (None, None)


def test_extended_classes_have_their_own_counts():
    pieces = [("human", "commit 7be1c04d9a of OPS-77 in /srv/a/b.txt")]
    record = record_of(pieces, "- /srv/a/b.txt, commit 7be1c04d9a")
    assert record["fidelity"]["asserted"] == 1
    assert record["fidelity"]["extended"]["asserted"] == 1
    assert (record["coverage"]["keyFacts"], record["coverage"]["score"]) == (1, 1.0)
    assert record["coverage"]["extended"]["keyFacts"] == 2
    assert record["coverage"]["extended"]["score"] == 0.6
    off = record_of(pieces, "- /srv/a/b.txt", Policy(extended_classes=False))
    assert off["fidelity"]["extended"] is None
    assert off["coverage"]["extended"] is None
    assert canons(off, "coverage") == []


def test_111_a_fact_split_over_two_blocks_is_no_fact():
    record = record_of([("human", "see /srv/app/x.txt")], ("- /srv/app", "/x.txt", "done"))
    assert "/srv/app/x.txt" in canons(record, "coverage")


def test_112_five_thousand_paths_are_capped_the_same_way_each_time():
    paths = "\n".join(f"/srv/d{n}/{'abc' if n % 2 else 'x'}{n % 7}/file{n}.txt" for n in range(5000))
    case = build([("tool_args", "ls\n" + paths), ("human", "go")], "- listed")
    one, two = dumps(audit(case, Policy())), dumps(audit(case, Policy(), Growing()))
    assert one == two
    lost = json.loads(one)["coverage"]
    assert len(lost["lost"]) <= 20
    many = build([("human", "\n".join(f"/srv/{chr(97 + n % 26)}{n}/f.txt" for n in range(500)))], "- listed")
    record = audit(many, Policy())
    assert record["coverage"]["truncated"] is True
    assert len(record["coverage"]["lost"]) == 200
    assert record["coverage"]["keyFacts"] == 500


def test_tool_only_rows_are_capped_and_the_rest_is_counted():
    text = "\n".join(f"{'abcdefghijklmnopqrstuvwxyz'[n]}-path: /srv/{'q' * (n + 1)}/x.txt" for n in range(6))
    pieces = [("tool_result", text), ("tool_result", text.replace("/srv/", "/opt/"))]
    record = record_of(pieces, "- nothing here", Policy(tool_only_max=5, family_min=99))
    assert len(record["coverage"]["lost"]) == 5
    assert record["coverage"]["toolOnly"]["rowsCut"] == record["coverage"]["toolOnly"]["facts"] - 5


def test_look_alikes_become_one_row():
    text = "kept: " + " ".join(f"/data/part-{n:03}.txt" for n in range(8))
    record = record_of([("assistant", text)], "- nothing here at all")
    (only,) = record["coverage"]["lost"]
    assert only["family"]["size"] == 8
    assert only["family"]["members"][0] == "/data/part-000.txt"
    assert only["weight"] == 12.0
    people = record_of([("human", text)], "- nothing here at all")
    assert len(people["coverage"]["lost"]) == 8


@pytest.mark.parametrize("text", ["/" * 500_000, "a/" * 250_000, '"' * 200_000, "1,1" * 150_000, "不是" * 100_000])
def test_114_hostile_texts_end_in_time(text: str):
    start = time.perf_counter()
    for source in ("human", "assistant", "tool_result"):
        record_of([(source, text)], "- see /srv/a.txt and 30 s")
    errors = record_of([("human", "hi")], text)["errors"]
    assert [error["message"] for error in errors] == (["block_truncated"] if "/" in text else [])
    assert time.perf_counter() - start < 20


def _raise(*_: object, **__: object) -> None:
    raise ValueError("broken on purpose")


def test_115_a_broken_fidelity_leaves_the_others(monkeypatch):
    monkeypatch.setattr(fidelity_module, "judged_lines", _raise)
    record = record_of([("human", "see /a/b.txt")], "- none", Policy(vocabulary=Vocabulary(keep=("see",))))
    assert record["fidelity"] is None
    assert record["errors"] == [{"stage": "fidelity", "message": "ValueError: broken on purpose"}]
    assert canons(record, "coverage") == ["/a/b.txt"]
    assert record["compliance"]["missing"][0]["term"] == "see"


def test_115_a_broken_coverage_leaves_the_others(monkeypatch):
    monkeypatch.setattr(coverage_module, "demands", _raise)
    record = record_of([("human", "see /a/b.txt")], "- /a/c.txt")
    assert record["coverage"] is None
    assert canons(record) == ["/a/c.txt"]
    assert [error["stage"] for error in record["errors"]] == ["coverage"]


def test_115_a_broken_extractor_leaves_compliance(monkeypatch):
    monkeypatch.setattr(pool_module.factlib, "scan", _raise)
    record = record_of([("human", "see /a/b.txt")], "- /a/c.txt", Policy(vocabulary=Vocabulary(drop=("/a/c",))))
    assert (record["fidelity"], record["coverage"]) == (None, None)
    assert record["compliance"]["superseded"][0]["term"] == "/a/c"
    assert [error["stage"] for error in record["errors"]] == ["summary", "leaves"]
    assert dumps(record)


def test_a_place_that_cannot_be_read_breaks_only_fidelity():
    record = record_of([("human", "see /a/b.txt")], "- /a/c.txt", elsewhere=Elsewhere(state=_raise))
    assert record["fidelity"] is None
    assert canons(record, "coverage") == ["/a/b.txt"]


def _block_truncated(record, side="leaf"):
    return [
        error["unread"] for error in record["errors"] if error["message"] == "block_truncated" and error["side"] == side
    ]


def test_a_block_over_one_mebibyte_is_named():
    record = record_of([("human", "x " * 600_000)], "- fine")
    unread = 1_200_000 - (1 << 20)
    row = {"stage": "extract", "message": "block_truncated", "side": "leaf", "seq": 0, "block": 0, "unread": unread}
    assert row in record["errors"]


def test_a_block_with_too_many_facts_and_an_endless_run_are_named():
    assert _block_truncated(record_of([("human", "1个" * 60_000)], "- fine")) == [20_000]
    assert _block_truncated(record_of([("assistant", "/" + "x" * 40_000)], "- fine")) == [40_001 - (1 << 15)]
    assert _block_truncated(record_of([("human", "see /a/b.txt")], "a/" * 20_000), "summary") == [40_000 - (1 << 15)]
    assert _block_truncated(record_of([("human", "see /a/b.txt")], "- /a/b.txt")) == []


def test_many_rules_before_a_huge_summary_are_judged_as_far_as_the_effort_goes():
    rules = "".join(f"Never edit src/a{n}.py without asking.\n" for n in range(400))
    summary = "## Notes\n" + "".join(f"- must not edit src/b{n}.py at all\n" for n in range(9_000))
    start = time.process_time()
    record = record_of([("human", rules)], summary)
    assert time.process_time() - start < 8
    (row,) = (error for error in record["errors"] if error["message"] == "demands_not_judged")
    assert 0 < row["count"] == record["coverage"]["unscored"] < 400


def test_lines_of_a_summary_beyond_the_bound_are_named():
    summary = "- must not edit src/b.py\n" * 10_100
    assert _block_truncated(record_of([("human", "Never edit src/a.py.")], summary), "summary") == [100 * 25]


def test_lone_surrogates_and_nul_do_not_break_the_bytes():
    record = record_of([("human", "see /a/\ud800b.txt \x00 /c/d.txt")], "- \udfff /e/f\ud800.txt")
    assert json.loads(dumps(record))["schema"] == "audit.signals/1"


def test_leaves_shared_over_nested_compactions_changes_nothing():
    shared = Growing()
    pieces = [("human", "see /a/b.txt"), ("tool_result", "port: 8443\nmem: 1536 MB"), ("assistant", "wrote /c/d.txt")]
    for count in (1, 2, 3):
        case = build(pieces[:count], "- /a/b.txt and 1537 MB")
        assert dumps(audit(case, Policy(), shared)) == dumps(audit(case, Policy()))


_SCRIPT = """
import hashlib, json, sys
from audit.core.evaluate import case_of
from audit.core.policy import Policy, Vocabulary
from audit.core.record import audit, dumps
digest = hashlib.sha256()
for name in sys.argv[1:]:
    for labelled in json.load(open(name, encoding="utf-8")):
        policy = Policy(vocabulary=Vocabulary(keep=("b", "a", "的"), drop=("the",)))
        digest.update(dumps(audit(case_of(labelled), policy)))
print(digest.hexdigest())
"""


def test_records_are_the_same_bytes_under_any_hash_seed():
    files = [str(CASES / "cases-a.json"), str(CASES / "cases-b.json")]
    digests = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", _SCRIPT, *files]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
        digests.add(done.stdout)
    assert len(digests) == 1
    digest = hashlib.sha256()
    vocabulary = Vocabulary(keep=("b", "a", "的"), drop=("the",))
    for name in files:
        for labelled in json.loads(Path(name).read_text(encoding="utf-8")):
            digest.update(dumps(audit(case_of(labelled), Policy(vocabulary=vocabulary))))
    assert digests == {digest.hexdigest() + "\n"}


TEXT = st.text(max_size=120) | st.lists(
    st.sampled_from(
        [
            *"/.-:,→（）\n ，。",
            "src/",
            "a.py",
            "30",
            " s",
            "12 MB",
            "不是",
            "改成",
            "never ",
            "user said ",
            '"',
            "v1.2.3",
        ]
    ),
    max_size=30,
).map("".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SOURCES), TEXT), max_size=5), st.lists(TEXT, max_size=3))
def test_any_input_gives_a_record_without_errors(pieces, summary):
    record = record_of(pieces, summary)
    assert record["errors"] == []
    for axis, whole, part in (("fidelity", "asserted", "verified"), ("coverage", "keyFacts", "kept")):
        counts = record[axis]
        assert sum(one[whole] for one in counts["classes"].values()) == counts[whole]
        assert sum(one[part] for one in counts["classes"].values()) == counts[part] <= counts[whole]
    assert dumps(record) == dumps(record_of(pieces, summary))
