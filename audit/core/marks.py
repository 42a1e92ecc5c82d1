"""Every judged fact of a compaction with its places on both sides, for the page that marks them (issue 3).

A view of one run of the rules (`record.run`); it judges nothing. A fact is one class and canon, once, whatever the number
of its places. `fate` is what became of it (leaf side): kept, lost, altered, stale, unscored, missing, scope_lost; `claim`
what holds it up (summary side): verified, unverified, consent, altered, superseded; "" where that side does not judge it.

Offsets are code points. A place in a leaf counts from the start of the leaf's text, its blocks joined by `JOINT`, which is
how a message's text is stored; a place in the summary counts from the start of its block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from audit.core.case import AuditCase
from audit.core.compliance import STATES
from audit.core.counterparts import Counterparts
from audit.core.coverage import Coverage
from audit.core.demands import Demand
from audit.core.facts import Fact
from audit.core.fidelity import Fidelity
from audit.core.pool import Entry, Mention, Pool
from audit.core.record import Audit
from audit.core.statements import Correction
from dshweb.sessionlog.core.leaves import Block, Leaf
from dshweb.text.lines import storable

JOINT = "\n\n"
PLACES = 12  # of a fact on each side
TERM_PLACES = 40
Key = tuple[str, str]
Place = tuple[int, int, int]  # (seq, or block of the summary; start; end)


@dataclass(slots=True)
class Marked:
    """One fact. `pair`: the fact on the other side that it corresponds to under another name or value."""

    cls: str
    canon: str
    text: str
    fate: str = ""
    claim: str = ""
    tier: str = ""
    sources: tuple[str, ...] = ()
    leaves: list[Place] = field(default_factory=list)
    summary: list[Place] = field(default_factory=list)
    pair: Key | None = None

    @property
    def key(self) -> str:
        return fact_key(self.cls, self.canon)


def fact_key(cls: str, canon: str) -> str:
    """The same fact has the same key in every record, stored or not yet: twelve hex digits."""
    return hashlib.sha256(f"{cls}\0{storable(canon).text}".encode()).hexdigest()[:12]


def marked(case: AuditCase, done: Audit) -> list[Marked]:
    """The facts in reading order: by their first place in the leaves, then those of the summary alone. A broken axis gives
    none of its facts.
    """
    made = _Marks(case, done.summary, done.leaves)
    if done.coverage is not None:
        made.keys(done.coverage)
    if done.fidelity is not None:
        made.asserted(done.fidelity)
    if done.record["compliance"] is not None:
        made.terms(done.record["compliance"])
    made.counterparts()
    return sorted(made.facts.values(), key=_reading_order)


def by_text(facts: Sequence[Marked], *, summary: bool = False) -> dict[int, list[tuple[int, int, int]]]:
    """The same places by the text they stand in: seq (or block of the summary) → [(start, end, number of the fact)…]."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for number, fact in enumerate(facts):
        for where, start, end in fact.summary if summary else fact.leaves:
            found.setdefault(where, []).append((start, end, number))
    return {where: sorted(places) for where, places in sorted(found.items())}


def _reading_order(fact: Marked) -> tuple[object, ...]:
    first = min(fact.leaves, default=None)
    return (first is None, first or min(fact.summary, default=(0, 0, 0)), fact.cls, fact.canon)


