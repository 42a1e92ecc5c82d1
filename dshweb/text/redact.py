"""Masking of secrets: one list of patterns for ingest, pages, API, memory and the audit (DECISIONS 4 and 5).

`Masker` replaces every secret by `[redacted:<class>]` and keeps what tells what it was: the key, the word Bearer, the
user and host of a URL. Rule: COMPACTION §15 plus the field reports, see `redact_patterns` (token shapes),
`redact_assign` (key words), `redact_blocks` (private keys, URLs), `redact_json` (values, streams). All patterns run
in RE2 on UTF-8 bytes, so time is linear on any text. A first look with the union of all patterns lets clean text pass
at the speed of one automaton. Passes repeat until nothing changes and replacements are spared: masking is idempotent.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from . import redact_assign, redact_blocks, redact_json, redact_raw
from .redact_patterns import SHAPES, shape_spans
from .redact_spans import NOWHERE, UTF8, Span, back, finder, replace, resolve, union, whole_characters
from .redact_team import Pattern, PatternError, compile_pattern, compile_team

__all__ = ["Masked", "Masker", "Pattern", "PatternError", "compile_pattern"]

ENGINE = 3  # raise when code (not a pattern) changes what is masked: it goes into `Masker.version`
PASSES = 8  # two are usual; the bound is for texts made to need more
_WIDE = "[０-９Ａ-Ｚａ-ｚ＿－]{2}"
_NARROW = {c: c - 0xFEE0 for c in range(0xFF01, 0xFF5F)}


BLOCKS: tuple[str, ...] = (*redact_blocks.PREFILTERS, *redact_assign.PREFILTERS)
_LOOKS = [*(s.first for s in SHAPES), *BLOCKS, _WIDE]
_FIRST = finder(union(_LOOKS))
_FIRST_RAW = finder(union([*_LOOKS, *redact_raw.LOOKS]))
_wide = re.compile(_WIDE)


@dataclass(frozen=True, slots=True)
class Masked:
    """Masked text, how many replacements of each class were made, and how many characters they took away.

    `len(before) - hidden + sum(n * len("[redacted:<class>]")) == len(text)`.
    """

    text: str
    count_by_class: Mapping[str, int] = field(default_factory=dict)
    hidden: int = 0


class Masker:
    """Built-in patterns plus a team's. Immutable and reusable, also from threads."""

    def __init__(self, extra: Sequence[Pattern] = ()) -> None:
        """Raises PatternError naming the pattern that is refused."""
        self._extra = [(p.name, compile_team(p), p.group) for p in extra]
        # A team's pattern may be of any length; without one nothing shorter than `pwd=abc123` can be a secret.
        self._shortest = 1 if extra else 9
        self.version = _fingerprint(extra)

    def hit(self, text: str) -> bool:
        """Whether anything in the text is worth the full look. False means that nothing would be masked."""
        return len(text) >= self._shortest and self._worth(text.encode(*UTF8))

    def mask(self, text: str) -> Masked:
        """The masked text with its counts."""
        counts: Counter[str] = Counter()
        pieces, hidden = self._mask_all([text], counts)
        return Masked(pieces[0], dict(sorted(counts.items())), hidden)

    def mask_text(self, text: str) -> str:
        """The masked text alone."""
        return self._mask_all([text], None)[0][0] if len(text) >= self._shortest else text

    def mask_pieces(self, pieces: Sequence[str]) -> list[str]:
        """Masks a text that came in pieces, joined: a replacement stands in the piece where its secret began.

        The number of pieces stays; `"".join(result) == mask_text("".join(pieces))`.
        """
        return self._mask_all(list(pieces), None)[0]

    def mask_json(self, value: object) -> object:
        """A JSON value with every string masked; values under keys that say secret, and split stream pieces too.

        The input is never changed; a value with nothing to mask is given back as it is, not copied.
        """
        if not self._extra and not redact_json.worth_a_look(value, self.hit):
            return value
        return redact_json.mask_tree(value, self.mask_text, self.mask_pieces)

    def passes_json(self, raw: bytes) -> bool:
        """Whether JSON text surely holds nothing to mask, found without decoding it. False: `mask_json` has to look."""
        if self._extra:
            return False
        text = redact_raw.unescaped(raw)
        return text is not None and _FIRST_RAW(text, 0, len(text))[0] == NOWHERE

    def mask_runs(self, rows: Sequence[object]) -> list[object]:
        """Rows of a v0 log or records of a stream, with secrets masked that are split over several of them."""
        return redact_json.mask_runs(rows, self.mask_pieces)

    def _worth(self, data: bytes) -> bool:
        return _FIRST(data, 0, len(data))[0] != NOWHERE or any(r.search(data) is not None for _, r, _ in self._extra)

    def _mask_all(self, pieces: list[str], counts: Counter[str] | None) -> tuple[list[str], int]:
        hidden = 0
        for _ in range(PASSES):
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            data = text.encode(*UTF8)
            found = self._spans(text, data) if self._worth(data) else []
            if not found:
                break
            encoded = [p.encode(*UTF8) for p in pieces] if len(pieces) > 1 else [data]
            pieces = [p.decode(*UTF8) for p in replace(encoded, found)]
            hidden += sum(len(data[s.start : s.end].decode(*UTF8)) for s in found)
            if counts is not None:
                counts.update(s.name for s in found)
        return pieces, hidden

    def _spans(self, text: str, data: bytes) -> list[Span]:
        if len(data) == len(text) or _wide.search(text) is None:
            return resolve(self._candidates(data), data)
        narrow = text.translate(_NARROW).encode(*UTF8)
        return resolve(back(text, narrow, resolve(self._candidates(narrow), narrow)), data)

    def _candidates(self, data: bytes) -> Iterator[Span]:
        for start, end in redact_blocks.private_keys(data):
            yield Span(start, end, 0, "private-key")
        for rank, name, start, end in shape_spans(data):
            yield Span(start, end, rank, name)
        for start, end in redact_blocks.url_passwords(data):
            yield Span(start, end, 500, "url-password")
        for start, end in redact_blocks.cookies(data):
            yield Span(start, end, 501, "cookie")
        for rank, (name, regexp, group) in enumerate(self._extra, 600):
            for m in regexp.finditer(data):
                start, end = whole_characters(data, *m.span(group))
                yield Span(start, end, rank, name)
        for start, end in redact_assign.spans(data):
            yield Span(start, end, 999_999, redact_assign.NAME)


def _fingerprint(extra: Sequence[Pattern]) -> str:
    parts = [repr(ENGINE), *(repr((s.name, s.expression, s.keep, s.check and s.check.__name__)) for s in SHAPES)]
    parts += [*BLOCKS, *(repr((p.name, p.expression, p.group)) for p in extra)]
    return "m" + hashlib.sha256("\n".join(parts).encode(*UTF8)).hexdigest()[:11]
