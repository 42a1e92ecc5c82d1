"""The original that an unmatched assertion may come from: altered facts and near numbers or paths, found by index.

Rule: AUDIT-REFINEMENTS §2.6 "altered" and COMPACTION-AUDIT §3 `near`. Comparing every assertion with every leaf fact
would be quadratic, so facts are filed under keys that any altered pair must share (pieces, deletions, one segment
left out), and only facts under a common key are compared, at most `_BUCKET` a key.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from audit.core import facts as factlib
from audit.core.extraction import FactCache, Key
from audit.core.facts import Fact
from audit.core.facts.units import COUNTED
from audit.core.pool import Entry
from audit.core.schema import PATH_CLASSES

_BUCKET = 32
_TRIED = 6
_STRONG = 10
_SHORT = 6
_SEGMENTS = 16
_KEY_MAX = 512
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(\D*) (.+)", re.DOTALL)
_SPOKEN = frozenset({"human", "assistant"})
_IDS = frozenset({"uuid", "hex_hash"})
# Classes that are compared with each other.
_GROUP = {"uuid": "id", "hex_hash": "id", "abs_path": "path", "file_path": "path"}


@lru_cache(maxsize=1 << 14)
def split_number(canon: str) -> tuple[str, str, str] | None:
    """`64k token` -> ("64", "k", "token"); None when the canon is not `<number><multiplier> <unit>`."""
    found = _NUMBER.fullmatch(canon)
    return (found[1], found[2], found[3]) if found else None


def segments(canon: str) -> list[str]:
    """Path segments of a canon, whatever its separator."""
    return [part for part in canon.replace("\\", "/").split("/") if part not in ("", ".")]


class Nearby:
    """An index over leaf facts. Order of filing decides ties, so the same leaves give the same answers."""

    def __init__(self, entries: Iterable[Entry], asked: Iterable[Entry], cache: FactCache) -> None:
        """`asked` are the facts that will be asked for: only what shares a key with one of them is filed."""
        self._cache = cache
        self._asked: dict[str, set[Key]] = {}
        for entry in asked:
            self._asked.setdefault(_group(entry), set()).update(_keys(entry.fact), _label_keys(entry))
        self._groups: dict[str, list[Entry]] = {}
        for group in self._asked:
            self._groups[group] = []
        for entry in entries:
            filed = self._groups.get(_group(entry))
            if filed is not None:
                filed.append(entry)
        self._filed: dict[Key, list[Entry]] = {}
        self._numbers: dict[str, list[tuple[float, int, Entry]]] = {}

    def _file(self, cls: str) -> None:
        """File the facts that one of this class can be compared with, once."""
        group = _GROUP.get(cls, cls)
        entries = self._groups.pop(group, [])
        wanted = self._asked.get(group, set())
        for entry in entries:
            keys = self._cache.keys(entry.fact, _keys)
            shared = [] if wanted.isdisjoint(keys) else [key for key in keys if key in wanted]
            if group == "number_unit":
                shared += [key for key in _label_keys(entry) if key in wanted]
            for key in shared:
                bucket = self._filed.setdefault(key, [])
                if len(bucket) < _BUCKET and (not bucket or bucket[-1] is not entry):
                    bucket.append(entry)
        if cls == "number_unit" and entries:
            numbers: dict[str, list[tuple[float, int, Entry]]] = {}
            for order, entry in enumerate(entries):
                parts = split_number(entry.fact.canon)
                if parts:
                    numbers.setdefault(parts[1] + " " + parts[2], []).append((float(parts[0]), order, entry))
            self._numbers = {unit: sorted(rows, key=lambda row: row[:2]) for unit, rows in numbers.items()}

    def altered(self, asked: Entry, prefer: Callable[[Entry], bool]) -> Entry | None:
        """The leaf fact that an asserted one is an altered copy of; those that `prefer` says come first."""
        self._file(asked.fact.cls)
        found = [
            entry for entry in self._likely((*_keys(asked.fact), *_label_keys(asked))) if _is_altered(asked, entry)
        ]
        return min(found, key=lambda entry: not prefer(entry), default=None) or self._only_one(asked.fact, prefer)

    def _only_one(self, fact: Fact, prefer: Callable[[Entry], bool]) -> Entry | None:
        """The only number of a counted noun in the leaves, when the summary has another number of that noun alone."""
        parts = split_number(fact.canon) if fact.cls == "number_unit" else None
        if not parts or parts[2] not in COUNTED:
            return None
        rows = self._numbers.get(parts[1] + " " + parts[2], [])
        return rows[0][2] if len(rows) == 1 and rows[0][2].sources & _SPOKEN and prefer(rows[0][2]) else None

    def near(self, fact: Fact) -> Entry | None:
        """The closest number of the same unit, or a path with the same last segment."""
        self._file(fact.cls)
        if fact.cls == "number_unit":
            return self._near_number(fact)
        if fact.cls in PATH_CLASSES and segments(fact.canon):
            for entry in self._filed.get(("last", segments(fact.canon)[-1].lower()), ()):
                if entry.fact.canon != fact.canon:
                    return entry
        return None

    def _near_number(self, fact: Fact) -> Entry | None:
        parts = split_number(fact.canon)
        if not parts:
            return None
        rows = self._numbers.get(parts[1] + " " + parts[2], [])
        value = float(parts[0])
        at = bisect_left(rows, (value, -1), key=lambda row: row[:2])
        return min(rows[max(0, at - 1) : at + 1], key=lambda row: (abs(row[0] - value), row[1]), default=(0, 0, None))[
            2
        ]

    def _likely(self, keys: Iterable[Key]) -> list[Entry]:
        """Entries under common keys, the `_TRIED` that share most; one common piece says less than any other key."""
        shared: dict[int, tuple[int, Entry]] = {}
        for key in keys:
            worth = 1 if key[0] in ("piece", "last") else _STRONG
            for entry in self._filed.get(key, ()):
                have = shared.get(id(entry))
                shared[id(entry)] = (worth + (have[0] if have else 0), entry)
        # dicts keep the order of filing and sorting is stable, so ties do not depend on ids
        return [entry for _, entry in sorted(shared.values(), key=lambda one: -one[0])[:_TRIED]]


def _is_altered(asked: Entry, entry: Entry) -> bool:
    if entry.fact.cls == asked.fact.cls and entry.fact.canon == asked.fact.canon:
        return False
    if asked.fact.cls != "number_unit":
        return factlib.altered(asked.fact, entry.fact)
    return any(
        factlib.altered(asked.fact, entry.fact, ours, theirs) for ours in _labels(asked) for theirs in _labels(entry)
    )


def _labels(entry: Entry) -> list[str | None]:
    if entry.labels is None:
        labels = dict.fromkeys(factlib.label_before(m.block.text, m.fact.start) for m in entry.mentions)
        entry.labels = [label or None for label in labels]
    return entry.labels


def _group(entry: Entry) -> str:
    return _GROUP.get(entry.fact.cls, entry.fact.cls)


def _keys(fact: Fact) -> Iterator[Key]:
    canon = fact.canon[:_KEY_MAX]
    if fact.cls in PATH_CLASSES:
        yield from _path_keys(canon)
    elif fact.cls == "number_unit":
        yield from _number_keys(canon)
    else:
        group = "id" if fact.cls in _IDS else fact.cls
        if group == "id":
            yield ("prefix", canon[:7])
        yield ("digits", group, "".join(sorted(canon)))
        yield from _edit_keys(group, canon)


def _path_keys(canon: str) -> Iterator[Key]:
    parts = segments(canon)[:_SEGMENTS]
    lowered = [part.lower() for part in parts]
    if parts:
        yield ("last", lowered[-1])
    for at in range(len(parts)):
        yield ("path", len(parts), at, "/".join(parts[:at]), "/".join(parts[at + 1 :]))


def _number_keys(canon: str) -> Iterator[Key]:
    parts = split_number(canon)
    if not parts:
        return
    number, unit = parts[0][:24], parts[1] + " " + parts[2]
    yield ("digits", unit, "".join(sorted(number)))
    yield ("edit", unit, number)
    for at in range(len(number)):
        yield ("edit", unit, number[:at] + number[at + 1 :])


def _label_keys(entry: Entry) -> Iterator[Key]:
    """Unit and label of each mention of a number."""
    parts = split_number(entry.fact.canon) if entry.fact.cls == "number_unit" else None
    if parts:
        unit = parts[1] + " " + parts[2]
        for label in _labels(entry):
            if label:
                yield ("label", unit, label)


def _edit_keys(group: str, canon: str) -> Iterator[Key]:
    """Keys shared by any two texts at most two edits apart: deletions of short ones, a shifted third of long ones."""
    if len(canon) < _SHORT:
        once = {canon[:at] + canon[at + 1 :] for at in range(len(canon))}
        twice = {text[:at] + text[at + 1 :] for text in once for at in range(len(text))}
        for text in sorted({canon} | once | twice):
            yield ("edit", group, text)
        return
    third = len(canon) // 3
    for at in (0, third, len(canon) - third):
        for shift in range(-2, 3):
            for size in range(max(2, third - 1), third + 1):
                if at + shift >= 0 and at + shift + size <= len(canon):
                    yield ("piece", group, canon[at + shift : at + shift + size])
