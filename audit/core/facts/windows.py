"""Drive and UNC paths (COMPACTION-AUDIT §4 "Windows", AUDIT-REFINEMENTS §2.3). They are absolute and case-folded."""

from __future__ import annotations

import re
from urllib.parse import unquote

from audit.core.facts.brackets import first_unmatched
from audit.core.facts.chars import DELIM, EXTENSIONS, HAN, HAN_RE, RUN_RE, is_word
from audit.core.facts.model import MAX_FACTS, MAX_RUN, Fact
from audit.core.facts.reach import PATH_WEIGHT, Reach

_SEGMENT = re.compile(rf"[^{DELIM}\\/]+")
_SEPARATORS = re.compile(r"[\\/]+")
_PROGRAM_FILES = re.compile(r"Program Files(?: \(x86\))?(?=[\\/]|[^\w\\/ (]|\Z| (?![(\w]))", re.IGNORECASE)
_EXT_BEFORE_HAN = re.compile(rf"\.([A-Za-z0-9]{{1,12}})(?=[{HAN}])")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]+\Z")
_BAD = re.compile(r"[$<>%=]|\.\.\.|…")
_POSITION = re.compile(r"(?::[0-9]{1,7}){1,2}(?![0-9])|#L[0-9]+(?:-L?[0-9]+)?|\([0-9]+(?:, ?[0-9]+)?\)")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")


def windows_paths(text: str, reach: Reach) -> tuple[list[Fact], list[tuple[int, int]]]:
    """(facts, spans to mask): rejected paths and position suffixes are masked too, so that no piece of them counts."""
    facts: list[Fact] = []
    masks: list[tuple[int, int]] = []
    done = 0
    at = 0
    for _ in reach.turns(PATH_WEIGHT):
        at = _next(text, at)
        if at < 0:
            return facts, masks
        if len(facts) > MAX_FACTS:
            break
        if text[at] == ":" and at <= done:
            at += 1
            continue
        start, first = _root(text, at)
        if start < done or not _may_start(text, start):
            at = first if text[at] == "\\" else at + 1
            continue
        # Two segments decide; reading on before would read a long run again from each place inside it.
        if not _accepted(text, start, first, _segments(text, first, most=2)[1]):
            at = max(at + 1, first)
            continue
        end, segments, bad = _segments(text, first)
        done = at = _past(text, end, reach) if end - first > MAX_RUN else end
        suffix = _POSITION.match(text, at)
        masks.append((start, suffix.end() if suffix else at))
        canon = None if bad else _canon(text, start, segments)
        if canon is not None:
            facts.append(Fact("abs_path", text[start:end], canon, start, end))
    if _next(text, at) >= 0:
        reach.stop(at)
    return facts, masks


def _past(text: str, end: int, reach: Reach) -> int:
    """Where the run of path characters ends that goes on behind the first MAX_RUN code points of a path."""
    rest = RUN_RE.match(text, end)
    stop = rest.end() if rest else end
    reach.skipped.append((end, stop))
    return stop


_START = re.compile(r":[\\/]|\\\\")


def _next(text: str, at: int) -> int:
    m = _START.search(text, at)
    return m.start() if m else -1


def _root(text: str, at: int) -> tuple[int, int]:
    """(start of the path, start of its first segment) for the `:\\` or `\\\\` at `at`."""
    start = at - 1 if text[at] == ":" else at
    m = _SEPARATORS.match(text, at + 1 if text[at] == ":" else at)
    assert m is not None  # noqa: S101 - _START guarantees a separator here
    return start, m.end()


def _segments(text: str, at: int, most: int = MAX_RUN) -> tuple[int, list[str], bool]:
    """(end, segments, bad) of the path whose first segment begins at `at`; at most `most` segments are read."""
    segments: list[str] = []
    first = end = at
    while True:
        m = _PROGRAM_FILES.match(text, at) or _SEGMENT.match(text, at)
        if m is None:
            break
        whole = segment = m.group()
        if HAN_RE.search(segment):
            for e in _EXT_BEFORE_HAN.finditer(segment):
                if e.group(1).lower() in EXTENSIONS:
                    segment = segment[: e.end()]
                    break
        if not segment.lower().startswith("program files"):
            segment = segment[: first_unmatched(segment)]
        if "#L" in segment:
            segment = segment[: segment.index("#L")]
        if segment:
            segments.append(segment)
            end = at + len(segment)
        if len(segment) < len(whole):
            break
        step = _SEPARATORS.match(text, m.end())
        if step is None or len(segments) >= most or m.end() - first > MAX_RUN:
            break
        at = step.end()
    bad = any(_BAD.search(_ENCODED.sub("", s)) for s in segments)
    if segments:
        trimmed = segments[-1].rstrip(".,;:!?&") or segments[-1]
        end -= len(segments[-1]) - len(trimmed)
        segments[-1] = trimmed
    return end, segments, bad


def _may_start(text: str, start: int) -> bool:
    """What stands at `start` and in front of it allows a drive or a UNC host."""
    if start < 0:
        return False
    before = text[start - 1] if start else " "
    if text[start] == "\\":
        return not (is_word(before) or before in "\\/.:)]}+*")
    return text[start].isascii() and text[start].isalpha() and not (is_word(before) or before in "\\/")


def _accepted(text: str, start: int, first: int, segments: list[str]) -> bool:
    if not segments:
        return False
    if text[start] != "\\":  # a drive
        return not (len(segments) == 1 and segments[0] in "nrt")  # `A:\n` is an escape
    leading = first - start
    if len(segments) < 2 or leading not in (2, 4) or text[start:first] != "\\" * leading:
        return False
    if _HOST.match(segments[0]) is None or not segments[1][0].isalnum():
        return False
    inner = _SEPARATORS.match(text, first + len(segments[0]))
    # `\\nfoo\\nbar` is escaped text: in an escaped UNC path the four leading ones go with two inner ones.
    return inner is not None and len(inner.group()) * 2 == leading


def _canon(text: str, start: int, segments: list[str]) -> str | None:
    """Single `\\`, case-folded, `%XX` decoded; None when a `%` is left."""
    parts = [unquote(s, errors="replace") if "%" in s else s for s in segments]
    if any("%" in p or "\ufffd" in p for p in parts):
        return None
    root = "\\\\" if text[start] == "\\" else f"{text[start]}:\\"
    return (root + "\\".join(parts)).casefold()
