"""How two facts relate: altered copy, nearest candidate, family shape, aliases of one path (AUDIT-REFINEMENTS §2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from audit.core.facts.chars import is_han, words
from audit.core.facts.model import PATH_CLASSES, Fact
from audit.core.facts.same import comparable, key, same, unit_of

_DIGITS = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"-?([0-9]+(?:\.[0-9]+)?)")
_WORD_END = re.compile(r"[^\W\d_][\w-]{0,40}\Z|[\u3400-\u9fff]+\Z")
_SKIP = words(
    "is are was were be to of at the a an in on by for from with about up under over below above most least only around"
    " approximately approx roughly now set max min than and or as it"
)
_SKIP_HAN = "为是约共至到在用成的了仅最多少大概达有改设按每近超过不"
_BYTES = {u: 1000.0**i for i, u in enumerate(("byte", "KB", "MB", "GB", "TB", "PB"))} | {
    u: 1024.0 ** (i + 1) for i, u in enumerate(("KiB", "MiB", "GiB", "TiB"))
}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0, "week": 604800.0}
_RATES = {"KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "Kbps": 125.0, "Mbps": 125e3, "Gbps": 125e6}
_HERTZ = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}
_SCALE = {"k": 1e3, "千": 1e3, "万": 1e4, "百万": 1e6, "M": 1e6, "千万": 1e7, "亿": 1e8, "B": 1e9, "万亿": 1e12}


def label_before(text: str, start: int) -> str:
    """Last word (lower case) or Han bigram before code point `start` on its line; "" when there is none.

    Words that only join (`is`, `at most`, `约`, `为`) are passed over: they name nothing.
    """
    line = text[max(0, start - 80) : start].rpartition("\n")[2]
    while line:
        line = line.rstrip(" \t:：=|*`\"'([{（【,，、~<>≤≥≈-–—→$€£¥￥\u00a0")
        if not line:
            return ""
        if is_han(line[-1]):
            if line[-1] in _SKIP_HAN:
                line = line[:-1]
                continue
            return line[-2:] if len(line) > 1 and is_han(line[-2]) else line[-1]
        m = _WORD_END.search(line)
        if m is None:
            return ""
        word = m.group().lower()
        if word not in _SKIP:
            return word
        line = line[: m.start()]
    return ""


def edits(a: str, b: str, most: int) -> int:
    """Levenshtein distance of two strings, or `most` + 1 when it is larger. Linear in length for a small `most`."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    if len(a) > 4096:
        return 0 if a == b else most + 1
    previous = {j: j for j in range(min(len(b), most) + 1)}
    for i, c in enumerate(a, 1):
        row: dict[int, int] = {}
        for j in range(max(0, i - most), min(len(b), i + most) + 1):
            best = previous.get(j, most + 1) + 1
            if j:
                best = min(best, row.get(j - 1, most + 1) + 1, previous.get(j - 1, most + 1) + (c != b[j - 1]))
            row[j] = min(best, most + 1)
        if min(row.values()) > most:
            return most + 1
        previous = row
    return previous.get(len(b), most + 1)


def altered(a: Fact, b: Fact, a_label: str | None = None, b_label: str | None = None) -> bool:
    """True when `a` looks like a changed copy of `b`: digits permuted, one or two edits, one segment, same label.

    Labels are from `label_before` (numbers only); None means unknown. A UUID cut to its first hex block counts.
    """
    if {a.cls, b.cls} == {"uuid", "hex_hash"}:
        return a.canon != b.canon and (a.canon.startswith(b.canon) or b.canon.startswith(a.canon))
    if a.cls != b.cls or same(a, b):
        return False
    if a.cls == "number_unit":
        return _number_altered(a, b, a_label, b_label)
    if a.cls in PATH_CLASSES:
        return _path_altered(comparable(a).split("/"), comparable(b).split("/"))
    if a.cls in ("uuid", "hex_hash") and (a.canon.startswith(b.canon) or b.canon.startswith(a.canon)):
        return True
    return _close(a.canon, b.canon)


