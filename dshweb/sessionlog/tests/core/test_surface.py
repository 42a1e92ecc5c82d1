"""The surface fold, against a plain list."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from dshweb.sessionlog.core.events import Event, Replace
from dshweb.sessionlog.core.surface import Surface


def event(seq: int, op) -> Event:
    return Event("user/message", seq, None, msgspec.Raw(b"{}"), seq, op)


def fold(ops) -> Surface:
    surface = Surface()
    for seq, op in enumerate(ops):
        surface.apply(event(seq, op))
    return surface


def test_start_may_be_greater_than_end_after_an_earlier_replacement():
    surface = fold(["append"] * 6 + [Replace(1, 3)])
    assert list(surface) == [0, 6, 4, 5]
    assert surface.apply(event(7, Replace(6, 4))) == (6, 4)
    assert list(surface) == [0, 7, 5]
    assert surface.problems == []


def test_what_cannot_be_folded_is_noted_and_changes_nothing():
    surface = fold(["append", "append", Replace(9, 1), Replace(0, 9), Replace(1, 0)])
    assert list(surface) == [0, 1]
    assert [(p.seq, p.code) for p in surface.problems] == [
        (2, "unknown_start"), (3, "unknown_end"), (4, "start_after_end")]  # fmt: skip
    surface.apply(event(1, "append"))
    assert surface.problems[-1].code == "duplicate_node"


def test_events_without_operation_are_not_on_the_surface():
    assert len(fold([None, None])) == 0


@given(
    st.lists(st.just("append") | st.builds(Replace, st.integers(0, 30), st.integers(0, 30)), max_size=30),
    st.integers(0, 30),
)
def test_it_equals_a_list_and_survives_its_state(ops, cut):
    nodes: list[int] = []
    surface = Surface()
    for seq, op in enumerate(ops):
        if seq == cut:
            surface = Surface.from_json(json.loads(json.dumps(surface.to_json())))
        surface.apply(event(seq, op))
        if op == "append":
            nodes.append(seq)
        elif op.start in nodes and op.end in nodes and nodes.index(op.start) <= nodes.index(op.end):
            nodes[nodes.index(op.start) : nodes.index(op.end) + 1] = [seq]
    assert list(surface) == nodes
    for start in nodes[:3]:
        for end in nodes[:3]:
            span = nodes[nodes.index(start) : nodes.index(end) + 1]
            assert surface.span(start, end) == (span or None)


def test_thousands_of_replacements_are_cheap():
    surface = fold(["append"] * 20_000)
    for n in range(20_000):
        surface.apply(event(20_000 + n, Replace(n, n)))
        surface.apply(event(50_000 + n, Replace(20_000 + n, 0)))  # the end is gone: no walk for it
    assert len(surface) == 20_000
    assert surface.problem_count == 20_000
