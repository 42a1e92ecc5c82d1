"""Labelled conversations (tests/data/audit-cases): the figures that the README states, and how rows hit labels."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from audit.core.evaluate import evaluate
from audit.core.facts import Haystack, beside_unit, extract
from audit.tests.core.logs import DATA, ROOT

CASES = DATA / "audit-cases"


def load(*names: str):
    return [case for name in names for case in json.loads((CASES / f"cases-{name}.json").read_text(encoding="utf-8"))]


def test_the_given_sets_reach_the_goal():
    report = evaluate(load("a", "b"))
    assert report.overall.precision >= 0.95, report.wrong
    assert report.overall.recall >= 0.95, report.wrong


def test_all_sets_keep_what_they_have_reached():
    report = evaluate(load("a", "b", "c", "d", "e", "f", "g", "h"))
    assert report.overall.precision >= 0.97, report.wrong
    assert report.overall.recall >= 0.93, report.wrong


def test_a_row_that_hits_no_label_is_a_false_alarm_and_a_label_without_row_a_miss():
    labelled = {
        "name": "x",
        "leaves": [{"by": "human", "text": "see /srv/a/b.txt and /srv/c/d.txt"}],
        "summary": "- see /srv/e/f.txt and nothing else",
        "unverified": [],
        "lost": ["/srv/a/b.txt", "never seen"],
        "tolerated": ["/srv/c/d.txt"],
    }
    overall = evaluate([labelled]).overall
    assert (overall.rows, overall.false_alarms, overall.labels, overall.misses) == (1, 1, 1, 1)


def test_one_command_prints_the_figures():
    command = [sys.executable, "-m", "audit.evaluate", str(CASES / "cases-a.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "overall" in done.stdout
    assert "lost/user_correction" in done.stdout
    broken = subprocess.run([*command, "nowhere.json"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert broken.returncode == 1


@pytest.mark.parametrize(
    ("text", "canons"),
    [
        ("submission id 1764, seed 90125", ["1764", "90125"]),
        ("商户号 80031177，appId=104882913", ["80031177", "104882913"]),
        ("寄存器 40021 到 40036", ["40021", "40036"]),
        ("base 0x40011000", ["0x40011000"]),
        ("env PARTNER_HOOK_SECRET.", ["PARTNER_HOOK_SECRET"]),
        ("doi 10.5555/slp.2021.0417.", ["10.5555/slp.2021.0417"]),
        ("s3://acme-lake/sessions/v2/.", ["s3://acme-lake/sessions/v2"]),
        ("exit code 137, idea 2000, run 20261130, id 12", []),
        ("the job took 1200 ms, order 300 元, https://x.io/id/12345", []),
    ],
)
def test_identifiers(text: str, canons: list[str]):
    assert [fact.canon for fact in extract(text) if fact.cls == "identifier"] == canons


@pytest.mark.parametrize(
    ("asserted", "leaf", "found"),
    [
        ("412 tokens", "mean tokens: 412", True),
        ("48 个分区", "topic x,分区 48", True),
        ("30 seconds", "compares with 30 instead of 300 seconds", True),
        ("1204 items", "items on the queue: 1,204", True),
        ("30 seconds", "30 ms, then 5 seconds", False),
        ("41 tokens", "mean tokens: 412", False),
        ("48 tokens", "48 of them\nand tokens", False),
    ],
)
def test_a_number_beside_its_unit(asserted: str, leaf: str, found: bool):
    (fact,) = extract(asserted)
    assert beside_unit(fact, Haystack(leaf)) is found
