"""The table that says the same as the budget chart: every zone and line with its number, its share of the window, its meaning.

Rule: issue 5.4: each with number, unit and legend; the zone after the trigger is window − threshold, not split (DECISIONS 16).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compaction.core.estimate import FRAMING
from dshweb.ui.templatetags.dshweb import GAP, grouped

NAMES: Final[dict[str, Promise]] = {
    "fixed": gettext_lazy("Fixed prefix"),
    "older": gettext_lazy("Older history"),
    "tail": gettext_lazy("Retained tail"),
    "free": gettext_lazy("Free until the trigger"),
    "after": gettext_lazy("Zone after the trigger"),
    "unsplit": gettext_lazy("Fixed prefix and older history"),
    "history": gettext_lazy("History"),
    "rest": gettext_lazy("Rest of the window"),
    "over": gettext_lazy("Beyond the window"),
    "summary": gettext_lazy("Summary"),
    "kept": gettext_lazy("Kept as it is"),
    "now": gettext_lazy("In use now"),
    "trigger": gettext_lazy("Trigger point"),
    "held": gettext_lazy("Trigger point the engine holds"),
    "ratio": gettext_lazy("Threshold alone (W × ratio)"),
    "bound": gettext_lazy("After a compaction, at most"),
    "window": gettext_lazy("Context window"),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What the chart is drawn of, in tokens; None is unknown. `held`: the trigger the engine holds where it is another one.

    `ratio`: what the threshold alone would give, where the headroom made the trigger. `after`: the upper bound of the preview.
    """

    now: int
    window: int | None = None
    fixed: int | None = None
    trigger: int | None = None
    retain: int | None = None
    longest: int | None = None
    held: int | None = None
    ratio: int | None = None
    after: int | None = None

    @property
    def head(self) -> int | None:
        """The part of what is in use that no compaction removes; never more than is in use."""
        return None if self.fixed is None else min(self.fixed, self.now)

    @property
    def behind(self) -> int:
        """What is in use after the fixed prefix, as far as that is known."""
        return self.now - (self.head or 0)

    @property
    def tail(self) -> int | None:
        """What the retained tail's budget covers of the history now."""
        return None if self.retain is None else min(self.retain, self.behind)

    @property
    def whole(self) -> int:
        """Where the bars end: the window, or more where more is in use or might be."""
        return max(self.window or 0, self.now, self.after or 0, 1)

    def used(self) -> list[tuple[str, int]]:
        """What is in use, from the first token on; it sums to `now`."""
        if self.head is None:
            known = [("unsplit", self.now - (self.tail or 0))]
        elif self.tail is None:
            known = [("fixed", self.head), ("history", self.behind)]
        else:
            known = [("fixed", self.head), ("older", self.behind - self.tail)]
        return known if self.tail is None else [*known, ("tail", self.tail)]

    def unused(self) -> list[tuple[str, int]]:
        """What the window holds besides; nothing where it is unknown."""
        if self.window is None:
            return []
        if self.trigger is None:
            return [("rest", max(0, self.window - self.now))]
        return [("free", max(0, self.trigger - self.now)), ("after", max(0, self.window - max(self.trigger, self.now)))]

    def afterwards(self) -> list[tuple[str, int]]:
        """What would be in use after a compaction if the summary took all it may; it sums to `after`."""
        if self.after is None or self.longest is None:
            return []
        summary = min(self.after, self.longest + FRAMING)
        left = self.after - summary
        head = min(self.fixed or 0, left)
        return [("fixed", head), ("summary", summary), ("kept", left - head)]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `tokens` and `share` None: unknown. `line`: a line of the drawing, no zone of it."""

    kind: str
    name: str
    note: str
    tokens: int | None
    share: str | None
    line: bool = False


def zones(at: Figures) -> tuple[Row, ...]:
    """The five zones in their order, those that cannot be told apart together, and what stands beyond the window."""
    older = at.behind - at.tail if at.head is not None and at.tail is not None else None
    rows = [
        Row("fixed", "", _fixed_note(at), at.fixed, None),
        Row("older", "", _("what a compaction under pressure may summarise"), older, None),
        Row("tail", "", _tail_note(at), at.tail, None),
        Row("free", "", "", None if at.trigger is None else max(0, at.trigger - at.now), None),
        Row(
            "after",
            "",
            _after_note(at),
            None if at.trigger is None or at.window is None else at.window - at.trigger,
            None,
        ),
    ]
    for kind, tokens in (*at.used(), *at.unused()):
        if kind in _TOGETHER:
            index, note = _TOGETHER[kind]
            rows.insert(index, Row(kind, "", str(note), tokens, None))
    if at.window is not None and at.now > at.window:
        rows.append(Row("over", "", _("in use, though the window of the model is smaller"), at.now - at.window, None))
    return tuple(_named(row, at) for row in rows)


_TOGETHER: Final[dict[str, tuple[int, Promise]]] = {
    "unsplit": (2, gettext_lazy("not told apart: the fixed prefix is unknown")),
    "history": (2, gettext_lazy("older history and retained tail, not told apart without a trigger")),
    "rest": (5, gettext_lazy("not split: there is no trigger")),
}


def lines(at: Figures) -> tuple[Row, ...]:
    """The lines across the drawing, and the bound of the second bar."""
    found: list[tuple[str, int | None, Any]] = [("now", at.now, ""), ("trigger", at.trigger, "")]
    if at.held is not None:
        found.append(("held", at.held, _("until the engine is started again")))
    if at.ratio is not None:
        found.append(("ratio", at.ratio, _("the headroom makes the trigger lower")))
    if at.after is not None:
        found.append(("bound", at.after, _("an upper bound, no forecast")))
    return tuple(_named(Row(kind, "", str(note), tokens, None, line=True), at) for kind, tokens, note in found)


def after_rows(at: Figures) -> tuple[Row, ...]:
    """The parts of the second bar."""
    kept = _("the retained tail, whole exchanges of it")
    if at.fixed is None:
        kept = _("fixed prefix and retained tail, not told apart")
    notes = {"fixed": "", "summary": _("at most, with its frame"), "kept": kept}
    return tuple(
        _named(Row(kind, "", str(notes[kind]), tokens, None), at) for kind, tokens in at.afterwards() if tokens > 0
    )


def window_row(at: Figures) -> Row:
    return _named(Row("window", "", "", at.window, None), at)


def _named(row: Row, at: Figures) -> Row:
    return replace(row, name=str(NAMES[row.kind]), share=share(row.tokens, at.window))


def share(tokens: int | None, window: int | None) -> str | None:
    """A share of the window with one digit, rounded half up; what is there but rounds to 0 is told as less than 0.1."""
    if tokens is None or not window:
        return None
    tenths = (2000 * tokens + window) // (2 * window)
    if tenths == 0 and tokens > 0:
        return f"< 0.1{GAP}%"
    return f"{grouped(tenths // 10)}.{tenths % 10}{GAP}%"


def _fixed_note(at: Figures) -> str:
    if at.fixed is not None and at.fixed > at.now:
        return _("system prompt and tools; priced by themselves they come to more than is in use by the measure")
    return _("system prompt and tools; no compaction removes them")


def _tail_note(at: Figures) -> str:
    if at.retain is None:
        return _("a budget, not a pin")
    if at.tail is not None and at.tail < at.retain:
        return _("all there is; the budget is %(n)s tokens, and no pin") % {"n": grouped(at.retain)}
    return _("a budget, not a pin: an overflow may take more")


def _after_note(at: Figures) -> str:
    words = _("output reserve and headroom in one: the payload does not split them")
    if at.window is None or at.trigger is None or at.now <= at.trigger:
        return words
    inside = min(at.now, at.window) - at.trigger
    return _("%(words)s; %(n)s tokens of it are in use already") % {"words": words, "n": grouped(inside)}
