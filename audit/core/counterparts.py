"""The same fact under another name on the other side, for pages that move both sides to it. It judges nothing.

The axes say whether a fact is held up or kept; here is where. What cannot be pointed at has no place, which says nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate

from audit.core import facts as factlib
from audit.core.case import AuditCase
from audit.core.evidence import same_path
from audit.core.facts import Fact
from audit.core.nearby import segments, split_number
from audit.core.pool import Entry, Pool
from audit.core.schema import PATH_CLASSES
from dshweb.sessionlog.core.leaves import Block

READ_MAX = 64 << 20  # code points of leaves read for all texts that are looked for
_PLACES = 3
_TRIED = 32


class Counterparts:
    def __init__(self, case: AuditCase, summary: Pool, leaves: Pool) -> None:
        self._case, self._summary, self._leaves = case, summary, leaves
        self._cwd = case.cwd.rstrip("/") if case.cwd else ""
        self._left = READ_MAX

    @cached_property
    def _leaf_index(self) -> dict[tuple[str, str], list[Entry]]:
        return _index(self._leaves)

    @cached_property
    def _summary_index(self) -> dict[tuple[str, str], list[Entry]]:
        return _index(self._summary)

    def in_leaves(self, cls: str, canon: str, text: str) -> Entry | None:
        return self._other(Fact(cls, text, canon, 0, len(text)), self._leaf_index)

    def in_summary(self, cls: str, canon: str, text: str) -> Entry | None:
        return self._other(Fact(cls, text, canon, 0, len(text)), self._summary_index)

    def _other(self, fact: Fact, index: dict[tuple[str, str], list[Entry]]) -> Entry | None:
        for entry in index.get(_filed(fact) or ("", ""), ())[:_TRIED]:
            other = entry.fact
            if fact.cls == "number_unit":
                same = factlib.same(fact, other)
            else:
                same = same_path(fact, other, self._cwd) or same_path(other, fact, self._cwd)
            if same and factlib.key(fact) != factlib.key(other):
                return entry
        return None

    @cached_property
    def _text(self) -> tuple[str, list[Block], list[int], list[int]]:
        """All leaves as one text, searched faster than many; its blocks, where each begins, code points of those before it."""
        blocks = [block for leaf in self._case.leaves for block in leaf.blocks]
        before = list(accumulate((len(block.text) for block in blocks), initial=0))
        return "\n".join(block.text for block in blocks), blocks, [n + chars for n, chars in enumerate(before)], before

    def text_in_leaves(self, text: str) -> list[tuple[Block, int]]:
        """Where `text` stands literally, once a block, few places; nothing once READ_MAX has been read."""
        found: list[tuple[Block, int]] = []
        if not text or self._left <= 0:
            return found
        whole, blocks, starts, before = self._text
        read = bisect_left(before, self._left, 0, len(blocks))
        at = whole.find(text, 0, starts[read])
        while at >= 0:
            number = bisect_right(starts, at) - 1
            block, start = blocks[number], at - starts[number]
            inside = start + len(text) <= len(block.text)
            if inside:
                found.append((block, start))
                if len(found) == _PLACES:
                    read = number + 1
                    break
            at = whole.find(text, starts[number + 1] if inside else at + 1, starts[read])
        self._left -= before[read]
        return found


def _index(pool: Pool) -> dict[tuple[str, str], list[Entry]]:
    found: dict[tuple[str, str], list[Entry]] = {}
    for entry in pool:
        name = _filed(entry.fact)
        if name is not None:
            found.setdefault(name, []).append(entry)
    return found


def _filed(fact: Fact) -> tuple[str, str] | None:
    """Under what a fact stands with all that may be the same thing: a path's last segment, a number without its unit."""
    if fact.cls in PATH_CLASSES:
        last = segments(fact.canon)[-1:]
        return ("path", last[0]) if last else None
    parts = split_number(fact.canon) if fact.cls == "number_unit" else None
    return ("number", parts[0] + parts[1]) if parts else None
