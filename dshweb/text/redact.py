"""Masking of secrets: one list of patterns for ingest, pages, API, memory and the audit (DECISIONS 4 and 5).

`Masker` replaces every secret by `[redacted:<class>]` and keeps what tells what it was: the key, the word Bearer, the
user and host of a URL. Rule: COMPACTION §15 plus the field reports, see the modules `redact_patterns` (token shapes),
`redact_assign` (key words), `redact_blocks` (private keys, URLs). All patterns run in RE2 on UTF-8 bytes, so time is
linear on any text. Masking is idempotent: passes are repeated until nothing changes and a replacement is never masked.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import re2

from . import redact_assign, redact_blocks
from .redact_json import mask_tree
from .redact_patterns import SHAPES, Shape

ENGINE = 1  # raise when a rule in code changes what is masked: it goes into `Masker.version`
PASSES = 8
_UTF8 = ("utf-8", "surrogatepass")
_MARK = re.compile(rb"\[redacted:[a-z0-9-]{1,40}\]")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_WIDE = re.compile("[０-９Ａ-Ｚａ-ｚ＿－]{2}")
_NARROW = {c: c - 0xFEE0 for c in range(0xFF01, 0xFF5F)}
_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_PROBES = (b"", b"a", b"a b", b"0", b"\n", b"-", "中".encode(), b"a.b, c!")


class PatternError(ValueError):
    """A pattern we refuse. `where` names the pattern or the place in it, `what` says what is wrong with it."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


@dataclass(frozen=True, slots=True)
class Pattern:
    """A team's own pattern: RE2 syntax; `group` (0 = the whole match) is what gets masked, the rest is kept."""

    name: str
    expression: str
    group: int = 0


@dataclass(frozen=True, slots=True)
class Masked:
    """Masked text, how many replacements of each class were made, and how many characters they replaced.

    `len(before) - hidden + sum(n * len("[redacted:class]")) == len(text)`.
    """

    text: str
    count_by_class: Mapping[str, int] = field(default_factory=dict)
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    rank: int
    name: str


def compile_pattern(expression: str, group: int = 0) -> re2._Regexp:
    """The compiled pattern, for text as UTF-8 bytes. Raises PatternError(where, what).

    Refused: what RE2 cannot do (look-around, back references), patterns that match the empty string, over 1000
    characters, and groups that are not there.
    """
    if not expression.strip():
        raise PatternError("expression", "is empty")
    if len(expression) > 1000:
        raise PatternError("expression", "is longer than 1000 characters")
    if "\\C" in expression:
        raise PatternError("\\C", "matches half a character")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(expression.encode("utf-8", "replace"), options)
    except re2.error as error:
        detail = error.args[0] if error.args else ""
        text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        what, _, place = text.partition(": ")
        raise PatternError(place or "expression", what or "is not RE2 syntax") from None
    if not 0 <= group <= compiled.groups:
        raise PatternError("group", f"there is no group {group}; the expression has {compiled.groups}")
    if any(m.start() == m.end() for probe in _PROBES for m in compiled.finditer(probe)):
        raise PatternError("expression", "matches the empty string")
    return compiled


