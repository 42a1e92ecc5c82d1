"""Matching, altered copies, neighbours, families and aliases of facts (COMPACTION-AUDIT §6 and rows 97–101)."""

from __future__ import annotations

import pytest

from audit.core.facts import (
    Fact,
    Haystack,
    aliases,
    altered,
    bare_number,
    extract,
    key,
    label_before,
    near,
    needle,
    occurs,
    occurs_in,
    same,
    shape,
)


def one(text: str) -> Fact:
    (fact,) = extract(text)
    return fact


OCCURS = [
    ("1,024 MB", "has 1024MB free", True),  # row 97
    ("1024 MB", "has 1 GB free", False),  # row 98
    ("src/x.ts", "open /repo/src/x.ts", True),  # row 99
    ("src/x.ts", "open src/x.tsx", False),  # row 100
    ("/etc/hosts", "see /etc/hosts.allow", False),  # row 101
    ("/etc/hosts.allow", "see /etc/hosts", False),
    ("/etc/hosts", "see /etc/hosts.", True),
    ("/etc/hosts", "/backup/etc/hosts", False),
    ("./output/图表.png", "写入 output/图表.png", True),
    ("loader.py", "/app/ingest/loader.py:214", True),
    ("D:\\Work\\A.txt", "d:/work/a.txt", True),
    ("work/a.txt", "在 D:\\Work\\A.txt", True),
    ("1090FA52-58F8-4C98-A426-A3EB02954016", "x 1090fa52-58f8-4c98-a426-a3eb02954016", True),
    ("run 1090fa52", "1090fa52-58f8-4c98-a426-a3eb02954016", False),  # a cut UUID
    ("run 1090fa52", "run (1090fa52).", True),
    ("commit 8fa3c21", "commit 8fa3c21d", False),
    ("3 retries", "重试 3 次", True),
    ("50 条", "50 records", True),
    ("50 条", "50 ms", False),
    ("500 行", "500 rows", True),
    ("30 秒", "30 seconds", True),
    ("64K tokens", "65536 tokens", False),
    ("3.50 s", "took 3.5s", True),
    ("v2.4.1", "image: api:2.4.1", True),
    ("v2.4.1", "2.4.11", False),
    ("Django 5.2.1", "5.2.1.", True),
    ("port 5433", "pg-prod-02:5433", True),
    ("port 5433", "15433", False),
    ("10.8.0.12:8443", "at 10.8.0.12", False),
    ("10.8.0.12", "at 10.8.0.12:8443", True),
    ("at 03:14", '"2026-11-02T03:14:00Z"', True),
    ("2026-11-02", "2026-11-02 03:14", True),
    ("at 22:30", "23:30", False),
    ("OPS-4821", "ops-4821 done", True),
    ("OPS-482", "OPS-4821", False),
]


@pytest.mark.parametrize(("fact", "text", "found"), OCCURS)
def test_a_fact_occurs_in_a_text(fact: str, text: str, found: bool) -> None:
    assert occurs(one(fact), text) is found


@pytest.mark.parametrize(("fact", "text", "found"), OCCURS)
def test_the_fast_search_agrees_with_the_slow_one(fact: str, text: str, found: bool) -> None:
    padded = "lorem ipsum 12\n" * 200 + text + "\n" + "dolor 3 sit\n" * 200
    assert occurs_in(one(fact), padded) is found
    assert occurs_in(one(fact), Haystack("x " * 3000 + text + " y" * 3000)) is found


