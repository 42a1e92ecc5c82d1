"""P10: the secret scan against one `re` alternation of the same patterns; text and patterns as `bench.p10_redact` makes them."""

from __future__ import annotations

from bench.measure import Pairs, Row, interleaved, row, timed
from bench.p10_redact import corpus, peer
from dshweb.text.redact import Masker

SIZE = 8_000_000
SHARE = 16  # the peer gets a part of the text, since it is so much slower; both sides are seconds a megabyte


def p10() -> list[Row]:
    text = corpus(SIZE)
    part = text[: SIZE // SHARE]
    masker, alternation = Masker(), peer()
    assert masker.mask_text(text) == text
    assert alternation.search(part) is None
    whole, less = (len(piece.encode()) / 1e6 for piece in (text, part))
    ours = timed(lambda: masker.mask_text(text), 3)
    theirs = timed(lambda: alternation.search(part))
    figures = interleaved(lambda: ours() / whole, lambda: theirs() / less)
    note = f"{1 / min(figures[0]):.0f} MB/s against {1 / min(figures[1]):.1f} MB/s at best; times are for 1 MB"
    what = "secret scan of text without secrets, faster than one `re` alternation of the same patterns"
    return [row("P10", what, Pairs(figures[0], figures[1]), must=20, stretch=60, faster=True, note=note)]
