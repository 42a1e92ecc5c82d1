"""Facts of one audit, the texts they stand in, and how the same facts fared in other rounds of the log.

Callers pass an audit or a compaction that they may see (audit.selectors); whether they may see content is asked by the page.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from audit.models import Audit, Fact, MarkedText
from audit.selectors import Chosen, audits_of, chosen
from audit.services.facts import LEAF, SUMMARY
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Compaction, Message, Outcome

WINDOW = 40
LISTED = 200
KEPT_LISTED = 40
MOST_LEAVES = 1 << 21
IN_ONE_QUERY = 30_000  # a database takes so many parameters
ONLY_ORIGINALS = ("lost", "missing", "scope_lost")
ONLY_SUMMARY = ("unverified", "consent", "superseded")


@dataclass(frozen=True)
class Round:
    """One completed compaction of a log, and the record of it that counts."""

    compaction: Compaction
    chosen: Chosen | None


def rounds_of(caller: Caller, compaction: Compaction) -> list[Round]:
    """All completed compactions of its log in order, and itself if it is none of them. Four queries."""
    rows = Compaction.objects.for_caller(caller).filter(log=compaction.log_id).order_by("position")
    rows = rows.filter(Q(outcome=Outcome.COMPLETED) | Q(pk=compaction.pk))
    listed = list(rows.only("id", "round", "position", "outcome", "summary_seq", "log_id", "team_id"))
    found = chosen(audits_of(caller).filter(compaction__in=[row.pk for row in listed]))
    return [Round(row, found.get(row.pk)) for row in listed]


def leaf_seqs(compaction: Compaction, audit: Audit | None) -> list[int]:
    """Seqs of the original events in order: by the record's ledger; without a record, what the summary itself names."""
    if audit is None:
        return sorted({seq for seq in compaction.shadowed_seqs or [] if isinstance(seq, int)})
    ledger = audit.record.get("ledger") if isinstance(audit.record, dict) else None
    found: list[int] = []
    for first, last in (ledger or {}).get("leafSeqs") or []:
        if len(found) + last - first < MOST_LEAVES:
            found.extend(range(first, last + 1))
    return found


def is_leaf(seqs: Sequence[int], seq: int) -> bool:
    """Whether `seq` is among the leaves in order."""
    at = bisect_left(seqs, seq)
    return at < len(seqs) and seqs[at] == seq


@dataclass(frozen=True)
class Window:
    """Neighbouring leaves. `back` and `on`: the seq that the windows before and after are asked for by."""

    seqs: list[int]
    back: int | None = None
    on: int | None = None


def window(seqs: Sequence[int], at: int | None, size: int = WINDOW) -> Window:
    """The window that holds leaf `at` (or the one after where it would stand). Windows never overlap."""
    near = 0 if at is None else min(bisect_left(seqs, at), max(0, len(seqs) - 1))
    first = near - near % size
    return Window(
        list(seqs[first : first + size]),
        seqs[first - size] if first else None,
        seqs[first + size] if first + size < len(seqs) else None,
    )


class MarkedFact(NamedTuple):
    """What of a stored fact its marks need; a text may hold many thousands."""

    position: int
    key: str
    cls: str
    fate: str
    claim: str
    sources: tuple[str, ...]


@dataclass
class Marks:
    """What is marked in some texts of an audit: by seq, by block of the summary; the facts by position, some whole by key."""

    leaves: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    summary: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    by_position: dict[int, MarkedFact] = field(default_factory=dict)
    by_key: dict[str, Fact] = field(default_factory=dict)


def marks_in(audit: Audit, seqs: Collection[int], *, keys: Collection[str] = (), summary: bool = True) -> Marks:
    """Marks of these leaves and of the summary, with their facts, and the facts of `keys`. Three queries, unless there are
    very many facts."""
    found = Marks()
    texts = Q(side=LEAF, place__in=seqs) | Q(side=SUMMARY) if summary else Q(side=LEAF, place__in=seqs)
    rows = MarkedText.objects.for_team(audit.team_id).filter(texts, audit=audit)
    wanted: set[int] = set()
    for side, place, marks in rows.values_list("side", "place", "marks"):
        (found.leaves if side == LEAF else found.summary)[place] = [tuple(mark) for mark in marks]
        wanted.update(mark[2] for mark in marks)
    facts = Fact.objects.for_team(audit.team_id).filter(audit=audit)
    positions = sorted(wanted)
    for at in range(0, len(positions), IN_ONE_QUERY):
        some = facts.filter(position__in=positions[at : at + IN_ONE_QUERY]).annotate(said=Cast("sources", TextField()))
        for position, key, cls, fate, claim, said in some.values_list(
            "position", "key", "cls", "fate", "claim", "said"
        ):
            found.by_position[position] = MarkedFact(position, key, cls, fate, claim, _sources(said))
    if keys:
        found.by_key = {fact.key: fact for fact in facts.filter(key__in=keys).defer("canon")}
    return found