def _close(a: str, b: str) -> bool:
    """At most two edits (and few for the length), or the same letters around permuted digits."""
    if _DIGITS.sub("#", a) == _DIGITS.sub("#", b) and len(a) == len(b) and sorted(a) == sorted(b):
        return True
    return edits(a, b, 2) <= min(2, max(1, max(len(a), len(b)) // 4))


def _path_altered(a: list[str], b: list[str]) -> bool:
    if len(a) != len(b):
        return False
    differing = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    if len(differing) != 1:
        return False
    x, y = differing[0]
    return _close(x, y)


def _number_altered(a: Fact, b: Fact, a_label: str | None, b_label: str | None) -> bool:
    if unit_of(a) != unit_of(b):
        return False
    if a_label and b_label and a_label == b_label:
        return True
    x, y = _digits(a), _digits(b)
    if len(x) == len(y) > 1 and sorted(x) == sorted(y):
        return True
    return min(len(x), len(y)) > 2 and edits(x, y, 1) == 1


def _digits(fact: Fact) -> str:
    m = _NUMBER.match(fact.canon)
    return m.group(1) if m else ""


def _value(fact: Fact) -> tuple[str, float] | None:
    """(dimension, value) of a number, for ordering candidates only."""
    m = _NUMBER.match(fact.canon)
    if m is None:
        return None
    unit = unit_of(fact)
    value = float(m.group()) * _SCALE.get(fact.canon[m.end() :].rpartition(" ")[0].strip(), 1.0)
    for name, table in (("bytes", _BYTES), ("time", _SECONDS), ("rate", _RATES), ("hertz", _HERTZ)):
        if unit in table:
            return name, value * table[unit]
    return unit, value


def near(fact: Fact, candidates: Iterable[Fact]) -> Fact | None:
    """The closest candidate, or None: a number of the same unit (else the same dimension), a path with the same last
    segment (else one segment altered), any other class only when altered. Ties go to the earlier candidate."""
    best: tuple[tuple[float, ...], Fact] | None = None
    for c in candidates:
        score = _distance(fact, c)
        if score is not None and (best is None or score < best[0]):
            best = (score, c)
    return best[1] if best else None


def _distance(fact: Fact, other: Fact) -> tuple[float, ...] | None:
    if fact.cls == "number_unit" and other.cls == "number_unit":
        a, b = _value(fact), _value(other)
        if a is None or b is None or a[0] != b[0]:
            return None
        apart = abs(a[1] - b[1]) / (max(abs(a[1]), abs(b[1])) or 1.0)
        return (float(unit_of(fact) != unit_of(other)), float(not altered(fact, other)), apart)
    if fact.cls in PATH_CLASSES and other.cls in PATH_CLASSES:
        if same(fact, other):
            return (0.0, 0.0)
        a_parts, b_parts = comparable(fact).split("/"), comparable(other).split("/")
        if a_parts[-1] == b_parts[-1]:
            return (1.0, float(-_common(a_parts, b_parts)))
        return (2.0, 0.0) if _path_altered(a_parts, b_parts) else None
    if altered(fact, other):
        prefix = fact.canon.startswith(other.canon) or other.canon.startswith(fact.canon)
        return (0.0 if prefix else 1.0, float(edits(fact.canon, other.canon, 4)))
    return None


def _common(a: list[str], b: list[str]) -> int:
    """Number of equal segments, counted from both ends."""
    pairs = zip(reversed(a), reversed(b), strict=False)
    tail = 0
    for x, y in pairs:
        if x != y:
            break
        tail += 1
    return tail + len(set(a) & set(b))


def shape(fact: Fact) -> str:
    """Key of the family a fact belongs to: digit runs as `#`; all UUIDs are one family, all hashes another."""
    if fact.cls in ("uuid", "hex_hash"):
        return fact.cls
    return f"{fact.cls}:{_DIGITS.sub('#', comparable(fact))}"


def aliases(facts: Iterable[Fact], cwd: str | None) -> dict[tuple[str, str], tuple[str, str]]:
    """`key` of a relative path -> `key` of the path it names: `cwd`/it, or the only longer path with that suffix.

    Only pairs where both stand among `facts` are listed; chains are resolved to their end. Linear in total length.
    """
    paths = {key(f) for f in facts if f.cls in PATH_CLASSES}
    base = (cwd or "").replace("\\", "/").rstrip("/")
    by_suffix: dict[str, list[tuple[str, str]]] = {}
    wanted = {canon for cls, canon in paths if cls == "file_path"}
    for path in sorted(paths):
        at = path[1].find("/")
        for _ in range(64):
            if at < 0:
                break
            suffix = path[1][at + 1 :]
            if suffix in wanted and suffix != path[1]:
                by_suffix.setdefault(suffix, []).append(path)
            at = path[1].find("/", at + 1)
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for canon in sorted(wanted):
        here = ("abs_path", f"{base}/{canon}")
        folded = ("abs_path", here[1].casefold())
        longer = by_suffix.get(canon, [])
        if base and here in paths:
            found[("file_path", canon)] = here
        elif base and folded in paths:
            found[("file_path", canon)] = folded
        elif len(longer) == 1:
            found[("file_path", canon)] = longer[0]
        elif longer and len({_end(p, longer) for p in longer}) == 1:
            found[("file_path", canon)] = _end(longer[0], longer)
    for k in found:
        while found[k] in found:
            found[k] = found[found[k]]
    return found


def _end(path: tuple[str, str], among: list[tuple[str, str]]) -> tuple[str, str]:
    """The longest of `among` that ends in `path` (nested suffixes are one path)."""
    longest = path
    for other in among:
        if len(other[1]) > len(longest[1]) and other[1].endswith("/" + longest[1].lstrip("/")):
            longest = other
    return longest
