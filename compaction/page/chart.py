"""The budget and retention chart: what `inspect` says of one session under the draft's settings, ready to be drawn and read.

Rule: issue 5.4, seed «预算/保留», DECISIONS 14 and 16: drawn from `budget` and `preview` only; nothing is drawn for another engine,
nothing unknown is 0, what comes after a compaction is an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compaction.core.formula import NoSpec, Spec
from compaction.core.policy import Policy
from compaction.core.session_facts import SessionFacts
from compaction.page import chart_rows, chart_said, formula_told
from compaction.page.chart_layout import LANE, Mark, Segment, Tick, brief, lanes, partition, percent, place, ticks
from compaction.page.chart_rows import NAMES, Figures, Row
from compaction.page.chart_said import Cut
from compaction.page.formula_told import Formula
from dshweb.ui.templatetags.dshweb import tokens

BAR: Final = 44
"""Height of the bar in px."""
ZOOM: Final = 28
"""Height of the enlarged bar."""
_SMALL: Final = 15
"""Percent of the bar below which what is in use is drawn once more, enlarged."""
_SHORT: Final[dict[str, Promise]] = {
    "now": gettext_lazy("now %s"),
    "trigger": gettext_lazy("trigger %s"),
    "held": gettext_lazy("engine %s"),
    "ratio": gettext_lazy("ratio %s"),
    "window": gettext_lazy("window %s"),
}
MEASURES: Final[dict[str, Promise]] = {
    "measured": gettext_lazy("measured: rests on what the provider counted"),
    "estimated": gettext_lazy("estimated by the fixed heuristic"),
}


@dataclass(frozen=True, slots=True)
class Span:
    """What one kind of compaction would replace at most. `open`: where it ends depends on the last exchange."""

    kind: str
    label: str
    slim: str
    tokens: int
    x: float
    end: float
    open: bool
    y: int

    @property
    def left(self) -> str:
        return percent(self.x)

    @property
    def right(self) -> str:
        return percent(self.end)

    @property
    def anchor(self) -> str:
        return "start" if self.x < 50 else "end"

    @property
    def words_at(self) -> str:
        return self.left if self.x < 50 else self.right


@dataclass(frozen=True, slots=True)
class Chart:
    """What the template draws. `sentence`: nothing is drawn, and why. Heights in px, places in percent of the width."""

    sentence: str = ""
    hint: str = ""
    formula: Formula | None = None
    cut: Cut | None = None
    measured: str = ""
    estimated: bool = False
    route: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    segments: tuple[Segment, ...] = ()
    zoom: tuple[Segment, ...] = ()
    zoom_words: str = ""
    after: tuple[Segment, ...] = ()
    marks: tuple[Mark, ...] = ()
    now: Mark | None = None
    zone: tuple[str, str] | None = None
    over: tuple[str, str] | None = None
    spans: tuple[Span, ...] = ()
    ticks: tuple[Tick, ...] = ()
    rows: tuple[Row, ...] = ()
    lines: tuple[Row, ...] = ()
    after_rows: tuple[Row, ...] = ()
    window: Row | None = None
    retain: int | None = None
    after_words: str = ""
    told: str = ""
    bar: int = BAR
    zoom_bar: int = ZOOM

    @property
    def drawn(self) -> bool:
        return bool(self.rows)

    @property
    def top(self) -> int:
        """Where the bar begins, under the words of the marks."""
        return len(self.marks) * LANE + 8

    @property
    def bottom(self) -> int:
        return self.top + self.bar

    @property
    def middle(self) -> int:
        return self.top + self.bar // 2 + 4

    @property
    def height(self) -> int:
        return self.bottom + LANE + 6 + (0 if self.zoom else 24 * len(self.spans))

    @property
    def zoom_height(self) -> int:
        return ZOOM + 4 + 24 * len(self.spans)

    def lane_marks(self) -> list[tuple[Mark, int]]:
        """Each mark above the bar with the baseline of its words."""
        return [(mark, self.top - 9 - LANE * mark.lane) for mark in self.marks]

    def span_lines(self) -> list[tuple[Span, int]]:
        """Each span with the height of its line."""
        top = ZOOM + 8 if self.zoom else self.bottom + LANE + 10
        return [(span, top + 24 * span.y) for span in self.spans]


def drawn(
    budget: Mapping[str, Any] | None,
    preview: Mapping[str, Any] | None,
    spec: Spec | NoSpec | None,
    policy: Policy | None,
    facts: SessionFacts | None,
    held: Mapping[str, Any] | None = None,
    *,
    engine: Mapping[str, Any] | None = None,
) -> Chart:
    """The chart of a session. `budget` and `preview` as in `inspect`, worked out for the settings of the draft.

    `held`: inspect's own budget where an engine holds settings. `engine`: inspect's; None without a session.
    """
    window = budget["contextWindow"] if budget else None
    formula = formula_told.told(spec, policy, facts, window)
    if budget is None or budget["currentTokens"] is None:
        foreign = engine is not None and not engine["inspectApplies"]
        sentence, hint = chart_said.nothing(budget, preview, foreign=foreign, chosen=engine is not None)
        return Chart(sentence, hint, formula=None if foreign else formula)
    after = preview["afterUpperBoundTokens"] if preview else None
    at = Figures(
        budget["currentTokens"], window, budget["fixedTokens"], budget["thresholdTokens"], budget["retainTokens"],
        budget["summaryMaxTokens"], _held(budget, held),
        int(spec.ratio_term) if isinstance(spec, Spec) and spec.winner == "headroom" else None, after,
    )  # fmt: skip
    return _chart(at, preview, spec, policy, facts, formula, str(budget["measurement"]))


def _chart(
    at: Figures, preview: Mapping[str, Any] | None, spec: Spec | NoSpec | None, policy: Policy | None,
    facts: SessionFacts | None, formula: Formula | None, measurement: str,
) -> Chart:  # fmt: skip
    whole = at.whole
    above = [
        (kind, tokens)
        for kind, tokens in (("trigger", at.trigger), ("held", at.held), ("ratio", at.ratio))
        if tokens is not None
    ]
    if at.window is not None and whole > at.window:
        above.append(("window", at.window))
    now = place(at.now, whole)
    route = facts.route if facts else None
    rows, lines = chart_rows.zones(at), chart_rows.lines(at)
    zoomed = at.now > 0 and now < _SMALL
    spans = _spans(at, at.now if zoomed else whole)
    said = [*((row.name, row.tokens) for row in (*rows, *lines)), *((span.label, span.tokens) for span in spans)]
    return Chart(
        formula=formula,
        cut=chart_said.cut(at, preview, spec, policy),
        measured=str(MEASURES.get(measurement, "")),
        estimated=measurement == "estimated",
        route="/".join(one for one in (route.provider, route.model) if one) if route else "",
        notes=chart_said.notes(at),
        segments=partition([(kind, n, str(NAMES[kind])) for kind, n in (*at.used(), *at.unused())], whole),
        zoom=partition([(kind, n, str(NAMES[kind])) for kind, n in at.used()], at.now) if zoomed else (),
        zoom_words=_("In use, enlarged: %(n)s") % {"n": tokens(at.now)} if zoomed else "",
        after=partition([(kind, n, str(NAMES[kind])) for kind, n in at.afterwards()], whole),
        marks=lanes([(kind, n, str(_SHORT[kind]) % brief(n)) for kind, n in above], whole),
        now=Mark("now", at.now, now, str(_SHORT["now"]) % brief(at.now), "start" if now < 50 else "end", 0),
        zone=_stretch(at.trigger, at.window, whole),
        over=_stretch(at.window, at.now, whole),
        spans=spans,
        ticks=ticks(whole, _("0 tokens")),
        rows=rows,
        lines=lines,
        after_rows=chart_rows.after_rows(at),
        window=chart_rows.window_row(at),
        retain=at.retain,
        after_words=chart_said.after_words(at),
        told="; ".join(f"{name}: {tokens(n)}" for name, n in said if n is not None),
    )


def _held(budget: Mapping[str, Any], held: Mapping[str, Any] | None) -> int | None:
    trigger = held["thresholdTokens"] if held else None
    return None if trigger is None or trigger == budget["thresholdTokens"] else trigger


def _stretch(begin: int | None, end: int | None, whole: int) -> tuple[str, str] | None:
    """Place and width of what lies over the zones: the zone after the trigger, what is in use beyond the window."""
    if begin is None or end is None or end <= begin:
        return None
    left, right = place(begin, whole), place(end, whole)
    return percent(left), percent(right - left)


def _spans(at: Figures, whole: int) -> tuple[Span, ...]:
    """What automatic compaction takes at most, and what /compact and the recovery from an overflow may take."""
    if at.head is None or at.tail is None or at.behind <= 0:
        return ()
    begin, older = place(at.head, whole), at.behind - at.tail
    found = []
    if older > 0:
        found.append(("automatic", _("automatic compaction may replace this"), _("automatic"), older))
    found.append(("manual", _("/compact and overflow: up to the last exchange"), _("manual, overflow"), at.behind))
    return tuple(
        Span(kind, words, slim, n, begin, place(at.head + n, whole), kind == "manual", y)
        for y, (kind, words, slim, n) in enumerate(found)
    )
