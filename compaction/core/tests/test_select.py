"""Range, tool balance and pruning: COMPACTION §6 and §7, fixtures §20.3 and §20.4."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.core.select import PRUNE_MARKER, PruneConfig, open_before, prunable, pruned, select, span_tokens
from compaction.core.surface_price import Node, PricedSurface

from .feeds import call, opened, text


def nodes(*prices, system=True, balance=None):
    balance = balance or [0] * len(prices)
    return [Node(n, p, b, system=system and n == 0) for n, (p, b) in enumerate(zip(prices, balance, strict=True))]


def test_at_least_one_node_is_kept_and_the_system_head_always():
    found = select(nodes(100, 10, 10, 10), 0).range
    assert (found.start, found.end, found.seqs, found.tokens, found.retained) == (1, 2, (1, 2), 20, 10)
    assert select(nodes(100, 10, 10, 10, system=False), 0).range.start == 0


def test_the_tail_is_as_short_as_it_may_be_without_falling_below_what_is_retained():
    assert select(nodes(5, 10, 10, 10, 10), 20).range.seqs == (1, 2)
    assert select(nodes(5, 10, 10, 10, 10), 21).range.seqs == (1,)
    assert select(nodes(5, 10, 10, 10, 10), 31).refusal == "all-retained"


@pytest.mark.parametrize(
    ("surface", "refusal"),
    [([], "empty-surface"), (nodes(5), "all-retained"), (nodes(5, system=False), "all-retained"),
     (nodes(5, 6), "all-retained"), (nodes(5, 1, None, 2), "unpriced")],
)  # fmt: skip
def test_a_refusal_says_why(surface, refusal):
    found = select(surface, 0)
    assert (found.range, found.refusal) == (None, refusal)


def test_no_cut_between_a_call_and_its_result():
    calls = nodes(5, 10, 10, 10, 10, balance=[0, 0, 2, -1, -1])
    assert select(calls, 0).range.seqs == (1,)
    assert select(nodes(5, 10, 10, 10, balance=[0, 2, -1, -1]), 0).refusal == "no-balanced-cut"


def test_an_unfinished_call_at_the_end_moves_the_cut_in_front_of_it():
    open_tail = nodes(5, 10, 10, 10, 10, balance=[0, 0, 1, 0, 0])
    assert open_before(open_tail) == [0, 0, 0, 1, 1, 1]
    assert select(open_tail, 0).range.seqs == (1,)


surfaces = st.lists(st.tuples(st.integers(0, 40), st.integers(-2, 2)), max_size=12)


@given(surfaces, st.integers(0, 200), st.booleans())
def test_the_range_is_the_one_a_search_over_all_cuts_finds(parts, retain, system):
    surface = [Node(100 - n, price, balance, system=system and n == 0) for n, (price, balance) in enumerate(parts)]
    first = 1 if surface and surface[0].system else 0
    cuts = open_before(surface)
    fits = [k for k in range(1, len(surface)) if sum(n.tokens for n in surface[k:]) >= retain and cuts[k] == 0]
    wanted = max(fits, default=0)
    found = select(surface, retain).range
    if wanted <= first:
        assert found is None
    else:
        assert found.seqs == tuple(n.seq for n in surface[first:wanted])
        assert found.tokens == span_tokens(surface[first:wanted])
        assert found.tokens + found.retained == sum(n.tokens for n in surface[first:])


def test_after_nested_compactions_the_order_is_that_of_places_not_of_seqs():
    session = opened()
    head = session.system(text("prompt"))
    old = [session.user(text("a" * 100)), session.user(text("b" * 100))]
    later_system = session.system(text("a later prompt"))
    kept = session.user(text("c" * 100))
    first = session.compact(old[0], old[1], old)
    last = session.user(text("d" * 400))
    replay = session.replay()
    assert [n.seq for n in replay.nodes()] == [head, first, later_system, kept, last]
    found = replay.select(0).range
    assert (found.start, found.end) == (first, kept)
    assert found.start > found.end
    second = session.compact(found.start, found.end, list(found.seqs))
    replay = session.replay()
    assert [n.seq for n in replay.nodes()] == [head, second, last]
    assert span_tokens(replay.meter.surface.span(head, last)) == replay.meter.surface.tokens


def test_a_checkpoint_in_front_has_a_larger_start_than_end():
    session = opened()
    session.user(text("a" * 100))
    session.user(text("b" * 100))
    session.user(text("c" * 100))
    checkpoint = session.compact(2, 3, [2, 3])
    session.user(text("d"))
    found = session.replay().select(0).range
    assert (found.start, found.end, found.seqs) == (checkpoint, 4, (checkpoint, 4))


def test_the_surface_counts_calls_and_the_length_of_results():
    session = opened()
    session.answer(call(ident="1"), text("x"), call(ident="2"))
    session.result(text("中" * 5), {"type": "file"}, text("🙂"))
    found = session.replay().nodes()
    assert [(n.balance, n.chars, n.attached) for n in found] == [(2, 0, False), (-1, 6, True)]
    assert PricedSurface.from_json(session.replay().meter.surface.to_json()).to_json()["chars"] == {"3": 6}


def test_old_results_are_measured_inside_their_wrapper():
    session = opened(version=3)
    session.result({"type": "tool-result", "toolCallId": "c", "content": [text("12345678")]})
    (node,) = session.replay().nodes()
    assert (node.tokens, node.chars) == (2 + 4 + 4 + 4, 8)


def test_only_results_above_the_threshold_are_pruned():
    config = PruneConfig(threshold=50, head=5, tail=3)
    assert [n.seq for n in prunable([Node(1, 9, chars=50), Node(2, 9, chars=51), Node(3, 9)], config)] == [2]
    assert PruneConfig().possible
    assert not PruneConfig(threshold=46, head=5, tail=3).possible
    assert len(PRUNE_MARKER) == 39


def test_pruning_keeps_both_ends_in_code_points_and_every_other_block():
    config = PruneConfig(threshold=50, head=5, tail=3)
    whole = "🙂" * 10 + "x" * 50 + "end"
    cut = pruned([{"type": "image"}, text(whole), {"type": "file"}], config)
    assert cut == [{"type": "image"}, text("🙂" * 5 + PRUNE_MARKER + "end"), {"type": "file"}]
    assert pruned([text("x" * 50)], config) == [text("x" * 50)]
    assert pruned(cut, config) == cut


@pytest.mark.parametrize(
    ("lengths", "left"),
    [
        ([4096, 5000], [4096, 1063]), ([4096, 3100, 1024], [4096, 39, 1024]), ([4096, 0, 5000], [4096, 1063]),
        ([5000, 0, 5000], [4135, 1024]), ([10000, 0], [5159]), ([3000, 1096, 0, 4000, 1024, 0], [3000, 1096, 39, 1024]),
        ([8000, 1, 192, 0], [4966, 1, 192]), ([0, 4095, 4097, 0], [0, 4095, 4097, 0]),
    ],
)  # fmt: skip
def test_several_text_blocks_share_head_and_tail_as_the_harness_was_seen_to_do(lengths, left):
    cut = pruned([text(chr(97 + n) * length) for n, length in enumerate(lengths)])
    assert [len(block["text"]) for block in cut] == left
    assert sum(block["text"].count(PRUNE_MARKER) for block in cut) == (sum(lengths) > 8192)
