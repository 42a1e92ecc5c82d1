"""The list of signals as its page shows it: rows, filters read from the address, chips with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from audit.models import Review, ReviewVerdict, Signal
from audit.presenting_signals import SIGNAL_KINDS, Chip
from audit.quotes import Quote, quotes
from audit.selectors_review import SORTS, Filters, Found, counts, models_of
from audit.words import CLASSES, KINDS, class_words, kind_words, source_words
from dshweb.access.callers import Caller, CallerRequest
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.selectors import may_see_content, sessions
from dshweb.text.lines import visible
from dshweb.ui.query import number_in, with_query

AXES = {"fidelity": _("fidelity"), "coverage": _("coverage")}
VERDICTS: dict[str, tuple[Any, str]] = {
    "open": (_("to review"), "lost"),
    "confirmed": (_("confirmed"), "ok"),
    "dismissed": (_("dismissed"), "no"),
    "": (_("all"), ""),
}
NAMES = ("verdict", "kind", "class", "axis", "session", "compaction", "model", "since", "until", "sort")


@dataclass(frozen=True)
class Row:
    """One signal on the list. Its `anchor` is its own, since ranks repeat from compaction to compaction."""

    signal: Signal
    reviews: list[Review]
    older: bool
    may_review: bool
    kind: Any
    icon: str
    tone: str
    cls: Any
    sources: list[Any]
    near: str | None
    place: str
    quote: Quote | None = None

    @property
    def signal_id(self) -> int:
        return self.signal.pk

    @property
    def rank(self) -> int:
        return self.signal.rank

    @property
    def anchor(self) -> str:
        return f"s-{self.signal.pk}"


def rows_of(found: Iterable[Found], caller: Caller) -> list[Row]:
    """Rows with the words around them. Two queries."""
    rows = list(found)
    around = quotes(one.signal for one in rows)
    return [row_of(one, caller, around.get(one.signal.pk)) for one in rows]


def row_of(found: Found, caller: Caller, quote: Quote | None = None) -> Row:
    signal = found.signal
    data = signal.data if isinstance(signal.data, dict) else {}
    near = data.get("near")
    words, icon, tone = kind_words(signal.kind)
    return Row(
        signal=signal,
        reviews=found.reviews,
        older=found.older,
        may_review=caller.may_review(signal.team_id),
        kind=words,
        icon=icon,
        tone=tone,
        cls=class_words(signal.cls),
        sources=source_words(data.get("sources")),
        near=near.get("canon") if isinstance(near, dict) else None,
        place=place_of(signal),
        quote=quote,
    )


def place_of(signal: Signal) -> str:
    """The signal on the page of its compaction."""
    return f"{reverse('compaction', args=[signal.audit.compaction_id])}?signal={signal.pk}#signal-{signal.rank}"


def filters_of(query: Mapping[str, str]) -> tuple[Filters, list[str]]:
    """What the address asks for, and the names of what in it means nothing here (and narrows nothing)."""
    wrong: list[str] = []

    def one_of(name: str, known: Any, otherwise: str = "") -> str:
        value = query.get(name, otherwise)
        if value and value not in known:
            wrong.append(name)
            return otherwise
        return value

    def number(name: str) -> int | None:
        text = query.get(name, "")
        found = number_in(text)
        if text and found is None:
            wrong.append(name)
        return found

    def day(name: str) -> date | None:
        text = query.get(name, "")
        try:
            found = date.fromisoformat(text) if text else None
        except ValueError:
            found = None
        if text and (found is None or not 2 < found.year < 9998):
            wrong.append(name)
            return None
        return found

    verdict = one_of("verdict", (*ReviewVerdict.values, "all"), "open")
    filters = Filters(
        verdict="" if verdict == "all" else verdict,
        kind=one_of("kind", KINDS),
        cls=one_of("class", CLASSES),
        axis=one_of("axis", AXES),
        session=number("session"),
        compaction=number("compaction"),
        model=query.get("model", "")[:200].replace("\x00", ""),
        since=day("since"),
        until=day("until"),
        sort=one_of("sort", SORTS, "importance") or "importance",
    )
    return filters, wrong


def tools(request: CallerRequest, filters: Filters) -> dict[str, Any]:
    """Chips, choices and the address of exports. Three queries, one more when narrowed to a session."""
    counted = counts(request.caller, filters)
    query = QueryDict(mutable=True)
    for name in NAMES:
        if value := request.GET.get(name, ""):
            query[name] = value
    whole = sum(n for (verdict, kind), n in counted.items() if _fits(verdict, kind, filters.verdict, filters.kind))
    return {
        "filters": filters,
        "query": query.urlencode(),
        "verdicts": [_verdict_chip(name, filters, query, counted) for name in VERDICTS],
        "kinds": [chip for chip in (_kind_chip(name, filters, query, counted) for name in ("", *SIGNAL_KINDS)) if chip],
        "classes": CLASSES,
        "axes": AXES,
        # a name with hidden characters is no choice to make by eye
        "models": [name for name in models_of(request.caller) if visible(name) == name],
        "whole": whole,
        "total": sum(counted.values()),
        "narrowed": [name for name in NAMES if query.get(name) and name not in {"sort", "verdict"}],
        "without": {name: with_query(query, **{name: ""}) for name in ("session", "compaction")},
        "session": _session(request.caller, filters.session) if filters.session is not None else None,
        "reviewer": any(request.caller.may_review(team) for team in request.caller.team_ids),
    }


def _session(caller: Caller, pk: int) -> Session | None:
    found = sessions(caller).filter(pk=pk).first()
    return found if found is not None and may_see_content(caller, found) else None


def _fits(verdict: str, kind: str, asked_verdict: str, asked_kind: str) -> bool:
    return (not asked_verdict or verdict == asked_verdict) and (not asked_kind or kind == asked_kind)


def _verdict_chip(name: str, filters: Filters, query: QueryDict, counted: Counter[tuple[str, str]]) -> Chip:
    words, icon = VERDICTS[name]
    n = sum(n for (verdict, kind), n in counted.items() if _fits(verdict, kind, name, filters.kind))
    return Chip(name, words, icon, n, with_query(query, verdict=name or "all"), filters.verdict == name)


def _kind_chip(name: str, filters: Filters, query: QueryDict, counted: Counter[tuple[str, str]]) -> Chip | None:
    n = sum(n for (verdict, kind), n in counted.items() if _fits(verdict, kind, filters.verdict, name))
    if name and not n and filters.kind != name:
        return None
    words, icon, _tone = KINDS[name] if name else (_("any kind"), "", "")
    return Chip(name, words, icon, n, with_query(query, kind=name), filters.kind == name)