@pytest.mark.parametrize(
    "text", ["1,024 MB", "src/a/x.ts", "D:\\A\\B.txt", "v1.2.3", "3 次", "0.80 s", "localhost:6379"]
)
def test_the_needle_stands_in_the_text(text: str) -> None:
    assert needle(one(text)).lower() in text.lower()


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("OPS-4812", "OPS-4821", True),
        ("$1,520", "$1250", True),
        ("16 ms", "61 ms", True),
        ("16 ms", "84 ms", False),
        ("1024 MB", "1025 MB", True),
        ("1024 MB", "1025 GB", False),
        ("5.2.11 v5.2.11", "v5.2.1", True),
        ("/v2/account", "/v2/accounts", True),
        ("D:\\项目\\2026-10.log", "D:\\项目\\2026-11.log", True),
        ("src/a/x.ts", "lib/b/x.ts", False),
        ("a8f5f167f44f4964e6c998dee827110d", "a8f5f167f44f4964e6c998dee827110c", True),
        ("8fa3c21", "8fa3c21d", True),
        ("22:30", "23:30", True),
        ("3 files", "3 files", False),
    ],
)
def test_altered_copies(a: str, b: str, expected: bool) -> None:
    assert altered(extract(a)[0], one(b)) is expected


def test_a_number_under_the_same_label_is_altered() -> None:
    a, b = "超时 60 秒", "批大小 2000 行,超时为 90 秒"
    x, y = one(a), extract(b)[1]
    assert not altered(x, y)
    assert label_before(a, x.start) == label_before(b, y.start) == "超时"
    assert altered(x, y, "超时", "超时")


def test_a_uuid_cut_to_its_first_block_is_altered() -> None:
    assert altered(one("run 4be1a2c7"), one("4be1a2c7-90d3-4f5e-8b6a-1122334455ff"))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Timeout is 30 s", "timeout"),
        ("pool: 4 workers", "pool"),
        ("\n5 ms", ""),
        ("最多约 5 条", ""),
        ("Size = `3 GB`", "size"),
    ],
)
def test_labels(text: str, label: str) -> None:
    assert label_before(text, one(text).start) == label


def test_near_links_what_a_reviewer_compares() -> None:
    assert near(one("1 GB"), extract("1024 MB, 30 s, 3 files")).canon == "1024 MB"  # type: ignore[union-attr]
    assert near(one("1025 MB"), extract("2 GB and 1024 MB and 9 MB")).canon == "1024 MB"  # type: ignore[union-attr]
    assert near(one("lib/x.ts"), extract("/a/x.ts, /repo/lib/x.ts, y.ts")).canon == "/repo/lib/x.ts"  # type: ignore[union-attr]
    assert near(one("OPS-4812"), extract("OPS-4821 OPS-1")).canon == "OPS-4821"  # type: ignore[union-attr]
    assert near(one("3 files"), extract("5 ms /etc/hosts")) is None


def test_families() -> None:
    assert shape(one("src/mod_12.py")) == shape(one("src/mod_7.py"))
    assert shape(one("commit 8fa3c21d")) == shape(one("commit 77ab01cd9e"))
    assert shape(one("3 files")) != shape(one("3 lines"))


def test_aliases_join_relative_and_absolute_paths() -> None:
    facts = extract("/repo/src/x.ts src/x.ts /other/lib/y.ts lib/y.ts z.ts /a/z.ts /b/z.ts")
    joined = aliases(facts, "/repo")
    assert joined[("file_path", "src/x.ts")] == ("abs_path", "/repo/src/x.ts")
    assert joined[("file_path", "lib/y.ts")] == ("abs_path", "/other/lib/y.ts")
    assert ("file_path", "z.ts") not in joined


def test_aliases_of_a_windows_directory() -> None:
    facts = extract("C:\\Repo\\src\\x.ts src/x.ts")
    assert aliases(facts, "C:\\Repo")[("file_path", "src/x.ts")] == key(facts[0])


def test_same_is_symmetric_for_generic_counters() -> None:
    a, b = one("3 retries"), one("3 次")
    assert same(a, b)
    assert same(b, a)
    assert not same(one("3 retries"), one("4 次"))
    assert not same(one("3 retries"), one("3 tests"))


@pytest.mark.parametrize(
    ("fact", "text", "kept"),
    [
        ("600 requests", "limit 600/min", True),
        ("600 requests", "6000", False),
        ("60 requests", "limit 60", False),
        ("1,204 items", "1,204 on", True),
    ],
)
def test_a_bare_number_of_three_digits_keeps_a_count(fact: str, text: str, kept: bool) -> None:
    assert bare_number(one(fact), text) is kept