class _Marks:
    """Gathers the facts of both axes and of the vocabulary under their keys."""

    def __init__(self, case: AuditCase, summary: Pool | None, leaves: Pool | None) -> None:
        self.facts: dict[Key, Marked] = {}
        self._case, self._summary, self._leaves = case, summary or Pool(), leaves or Pool()
        self._starts: dict[tuple[object, ...], int] = {}
        for leaf in case.leaves:
            for block, start in _blocks(leaf):
                self._starts.setdefault(_name(block), start)
        self._old: list[tuple[Marked, Demand]] = []

    def keys(self, axis: Coverage) -> None:
        for judged in axis.facts:
            fact = self._fact(judged.entry.fact)
            fact.fate = "kept" if judged.kept is not None else "altered" if judged.altered else "lost"
            fact.tier, fact.sources = judged.tier, tuple(sorted(judged.entry.sources))
            fact.leaves = self._places(judged.entry.mentions)
        for item in axis.demands:
            row = item.row()
            fact = self._put(item.cls, row.canon, row.text)
            fact.fate = "unscored" if item.status == "replaced" else item.status
            fact.tier, fact.sources = "A", ("human",)
            start = self._starts.get(_name(item.block), 0)
            fact.leaves.append((item.block.seq, start + item.what.start, start + item.what.end))
            if item.status == "stale":
                self._old.append((fact, item))

    def asserted(self, axis: Fidelity) -> None:
        rows = {(row.cls, row.canon): row for row in axis.rows}
        for entry, sources in axis.facts:
            fact, row = self._fact(entry.fact), rows.get((entry.fact.cls, entry.fact.canon))
            fact.claim = "verified" if sources else "unverified" if row is None else row.kind
            fact.summary = [(m.block.index, m.fact.start, m.fact.end) for m in entry.mentions[:PLACES]]
            fact.sources = fact.sources or tuple(sorted(sources))
            if fact.claim == "altered" and row is not None and row.near is not None:
                fact.pair = self._origin(row.near[0], axis)
            elif sources and not fact.leaves:
                same = self._leaves.get(entry.fact)
                fact.leaves = self._places(same.mentions) if same is not None else []
        for line in axis.lines:
            claim = line.claim
            fact = self._put(claim.kind, " ".join(claim.text.split()), claim.text)
            fact.claim = "verified" if line.source else "consent" if claim.kind == "user_consent" else "unverified"
            fact.tier, fact.sources = "A", (line.source,) if line.source else ()
            fact.summary.append((line.index, claim.start, claim.end))

    def terms(self, axis: dict[str, list[dict[str, object]]]) -> None:
        for name, state in STATES.items():
            for row in axis[name]:
                term = str(row["term"])
                fact = self._put(str(row["list"]), term, term)
                if state == "superseded":
                    fact.claim = state
                    fact.summary = list(_found(term, enumerate(self._case.summary), TERM_PLACES))
                else:
                    fact.fate = state
                    seqs = row["leafSeqs"]
                    fact.leaves = self._in_leaves(term, seqs if isinstance(seqs, list) else [], TERM_PLACES)

    def counterparts(self) -> None:
        """Give a fact that is held up, or kept, under another name its place on the other side."""
        find = Counterparts(self._case, self._summary, self._leaves)
        for fact in [one for one in self.facts.values() if one.claim == "verified" and not one.leaves]:
            entry = find.in_leaves(fact.cls, fact.canon, fact.text)
            if entry is not None and not self._link(fact, entry):
                fact.leaves = self._places(entry.mentions)
            elif entry is None:
                for block, at in find.text_in_leaves(fact.text):
                    start = self._starts[_name(block)] + at
                    fact.leaves.append((block.seq, start, start + len(fact.text)))
        for fact in [one for one in self.facts.values() if one.fate == "kept" and not one.summary and not one.pair]:
            entry = find.in_summary(fact.cls, fact.canon, fact.text)
            if entry is None or not self._link(fact, entry):
                fact.summary = list(_found(fact.text, enumerate(self._case.summary), PLACES))
        for fact, item in self._old:
            self._point_at_old(fact, item)
        for fact in list(self.facts.values()):
            other = self.facts.get(fact.pair) if fact.pair else None
            if other is not None and other.pair is None:
                other.pair = (fact.cls, fact.canon)

    def _link(self, fact: Marked, entry: Entry) -> bool:
        other = self.facts.get((entry.fact.cls, entry.fact.canon))
        if other is None or other is fact:
            return False
        fact.pair = (other.cls, other.canon)
        return True

    def _point_at_old(self, fact: Marked, item: Demand) -> None:
        """Where the value that a correction replaced still stands in the summary."""
        what = item.what
        olds = (what.old, *what.old_values) if isinstance(what, Correction) else ()
        for old in olds:
            places = list(_found(old, enumerate(self._case.summary), PLACES)) if old else []
            if places:
                fact.summary = places
                return

    def _origin(self, canon: str, axis: Fidelity) -> Key | None:
        return next((key for key in sorted(axis.altered_from) if key[1] == canon and key in self.facts), None)

    def _fact(self, fact: Fact) -> Marked:
        return self._put(fact.cls, fact.canon, fact.text)

    def _put(self, cls: str, canon: str, text: str) -> Marked:
        return self.facts.setdefault((cls, canon), Marked(cls, canon, text))

    def _places(self, mentions: Iterable[Mention]) -> list[Place]:
        found = []
        for mention in mentions:
            start = self._starts.get(_name(mention.block))
            if start is not None:
                found.append((mention.block.seq, start + mention.fact.start, start + mention.fact.end))
        return found[:PLACES]

    def _in_leaves(self, term: str, seqs: Iterable[object], most: int) -> list[Place]:
        wanted, found = set(seqs), list[Place]()
        for leaf in self._case.leaves:
            if leaf.seq in wanted and len(found) < most:
                for block, start in _blocks(leaf):
                    one = _found(term, ((block.seq, block.text),), most - len(found))
                    found.extend((seq, start + a, start + b) for seq, a, b in one)
        return found


def _name(block: Block) -> tuple[object, ...]:
    """A block by what tells it apart in its log: audits that share their leaves need not share the objects."""
    return (block.seq, block.index, block.source, len(block.text))


def _blocks(leaf: Leaf) -> Iterable[tuple[Block, int]]:
    start = 0
    for block in leaf.blocks:
        yield block, start
        start += len(block.text) + len(JOINT)


def _found(needle: str, texts: Iterable[tuple[int, str]], most: int) -> Iterable[Place]:
    for where, text in texts:
        at = text.find(needle)
        while at >= 0 and most > 0:
            yield where, at, at + len(needle)
            most -= 1
            at = text.find(needle, at + len(needle))