class Masker:
    """Built-in patterns plus a team's. Immutable and reusable; cheap to call on text without secrets."""

    def __init__(self, extra: Sequence[Pattern] = ()) -> None:
        """Raises PatternError naming the pattern that is refused."""
        self._extra: list[tuple[str, re2._Regexp, int]] = []
        for p in extra:
            if not _NAME.fullmatch(p.name):
                raise PatternError(p.name or "name", "must be lower-case letters, digits and hyphens, at most 40")
            try:
                self._extra.append((p.name, compile_pattern(p.expression, p.group), p.group))
            except PatternError as error:
                raise PatternError(f"{p.name}, {error.where}", error.what) from None
        self._first = _first_look(p.expression for p in extra)
        self.version = _fingerprint(extra)

    def hit(self, text: str) -> bool:
        """Whether anything in the text is worth the full look. False means: nothing would be masked."""
        return self._worth(text, text.encode(*_UTF8))

    def mask(self, text: str) -> Masked:
        """The masked text with its counts."""
        counts: Counter[str] = Counter()
        pieces, hidden = self._mask_all([text], counts)
        return Masked(pieces[0], dict(sorted(counts.items())), hidden)

    def mask_text(self, text: str) -> str:
        """The masked text alone."""
        return self._mask_all([text], None)[0][0]

    def mask_pieces(self, pieces: Sequence[str]) -> list[str]:
        """Masks a text that came in pieces, joined: a replacement stands in the piece where its secret began.

        The number of pieces stays; `"".join(result) == mask_text("".join(pieces))`.
        """
        return self._mask_all(list(pieces), None)[0]

    def mask_json(self, value: object) -> object:
        """A JSON value with every string masked; values under keys that say secret, and split stream pieces too."""
        return mask_tree(value, self.mask_text, self.mask_pieces)

    def _worth(self, text: str, data: bytes) -> bool:
        if any(first.search(data) is not None for first in self._first):
            return True
        return len(data) != len(text) and _WIDE.search(text) is not None

    def _mask_all(self, pieces: list[str], counts: Counter[str] | None) -> tuple[list[str], int]:
        hidden = 0
        for _ in range(PASSES):
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            data = text.encode(*_UTF8)
            if not self._worth(text, data):
                break
            found = self._spans(text, data)
            if not found:
                break
            encoded = [p.encode(*_UTF8) for p in pieces] if len(pieces) > 1 else [data]
            pieces = [p.decode(*_UTF8) for p in _replace(encoded, found)]
            for s in found:
                hidden += len(data[s.start : s.end].decode(*_UTF8))
                if counts is not None:
                    counts[s.name] += 1
        return pieces, hidden

    def _spans(self, text: str, data: bytes) -> list[_Span]:
        if len(data) != len(text) and _WIDE.search(text) is not None:
            flat = text.translate(_NARROW)
            narrow = flat.encode(*_UTF8)
            spans = list(_back(text, narrow, _resolve(list(self._candidates(narrow)), narrow)))
            return _resolve(spans, data)
        return _resolve(list(self._candidates(data)), data)

    def _candidates(self, data: bytes) -> Iterator[_Span]:
        for start, end in redact_blocks.private_keys(data):
            yield _Span(start, end, 0, "private-key")
        for rank, (shape, compiled, tail) in enumerate(_COMPILED, 1):
            for start, end in _shape_spans(data, shape, compiled, tail):
                yield _Span(start, end, rank, shape.name)
        for start, end in redact_blocks.url_passwords(data):
            yield _Span(start, end, 500, "url-password")
        for start, end in redact_blocks.cookies(data):
            yield _Span(start, end, 501, "cookie")
        for rank, (name, regexp, group) in enumerate(self._extra, 600):
            for m in regexp.finditer(data):
                start, end = m.span(group)
                if end > start:
                    yield _Span(start, end, rank, name)
        for start, end in redact_assign.spans(data):
            yield _Span(start, end, 999_999, redact_assign.NAME)


def _large(expression: str) -> re2._Regexp:
    options = re2.Options()
    options.max_mem = 64 << 20
    options.never_capture = True
    return re2.compile(expression.encode(), options)


def _compile_shapes() -> list[tuple[Shape, re2._Regexp, re2._Regexp]]:
    return [(s, re2.compile(s.expression.encode()), re2.compile(f"[{s.tail}]*".encode())) for s in SHAPES]


def _first_look(extra: Iterable[str]) -> list[re2._Regexp]:
    """Unions of all patterns, without captures: one or two passes tell that a text holds nothing."""
    blocks = [*redact_blocks.PREFILTERS, *redact_assign.PREFILTERS]
    shapes = "|".join(f"(?:{s.expression})" for s in SHAPES)
    named = "|".join(f"(?:{re.sub('[?]P<[a-z_]+>', '?:', b)})" for b in blocks)
    found = [_large(shapes), _large(named)]
    return found + [_large(f"(?:{e})") for e in extra]


def _fingerprint(extra: Sequence[Pattern]) -> str:
    parts = [repr(ENGINE), *(repr((s.name, s.expression, s.keep, getattr(s.check, "__name__", ""))) for s in SHAPES)]
    parts += [
        *redact_blocks.PREFILTERS,
        *redact_assign.PREFILTERS,
        *(repr((p.name, p.expression, p.group)) for p in extra),
    ]
    return "m" + hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:11]


