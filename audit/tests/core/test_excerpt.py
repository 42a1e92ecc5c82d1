"""Cutting a text for reading loses nothing and keeps every mark where it stands."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from audit.core.excerpt import BUDGET, WHOLE_CHARS, Interval, Piece, excerpt, segments

SPANS = st.lists(st.tuples(st.integers(-5, 90), st.integers(-5, 90), st.sampled_from("abcdef")), max_size=12)


@given(st.text(max_size=80), SPANS, st.integers(0, 80), st.integers(0, 80))
def test_pieces_join_to_the_text_and_hold_every_span(text, spans, low, high):
    start, end = min(low, high, len(text)), min(max(low, high), len(text))
    pieces = segments(spans, start, end)
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text[start:end]
    assert all(piece.start < piece.end for piece in pieces)
    for a, b, item in spans:
        inside = a < b and max(a, start) < min(b, end)
        holding = [piece for piece in pieces if item in piece.items]
        if inside:
            assert any(p.start <= max(a, start) and min(b, end) <= p.end for p in holding)


def test_overlapping_spans_are_one_piece_the_longest_first():
    assert segments([(2, 4, "in"), (0, 6, "out"), (8, 9, "x")], 0, 10) == [
        Piece(0, 6, ("out", "in")),
        Piece(6, 8),
        Piece(8, 9, ("x",)),
        Piece(9, 10),
    ]


PLACES = st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 40)), max_size=20)


@given(st.integers(0, 9000), st.integers(1, 400), PLACES, PLACES)
def test_intervals_join_to_the_text_and_show_what_is_wanted(size, line, places, wanted):
    text = ("x" * line + "\n") * (size // (line + 1))
    spans, asked = ([(a, a + n) for a, n in rows if a + n <= len(text)] for rows in (places, wanted))
    found = excerpt(text, spans, wanted=asked)
    at = 0
    for one in found:
        assert one.start == at
        assert one.end > at
        at = one.end
    assert at == len(text)
    assert all(a.shown != b.shown for a, b in itertools.pairwise(found))
    for start, end in asked[:1]:
        assert start == end or any(one.shown and one.start <= start and end <= one.end for one in found)


def test_a_short_text_is_shown_whole_and_a_long_one_stays_within_its_budget():
    assert excerpt("a\nb", [(0, 1)]) == [Interval(0, 3, shown=True)]
    text = "line of a tool\n" * 20_000
    found = excerpt(text, [(n, n + 4) for n in range(0, len(text), 300)])
    assert sum(one.end - one.start for one in found if one.shown) < BUDGET + WHOLE_CHARS
    assert len(found) < 60
