"""Leaves shared by nested compactions: the same records as alone, and no work done twice (counted, not timed)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.core.case import AuditCase
from audit.core.extraction import FactCache, Rules
from audit.core.growing import Growing
from audit.core.leaffacts import LeafFacts
from audit.core.policy import Policy
from audit.core.record import audit, dumps
from audit.tests.core.build import build
from dshweb.sessionlog.core.leaves import SOURCES, Leaf, Source

Piece = tuple[Source, str]


def calls_of(work: Callable[[], object]) -> Counter[str]:
    """How often each function of the audit is called while `work` is done."""
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and "/audit/core/" in frame.f_code.co_filename.replace("\\", "/"):
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def conversation(turns: int) -> list[Piece]:
    pieces: list[Piece] = []
    for n in range(turns):
        pieces += [
            ("human", f"Never touch src/part{n:03}/{n:03}main.py, the limit of part{n:03} is {n + 100} MB."),
            (
                "assistant",
                f"Read /srv/app/src/part{n:03}/{n:03}main.py, job {n:08x}-1111-4222-8333-444455556666, took {n + 30} s.",
            ),
            ("tool_args", f"read\nsrc/part{n:03}/{n:03}main.py"),
            (
                "tool_result",
                f"id: {n:08x}-9999-4222-8333-444455556666\nport: {9000 + n}\nlines: {n + 500}\n" + "text\n" * 20,
            ),
        ]
    return pieces


def nested(turns: int) -> list[AuditCase]:
    """A summary after every turn, each over all leaves before it; it keeps one fact, alters one and makes one up."""
    pieces = conversation(turns)
    return [
        build(
            pieces[: 4 * n + 4],
            f"- src/part{n:03}/{n:03}main.py has {n + 100} MB, not {n + 431} s; see /srv/none/of{n}.py and 7{n:02} MB.",
            cwd="/srv/app",
        )
        for n in range(turns)
    ]


def audit_nested(turns: int) -> list[bytes]:
    shared = Growing()
    return [dumps(audit(case, Policy(), shared)) for case in nested(turns)]


def test_work_on_leaves_grows_with_the_leaves_not_with_compactions_times_leaves():
    few, many = calls_of(lambda: audit_nested(10)), calls_of(lambda: audit_nested(40))
    for calls, turns in ((few, 10), (many, 40)):
        assert calls["LeafFacts.add"] == calls["LeafTexts.add"] == calls["Stated.add"] == 4 * turns
        assert calls["block_facts"] == 4 * turns + turns  # each leaf block once, and each summary
    for name in (
        "scan",
        "Haystack.__init__",
        "is_key",
        "label_before",
        "corrections",
        "needle",
        "Asserted.kept",
        "_lost",
    ):
        assert few[name] > 0, name
        assert many[name] <= 4 * 1.5 * few[name], (name, few[name], many[name])


def test_records_of_nested_compactions_are_those_of_each_alone():
    for case, record in zip(nested(6), audit_nested(6), strict=True):
        assert record == dumps(audit(case, Policy()))


TEXTS = (
    "see src/a.py and /repo/src/a.py",
    "a.py, ./src/a.py or b/src/a.py",
    "C:\\Repo\\Src\\X.ts and Src/X.ts",
    "never touch src/a.py; use 30 rows, not 20 rows",
    "limit: 1536 MB\nport: 8443",
    "1537 MB, mean tokens: 412, 412 tokens",
    "deadbeefcafe and deadbeef, 0xdeadbeef",
    "see report-final.json (2026-09-21 10:00), v1.2.3",
    "批大小改成 500 行, 不要 200 行",
    "user said: never touch src/a.py",
    "",
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(SOURCES), st.sampled_from(TEXTS)), min_size=1, max_size=12),
    st.lists(
        st.tuples(
            st.integers(1, 12),
            st.lists(st.sampled_from(TEXTS), max_size=3),
            st.sampled_from(["/repo", "C:\\Repo", None]),
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_any_order_of_compactions_gives_the_records_of_each_alone(
    pieces: list[Piece], asked: list[tuple[int, list[str], str | None]]
):
    shared = Growing()
    for count, summary, cwd in asked:
        case = build(pieces[:count], summary, cwd=cwd)
        assert dumps(audit(case, Policy(), shared)) == dumps(audit(case, Policy()))


def test_another_policy_or_other_leaves_start_anew():
    shared = Growing()
    for policy in (Policy(), Policy(extended_classes=False), Policy(critical_number_count=1), Policy()):
        for pieces in (conversation(2), conversation(3), conversation(3)[4:], conversation(1)):
            case = build(pieces, "- 130 MB, port 9001, src/part000/main.py")
            assert dumps(audit(case, policy, shared)) == dumps(audit(case, policy))


class Fragile:
    """Breaks at the third leaf, the first time it is given it."""

    broken = False

    def __init__(self) -> None:
        self.seqs: list[int] = []

    @classmethod
    def empty(cls, _cache: FactCache, _rules: Rules) -> Self:
        return cls()

    def add(self, leaf: Leaf) -> None:
        self.seqs.append(leaf.seq)
        if leaf.seq == 2 and not Fragile.broken:
            Fragile.broken = True
            raise ValueError("broken")


def test_a_part_that_broke_is_made_anew_with_every_leaf_once():
    shared = Growing()
    leaves = build([("human", "x")] * 5, "").leaves
    with pytest.raises(ValueError, match="broken"):
        shared.at(leaves, Policy()).part(Fragile)
    assert shared.part(Fragile).seqs == [0, 1, 2, 3, 4]


def _pool(pieces: Sequence[Piece], shared: Growing) -> list[tuple[str, int]]:
    pool = shared.at(build(pieces, "").leaves, Policy()).part(LeafFacts).merged("/repo")
    return [(entry.fact.canon, entry.times) for entry in pool]


def test_a_path_found_later_takes_in_the_short_names_before_it():
    shared = Growing()
    pieces: list[Piece] = [("human", "src/a.py"), ("human", "/repo/src/a.py"), ("human", "src/a.py and src/a.py")]
    assert _pool(pieces[:1], shared) == [("src/a.py", 1)]
    assert _pool(pieces[:2], shared) == [("/repo/src/a.py", 2)]
    assert _pool(pieces, shared) == [("/repo/src/a.py", 4)]