@lru_cache(maxsize=256)
def _sources(text: str | None) -> tuple[str, ...]:
    """Few lists occur, in very many rows."""
    return tuple(json.loads(text or "null") or ())


def fact_and_pair(audit: Audit, key: str) -> tuple[Fact | None, Fact | None]:
    """A fact by its key, and the one that stands for it on the other side. One query."""
    if not key:
        return None, None
    rows = Fact.objects.for_team(audit.team_id).filter(Q(key=key) | Q(pair=key), audit=audit).order_by("position")
    found = list(rows[:8])
    fact = next((row for row in found if row.key == key), None)
    pairs = [row for row in found if row.key != key]
    pair = next((row for row in pairs if fact is not None and row.key == fact.pair), pairs[0] if pairs else None)
    return fact, pair


def one_sided(audit: Audit) -> tuple[list[Fact], list[Fact]]:
    """(only in the originals, only in the summary), each at most LISTED + 1, those about people's words first. Two queries."""
    rows = Fact.objects.for_team(audit.team_id).filter(audit=audit).order_by("tier", "position").defer("canon")
    lost, more = rows.filter(fate__in=ONLY_ORIGINALS, claim=""), rows.filter(claim__in=ONLY_SUMMARY, fate="")
    return list(lost[: LISTED + 1]), list(more[: LISTED + 1])


def kept(audit: Audit) -> list[Fact]:
    """Key facts that the summary keeps, at most KEPT_LISTED + 1. One query."""
    rows = Fact.objects.for_team(audit.team_id).filter(audit=audit, fate="kept").order_by("position")
    return list(rows.only("key", "text")[: KEPT_LISTED + 1])


def in_rounds(rounds: Iterable[Round], keys: Collection[str]) -> dict[str, dict[int, str]]:
    """key → {compaction id: state} of these facts in these rounds. One query."""
    home = {one.chosen.audit.pk: one.compaction for one in rounds if one.chosen is not None}
    found: dict[str, dict[int, str]] = {}
    team = next((row.team_id for row in home.values()), None)
    if not keys or team is None:
        return found
    rows = Fact.objects.for_team(team).filter(audit__in=list(home), key__in=keys)
    for audit, key, fate, claim in rows.values_list("audit_id", "key", "fate", "claim"):
        found.setdefault(key, {})[home[audit].pk] = fate or claim
    return found


def messages_at(compaction: Compaction, seqs: Collection[int]) -> dict[int, Message]:
    """The leaves' messages by seq; of a seq that a damaged log has twice the first one, as the ledger takes it."""
    rows = Message.objects.for_team(compaction.team_id).filter(log=compaction.log_id, seq__in=seqs)
    found: dict[int, Message] = {}
    for row in rows.order_by("position").defer("digest"):
        found.setdefault(row.seq, row)
    return found


def last_human(compaction: Compaction, seqs: Sequence[int]) -> int | None:
    """Seq of the last thing a person said before the cut. One query, some rows."""
    if not seqs:
        return None
    below = set(seqs)
    rows = Message.objects.for_team(compaction.team_id).filter(
        log=compaction.log_id, human=True, seq__gte=seqs[0], seq__lte=seqs[-1]
    )
    return next((seq for seq in rows.order_by("-seq").values_list("seq", flat=True)[:500] if seq in below), None)


def earlier_spans(compaction: Compaction, rounds: Iterable[Round]) -> dict[int, list[int]]:
    """Number of an earlier round → the seqs it replaced itself. One query; none in the first round."""
    before = {
        one.compaction.pk: one.compaction.round for one in rounds if one.compaction.position < compaction.position
    }
    if not before:
        return {}
    rows = Compaction.objects.for_team(compaction.team_id).filter(pk__in=list(before)).order_by("position")
    found: dict[int, list[int]] = {}
    for pk, seqs in rows.values_list("pk", "shadowed_seqs"):
        number: Any = before[pk]
        if number is not None:
            found[number] = [seq for seq in seqs or [] if isinstance(seq, int)]
    return found
