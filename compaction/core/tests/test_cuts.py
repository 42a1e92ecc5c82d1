"""The packed table says what `select` says, for every retained tail, and a look-up does not grow with the surface."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.core.cuts import Cut, cut_at, pack_cuts
from compaction.core.select import Selection, select, select_ends
from compaction.core.surface_price import Node, PricedSurface

from .recorded import LOGS, tell


def surface_of(nodes):
    """A surface that holds these nodes."""
    return PricedSurface.from_json({
        "seqs": [n.seq for n in nodes], "tokens": [-1 if n.tokens is None else n.tokens for n in nodes],
        "balance": [n.balance for n in nodes], "chars": {}, "system": [n.seq for n in nodes if n.system], "attached": [],
        "problem": None,
    })  # fmt: skip


surfaces = st.lists(st.tuples(st.integers(0, 40), st.integers(-2, 2)), max_size=12)


def as_cut(selection):
    found = selection.range
    if found is None:
        return Cut(None, None, None, None, selection.refusal)
    return Cut(found.start, found.end, found.tokens, found.retained)


@given(surfaces, st.integers(0, 300), st.booleans())
def test_a_look_up_equals_a_selection(parts, retain, system):
    nodes = [Node(500 - n, price, balance, system=system and n == 0) for n, (price, balance) in enumerate(parts)]
    selected = select(nodes, retain)
    assert cut_at(pack_cuts(nodes), retain) == as_cut(selected)
    assert as_cut(Selection(*select_ends(surface_of(nodes), retain))) == as_cut(selected)


def test_ends_are_selected_by_walking_the_tail_alone():
    surface = surface_of([Node(seq, 10) for seq in range(50_000)])
    walked = 0

    class Counted(PricedSurface):
        def __reversed__(self):
            nonlocal walked
            for node in super().__reversed__():
                walked += 1
                yield node

    surface.__class__ = Counted
    found, _ = select_ends(surface, 95)
    assert (found.start, found.end, found.retained, walked) == (0, 49_989, 100, 11)


@pytest.mark.parametrize(("scenario", "path"), LOGS[::4])
def test_it_holds_for_recorded_surfaces(scenario, path):
    nodes = tell(scenario, path).replay.nodes()
    table = pack_cuts(nodes)
    for retain in range(0, 12_000, 250):
        assert cut_at(table, retain) == as_cut(select(nodes, retain))


def test_a_node_without_a_price_has_no_table():
    assert pack_cuts([Node(0, 5, system=True), Node(1, None), Node(2, 5)]) is None
    assert pack_cuts([Node(0, None, system=True), Node(1, 5), Node(2, 5)]) is None
    assert select_ends(surface_of([Node(0, 5), Node(1, None), Node(2, 5)]), 1) == (None, "unpriced")


@pytest.mark.parametrize("table", [b"", b"12345678", b"\0" * 40, b"\1" + b"\0" * 47])
def test_other_bytes_are_refused(table):
    with pytest.raises(ValueError):
        cut_at(table, 0)