def _edge(data: bytes, at: int) -> bool:
    """Whether a token may begin here: no ASCII word character before, or an escape (`\\n`, `\\u0022`, `%3D`)."""
    if at == 0 or data[at - 1] not in _WORD:
        return True
    if data[at - 2 : at] in (b"\\n", b"\\t", b"\\r") or (
        data[at - 3 : at - 2] == b"%" and set(data[at - 2 : at]) <= _HEX
    ):
        return True
    return data[at - 6 : at - 4] == b"\\u"


def _shape_spans(data: bytes, shape: Shape, compiled: re2._Regexp, tail: re2._Regexp) -> Iterator[tuple[int, int]]:
    at = 0
    while (m := compiled.search(data, at)) is not None:
        start, inner = m.start(), m.end(1)
        if not _edge(data, start):
            at = start + 1
            continue
        end = tail.match(data, m.end()).end()
        while end > m.end() and data[end - 1] in b"._-":
            end -= 1
        if shape.check is not None and not shape.check(data[inner : min(end, inner + 512)].decode("ascii", "replace")):
            at = max(start + 1, min(end, start + 512))
            continue
        yield (inner if shape.keep else start), end
        at = end


def _resolve(spans: list[_Span], data: bytes) -> list[_Span]:
    """Disjoint spans in order: overlapping ones become one, named by the most specific; replacements stay whole."""
    marks = [m.span() for m in _MARK.finditer(data)] if b"[redacted:" in data else []
    spans = [s for s in spans if s.end > s.start]
    spans.sort(key=lambda s: (s.start, -s.end, s.rank))
    merged: list[_Span] = []
    for s in spans:
        if merged and s.start < merged[-1].end:
            last = merged[-1]
            best = min(last, s, key=lambda x: x.rank)
            merged[-1] = _Span(last.start, max(last.end, s.end), best.rank, best.name)
        else:
            merged.append(s)
    if not marks:
        return merged
    return _spare(merged, marks)


def _spare(spans: list[_Span], marks: list[tuple[int, int]]) -> list[_Span]:
    """Spans that only cover a replacement go; spans that touch one partly take it whole."""
    out: list[_Span] = []
    at = 0
    for s in spans:
        while at < len(marks) and marks[at][1] <= s.start:
            at += 1
        start, end, covered = s.start, s.end, 0
        for i in range(at, len(marks)):
            left, right = marks[i]
            if left >= s.end:
                break
            covered += min(right, s.end) - max(left, s.start)
            start, end = min(start, left), max(end, right)
        if covered >= s.end - s.start:
            continue
        if out and start < out[-1].end:
            last = out[-1]
            out[-1] = _Span(last.start, max(last.end, end), min(last.rank, s.rank), last.name)
        else:
            out.append(_Span(start, end, s.rank, s.name))
    return out


def _back(text: str, narrow: bytes, spans: list[_Span]) -> Iterator[_Span]:
    """Byte offsets in the narrowed text to byte offsets in the text as given (same code points, other bytes)."""
    points = {0: 0}
    known = 0
    chars = 0
    wide = 0
    for place in sorted({p for s in spans for p in (s.start, s.end)}):
        step = len(narrow[known:place].decode(*_UTF8))
        wide += len(text[chars : chars + step].encode(*_UTF8))
        chars += step
        known = place
        points[place] = wide
    for s in spans:
        yield _Span(points[s.start], points[s.end], s.rank, s.name)


def _replace(pieces: list[bytes], spans: list[_Span]) -> list[bytes]:
    """The pieces with each span's bytes gone and its replacement where it began."""
    ends = list(accumulate(len(p) for p in pieces))
    out: list[list[bytes]] = [[] for _ in pieces]
    at = 0  # place in the joined text
    i = 0  # piece that holds `at`

    def copy(upto: int) -> None:
        nonlocal at, i
        while at < upto:
            while ends[i] <= at:
                i += 1
            base = ends[i] - len(pieces[i])
            stop = min(upto, ends[i])
            out[i].append(pieces[i][at - base : stop - base])
            at = stop

    for s in spans:
        copy(s.start)
        while ends[i] <= at:
            i += 1
        out[i].append(b"[redacted:" + s.name.encode() + b"]")
        at = s.end
    copy(ends[-1] if ends else 0)
    return [b"".join(parts) for parts in out]


_COMPILED = _compile_shapes()
Mask = Callable[[str], str]
