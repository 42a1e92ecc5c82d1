"""The signals of one compaction as its page lists them: what was found, where it stands, how it fared in other rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from audit.core.compliance import STATES
from audit.core.marks import fact_key
from audit.core.schema import ASSISTANT
from audit.models import Audit, Fact, Review, Signal
from audit.presenting import dict_in, dicts_in
from audit.selectors_facts import Round
from audit.words import ELSEWHERE, TIERS, class_words, kind_words, mark_words, source_words
from dshweb.ui.query import with_query

ROUNDS_SHOWN = 8
# in this order, so that a key always toggles the same kind
SIGNAL_KINDS = ("altered", "stale", "unverified", "consent", "lost")
ORDER = (*SIGNAL_KINDS, "missing", "superseded", "scope_lost")


@dataclass(frozen=True)
class Fared:
    """How a fact fared in one round. `state` is None where the round's record does not know it."""

    number: int | None
    compaction: int
    words: Any
    icon: str
    here: bool


@dataclass
class Row:
    """One signal, or one open term of the vocabulary (then without `signal_id`: terms have no verdict)."""

    rank: str
    kind_name: str
    kind: Any
    icon: str
    tone: str
    cls_name: str
    cls: Any
    text: str
    fact: str
    tier: Any = ""
    tier_name: str = ""
    signal_id: int | None = None
    side: str = ""
    seq: int | None = None
    sources: list[Any] = field(default_factory=list)
    occurrences: int | None = None
    near: str | None = None
    elsewhere: Any = None
    assistant_only: bool = False
    also: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    members_cut: int = 0
    places: list[int] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    fared: list[Fared] = field(default_factory=list)
    current: bool = False


@dataclass(frozen=True)
class Chip:
    """Something to filter by: its name, words and icon, how many signals, the query that filters by it. `key` is the digit
    that toggles it, 0 without one.
    """

    name: str
    words: Any
    icon: str
    count: int
    query: str
    chosen: bool
    key: int = 0


def row_of(signal: Signal, reviews: Mapping[str, list[Review]]) -> Row:
    data = signal.data if isinstance(signal.data, dict) else {}
    words, icon, tone = kind_words(signal.kind)
    near, family = dict_in(data, "near"), dict_in(data, "family")
    members = [str(member) for member in family.get("members") or []]
    return Row(
        rank=str(signal.rank),
        kind_name=signal.kind,
        kind=words,
        icon=icon,
        tone=tone,
        cls_name=signal.cls,
        cls=class_words(signal.cls),
        text=signal.text,
        fact=fact_key(signal.cls, signal.canon),
        tier=TIERS.get(signal.tier),
        tier_name=signal.tier,
        signal_id=signal.pk,
        side=signal.side,
        seq=signal.seq,
        sources=source_words(data.get("sources")),
        occurrences=data.get("occurrences"),
        near=near.get("canon"),
        elsewhere=ELSEWHERE.get(data.get("foundElsewhere") or ""),
        assistant_only=data.get("evidence") == "assistant_only",
        also=[str(one) for one in data.get("also") or []],
        members=members,
        members_cut=max(0, (family.get("size") or 0) - len(members)),
        reviews=reviews.get(signal.key, []),
    )


def terms_of(audit: Audit) -> list[Row]:
    """Open terms of the vocabulary, after the signals: they are to be looked at like these."""
    axis = dict_in(audit.record if isinstance(audit.record, dict) else {}, "compliance")
    found: list[Row] = []
    for name, kind in STATES.items():
        words, icon, tone = kind_words(kind)
        for term in dicts_in(axis, name):
            text, cls = str(term.get("term", "")), str(term.get("list", ""))
            seqs = term.get("leafSeqs") or []
            found.append(
                Row(
                    rank=f"{kind}-{len(found)}",
                    kind_name=kind,
                    kind=words,
                    icon=icon,
                    tone=tone,
                    cls_name=cls,
                    cls=class_words(cls),
                    text=text,
                    fact=fact_key(cls, text),
                    side="leaf" if seqs else "summary",
                    seq=seqs[0] if seqs else None,
                )
            )
    return found


def assistant_only(audit: Audit) -> list[Row]:
    """What the summary asserts on the assistant's word alone: matched, so no signals."""
    record = audit.record if isinstance(audit.record, dict) else {}
    rows = dicts_in(dict_in(record, "fidelity"), "assistantOnly")
    return [
        row_of(
            Signal(
                rank=rank,
                axis="fidelity",
                cls=str(row.get("class", "")),
                kind=str(row.get("kind", "verified")),
                text=str(row.get("text", "")),
                canon=str(row.get("canon", "")),
                side="summary",
                data=row,
            ),
            {},
        )
        for rank, row in enumerate(rows)
    ]


def row_of_fact(fact: Fact, fared: list[Fared]) -> Row:
    """A fact that is no signal, e.g. a kept one that was clicked."""
    state = fact.fate or fact.claim
    words, icon, tone = mark_words(state)
    return Row(
        rank="",
        kind_name=state,
        kind=words,
        icon=icon,
        tone=tone,
        cls_name=fact.cls,
        cls=class_words(fact.cls),
        text=fact.text,
        fact=fact.key,
        tier=TIERS.get(fact.tier),
        sources=source_words(fact.sources),
        seq=fact.leaves[0][0] if fact.leaves else None,
        side="leaf" if fact.leaves else "summary",
        assistant_only=bool(fact.sources) and ASSISTANT.issuperset(fact.sources),
        fared=fared,
    )


def fared(known: Mapping[int, str], rounds: Sequence[Round], here: int) -> list[Fared]:
    """A fact through the rounds in which it is `known` (compaction id → state), those nearest to here; nothing when that is
    this one alone.
    """
    found = []
    for one in rounds:
        state = known.get(one.compaction.pk)
        if state is not None:
            words, icon, _tone = mark_words(state)
            found.append(Fared(one.compaction.round, one.compaction.pk, words, icon, one.compaction.pk == here))
    if all(one.here for one in found):
        return []
    at = next((number for number, one in enumerate(found) if one.here), len(found) - 1)
    first = max(0, min(at - ROUNDS_SHOWN // 2, len(found) - ROUNDS_SHOWN))
    return found[first : first + ROUNDS_SHOWN]


def chips(counted: Counter[str], query: QueryDict, chosen: str) -> list[Chip]:
    """One for each kind there is; its query filters by it alone, or by nothing when it is the chosen one."""
    found: list[Chip] = []
    for name in (*(kind for kind in ORDER if counted[kind]), *sorted(counted.keys() - set(ORDER))):
        words, icon, _tone = mark_words(name)
        found.append(
            Chip(name, words, icon, counted[name], with_query(query, kind="" if name == chosen else name), name == chosen,
                 len(found) + 1)
        )  # fmt: skip
    return found
