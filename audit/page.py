"""What stands in the three columns of a compaction's page: signals, originals, summary, with one fact selected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from audit import presenting_originals as originals
from audit import presenting_signals as presenting
from audit import selectors_facts as selectors
from audit.models import Audit, Fact, ReviewVerdict
from audit.presenting_marks import Marker, summary_html
from audit.presenting_signals import Row
from audit.selectors import counts_of, signals_of
from audit.selectors_facts import Marks, Round
from audit.selectors_review import reviews_of
from audit.words import class_words, mark_words
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Compaction
from dshweb.ui.query import with_query

FIRST = 60


@dataclass
class Asked:
    """What the address asks for: a fact by its key, a signal by its id, a leaf by its seq, a kind and a class."""

    fact: str = ""
    signal: int | None = None
    at: int | None = None
    kind: str = ""
    cls: str = ""
    all: bool = False


@dataclass
class Selected:
    """The selected fact, the one that stands for it on the other side, and the keys of both."""

    fact: Fact | None = None
    pair: Fact | None = None
    key: str = ""

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(key for key in (self.key, self.pair.key if self.pair else "") if key)

    @property
    def seq(self) -> int | None:
        """Where in the originals it stands."""
        for one in (self.fact, self.pair):
            if one is not None and one.leaves:
                return int(one.leaves[0][0])
        return None


@dataclass
class Listed:
    """The signals column."""

    rows: list[Row] = field(default_factory=list)
    chips: list[presenting.Chip] = field(default_factory=list)
    classes: list[tuple[str, Any, int]] = field(default_factory=list)
    total: int = 0
    signals: int = 0
    reviewed: int = 0
    more: bool = False


class Columns:
    """Asks what a page or one of its fragments needs, once. Only for who may see the session's content."""

    def __init__(self, caller: Caller, compaction: Compaction, audit: Audit | None, rounds: Sequence[Round]) -> None:
        self.caller, self.compaction, self.audit, self.rounds = caller, compaction, audit, rounds

    @cached_property
    def seqs(self) -> list[int]:
        """The original events, which may be very many: a fact's card does without."""
        return selectors.leaf_seqs(self.compaction, self.audit)

    @property
    def marked(self) -> Audit | None:
        """The audit, when the texts here are those its places were taken from."""
        audit = self.audit
        fits = audit is not None and audit.marked and audit.masking == self.compaction.log.masking
        return audit if fits else None

    @cached_property
    def last(self) -> int | None:
        return selectors.last_human(self.compaction, self.seqs)

    def selected(self, key: str) -> Selected:
        if self.marked is None or not key:
            return Selected(key=key)
        fact, pair = selectors.fact_and_pair(self.marked, key)
        return Selected(fact, pair, key)

    def marks(self, seqs: Sequence[int], *, summary: bool, keys: Collection[str] = ()) -> Marks:
        return Marks() if self.marked is None else selectors.marks_in(self.marked, seqs, keys=keys, summary=summary)

    def marker(self, marks: Marks, side: str, chosen: Selected) -> Marker:
        address = reverse("compaction", args=[self.compaction.pk])
        return Marker(marks.by_position, side, chosen.keys, f"{address}?fact=")

    def window(self, at: int | None, chosen: Selected, marks: Marks | None = None) -> dict[str, Any]:
        """One window of the originals: the items, and what the windows before and after are asked for by."""
        part = selectors.window(self.seqs, chosen.seq if at is None else at)
        found = marks or self.marks(part.seqs, summary=False)
        around = originals.Around(self.compaction, self.last, selectors.earlier_spans(self.compaction, self.rounds))
        messages = selectors.messages_at(self.compaction, part.seqs)
        marker = self.marker(found, "l", chosen)
        return {
            "items": originals.items(part.seqs, messages, found.leaves, marker, around),
            "back": part.back,
            "on": part.on,
            "first": part.seqs[0] if part.seqs else None,
            "missing": len(part.seqs) - len(messages),
        }

    def page(self, asked: Asked, query: QueryDict) -> dict[str, Any]:
        """Everything the three columns show."""
        listed = self.listed(asked, query)
        chosen = self.selected(asked.fact)
        if chosen.fact is None and not any(row.fact == asked.fact for row in listed.rows):
            chosen = self.selected(self._key_of(asked, listed.rows))
        key = chosen.key
        at = chosen.seq if asked.at is None else asked.at
        part = selectors.window(self.seqs, at)
        keys = {row.fact for row in listed.rows} | chosen.keys
        marks = self.marks(part.seqs, summary=True, keys=keys)
        fared = self._fared(keys)
        for row in listed.rows:
            row.places = places(Selected(marks.by_key.get(row.fact)))
            row.current = row.fact == key and (asked.signal is None or row.signal_id == asked.signal)
            row.fared = fared[row.fact]
        card = None
        if chosen.fact is not None and not any(row.current for row in listed.rows):
            card = presenting.row_of_fact(chosen.fact, fared[key])
        lost, more = selectors.one_sided(self.marked) if self.marked else ([], [])
        kept = selectors.kept(self.marked) if self.marked else []
        marker = self.marker(marks, "s", chosen)
        blocks = self.compaction.summary or []
        return {
            "listed": listed,
            "chosen": chosen,
            "card": card,
            "places": places(chosen),
            "window": self.window(at, chosen, marks),
            "leaves": len(self.seqs),
            "spans": (self.seqs[0], self.seqs[-1]) if self.seqs else None,
            "last": self.last,
            "summary": summary_html(
                marker,
                blocks,
                marks.summary,
                whole=asked.all,
                address="" if asked.all else f"?{with_query(query, all='1')}#summary",
            ),
            "only_originals": absent(lost, chosen, selectors.ONLY_ORIGINALS),
            "only_summary": absent(more, chosen, selectors.ONLY_SUMMARY),
            "unmarked": self.audit is not None and self.marked is None,
            "kept": (kept[: selectors.KEPT_LISTED], len(kept)),
            "assistant_only": presenting.assistant_only(self.audit) if self.audit else [],
            "filter": asked,
            "bare_query": with_query(query, kind="", cls=""),
            "all_query": with_query(query, all="1"),
        }

    def listed(self, asked: Asked, query: QueryDict) -> Listed:
        if self.audit is None:
            return Listed()
        counted: Counter[tuple[str, str]] = Counter()
        found = Listed()
        for (kind, cls, review), n in counts_of(self.audit).items():
            counted[kind, cls] += n
            found.signals += n
            found.reviewed += n if review != ReviewVerdict.OPEN else 0
        terms = presenting.terms_of(self.audit)
        counted.update((row.kind_name, row.cls_name) for row in terms)
        narrowed = bool(asked.kind or asked.cls)
        whole = asked.all or narrowed
        signals = signals_of(self.audit, None if whole else FIRST + 1)
        if asked.signal is not None and len(signals) > FIRST and all(one.pk != asked.signal for one in signals[:FIRST]):
            whole, signals = True, signals_of(self.audit)
        found.more = not whole and len(signals) > FIRST
        reviews = reviews_of(self.caller, self.compaction)
        rows = [presenting.row_of(signal, reviews) for signal in (signals[:FIRST] if found.more else signals)] + terms
        found.rows = [row for row in rows if asked.kind in ("", row.kind_name) and asked.cls in ("", row.cls_name)]
        kinds: Counter[str] = Counter()
        classes: Counter[str] = Counter()
        for (kind, cls), n in counted.items():
            kinds[kind] += n if asked.cls in ("", cls) else 0
            classes[cls] += n if asked.kind in ("", kind) else 0
        found.chips = presenting.chips(kinds, query, asked.kind)
        found.classes = [(cls, class_words(cls), n) for cls, n in sorted(classes.items()) if n]
        found.total = sum(counted.values())
        return found

    def _key_of(self, asked: Asked, rows: Sequence[Row]) -> str:
        wanted = next((row for row in rows if asked.signal is not None and row.signal_id == asked.signal), None)
        if wanted is None and asked.at is not None:
            return ""
        first = wanted or next(iter(rows), None)
        return first.fact if first else ""

    def _fared(self, keys: Collection[str]) -> dict[str, list[presenting.Fared]]:
        states = selectors.in_rounds(self.rounds, keys) if len(self.rounds) > 1 else {}
        return {key: presenting.fared(states.get(key, {}), self.rounds, self.compaction.pk) for key in keys}

    def card(self, key: str) -> dict[str, Any] | None:
        """One fact by itself, for the fragment beside the list."""
        chosen = self.selected(key)
        if chosen.fact is None:
            return None
        row = presenting.row_of_fact(chosen.fact, self._fared([key])[key])
        return {"card": row, "chosen": chosen, "places": places(chosen), "compaction": self.compaction}


def places(chosen: Selected) -> list[int]:
    """Seqs in which the selected fact stands, each once."""
    found = [int(one[0]) for fact in (chosen.fact, chosen.pair) if fact is not None for one in fact.leaves]
    return sorted(set(found))


@dataclass(frozen=True)
class Absent:
    """A fact at the foot of the side where it is not."""

    fact: Fact
    words: Any
    icon: str
    state: str
    on: bool


def absent(facts: Sequence[Fact], chosen: Selected, states: Sequence[str]) -> tuple[list[Absent], bool]:
    """Facts for the foot of a column, and whether there are more than are listed. The selected one is always among them."""
    found = []
    listed = list(facts[: selectors.LISTED])
    one = chosen.fact
    if one is not None and (one.fate or one.claim) in states and all(fact.key != one.key for fact in listed):
        listed.insert(0, one)
    for fact in listed:
        state = fact.fate or fact.claim
        words, icon, _tone = mark_words(state)
        found.append(Absent(fact, words, icon, state, fact.key in chosen.keys))
    return found, len(facts) > selectors.LISTED
