"""Marks stand where their text is, on both sides, and are linked across them; made from the run that made the record."""

from __future__ import annotations

import pytest

from audit.core.case import AuditCase
from audit.core.marks import JOINT, Marked, by_text, fact_key, marked
from audit.core.policy import Policy, Vocabulary
from audit.core.record import run
from audit.tests.core.build import build
from audit.tests.core.logs import DATA, cases_of_log

LOGS = sorted((DATA / "corpus").rglob("session*.jsonl*"))


def facts_of(case: AuditCase, policy: Policy | None = None) -> dict[tuple[str, str], Marked]:
    policy = policy or Policy()
    return {(fact.cls, fact.canon): fact for fact in marked(case, run(case, policy))}


def texts_of(case: AuditCase) -> dict[int, str]:
    return {leaf.seq: JOINT.join(block.text for block in leaf.blocks) for leaf in case.leaves}


def at(text: str, place: tuple[int, int, int]) -> str:
    return text[place[1] : place[2]]


def test_every_fact_has_its_fate_and_its_places():
    case = build(
        [
            ("human", "see /srv/a/b.txt and /srv/c/d.txt; 不是 8080，是 9090; keep 术语甲"),
            ("assistant", "ok 9 MB, 9 MB"),
        ],
        "- see /srv/a/b.txt and /srv/e/f.txt on port 8080, 坏词",
    )
    found = facts_of(case, Policy(vocabulary=Vocabulary(keep=("术语甲",), drop=("坏词",))))
    texts, summary = texts_of(case), case.summary[0]
    kept = found["abs_path", "/srv/a/b.txt"]
    assert (kept.fate, kept.claim, kept.sources) == ("kept", "verified", ("human",))
    assert [at(texts[place[0]], place) for place in kept.leaves] == ["/srv/a/b.txt"]
    assert [at(summary, place) for place in kept.summary] == ["/srv/a/b.txt"]
    lost, unverified = found["abs_path", "/srv/c/d.txt"], found["abs_path", "/srv/e/f.txt"]
    assert (lost.fate, lost.claim, lost.summary) == ("lost", "", [])
    assert (unverified.fate, unverified.claim, unverified.leaves) == ("", "unverified", [])
    stale = found["user_correction", "8080→9090"]
    assert stale.fate == "stale"
    assert [at(summary, place) for place in stale.summary] == ["8080"], "it points at the old value in the summary"
    assert found["keep", "术语甲"].fate == "missing"
    assert [at(texts[place[0]], place) for place in found["keep", "术语甲"].leaves] == ["术语甲"]
    assert found["drop", "坏词"].claim == "superseded"


def test_an_altered_fact_and_its_original_name_each_other():
    case = build([("human", "The cache limit is 64 MiB.")], "- the cache limit is 46 MiB")
    found = facts_of(case)
    asserted, original = found["number_unit", "46 MiB"], found["number_unit", "64 MiB"]
    assert (asserted.claim, original.fate) == ("altered", "altered")
    assert asserted.pair == ("number_unit", "64 MiB")
    assert original.pair == ("number_unit", "46 MiB")


def test_a_path_under_a_shorter_name_is_linked():
    case = build([("human", "Change PORT in /srv/demo/src/server.py now.")], "- change PORT in src/server.py")
    found = facts_of(case)
    assert found["abs_path", "/srv/demo/src/server.py"].pair == ("file_path", "src/server.py")
    assert found["file_path", "src/server.py"].pair == ("abs_path", "/srv/demo/src/server.py")


def test_facts_come_in_reading_order_and_places_by_text():
    case = build([("human", "b is /srv/b.txt, a is /srv/a.txt")], "- /srv/z.txt and /srv/a.txt")
    facts = marked(case, run(case, Policy()))
    assert [fact.canon for fact in facts] == ["/srv/b.txt", "/srv/a.txt", "/srv/z.txt"]
    assert by_text(facts)[case.leaves[0].seq] == [(5, 15, 0), (22, 32, 1)]
    assert [number for _, _, number in by_text(facts, summary=True)[0]] == [2, 1]
    assert facts[0].key == fact_key("abs_path", "/srv/b.txt")


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.relative_to(DATA / "corpus").parts[0] + log.parent.name[-6:])
def test_every_mark_of_recorded_logs_of_all_formats_stands_on_its_text(log):
    for case in cases_of_log(log):
        done = run(case, Policy())
        before = dict(done.record)
        texts = texts_of(case)
        for fact in marked(case, done):
            spellings = {at(texts[place[0]], place) for place in fact.leaves}
            spellings |= {case.summary[place[0]][place[1] : place[2]] for place in fact.summary}
            assert all(one.strip() for one in spellings)
            assert fact.leaves or fact.summary
            if fact.cls in ("uuid", "abs_path", "file_path"):
                last = fact.canon.rsplit("/", 1)[-1].lower()
                assert all(last in one.lower() for one in spellings), (fact, spellings)
        assert done.record == before
