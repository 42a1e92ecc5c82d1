"""What is said beside the budget chart: the safe cut, what might be overlooked in the drawing, and why there is none.

Rule: issue 5.4, seed «预算/保留», DECISIONS 14: no chart for another engine; what comes after a compaction is an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from compaction.core.estimate import FRAMING
from compaction.core.formula import NoSpec, Spec
from compaction.core.policy import Policy
from compaction.page.chart_rows import Figures
from compaction.page.words import NO_CUT, reason_words
from dshweb.ui.templatetags.dshweb import grouped, tokens


@dataclass(frozen=True, slots=True)
class Cut:
    """The safe cut of automatic compaction. `start` None: there is none to be worked out, `words` say so and `why`."""

    words: str
    why: str
    start: int | None = None
    end: int | None = None
    tokens: int | None = None


def nothing(
    budget: Mapping[str, Any] | None, preview: Mapping[str, Any] | None, *, foreign: bool, chosen: bool
) -> tuple[str, str]:
    """Why nothing is drawn, and what to do."""
    if budget is not None:
        why = reason_words(preview["reason"]) if preview else ""
        return _("The token numbers of this session are unknown, so nothing is drawn."), why
    if foreign:
        return (
            _("Another compaction engine runs this session, so no budget and no preview are drawn for it."),
            _("Its recorded compactions are shown all the same. The settings of this page do not reach it."),
        )
    if chosen:
        told = _("Mend the fields that are marked; the drawing comes back by itself.")
        return _("With these settings nothing can be worked out."), told
    return _("No session is chosen."), _("Choose one under “Session” to see how full it is under these settings.")


def cut(at: Figures, preview: Mapping[str, Any] | None, spec: Spec | NoSpec | None, policy: Policy | None) -> Cut:
    reason = preview["reason"] if preview else None
    why = reason_words(reason, spec, policy)
    if preview is None or preview["rangeStart"] is None or preview["rangeEnd"] is None:
        if reason == "no-safe-range" and at.tail is not None and at.tail == at.behind:
            why = _("Everything after the fixed prefix fits into the retained tail.")
        return Cut(str(NO_CUT), why)
    taken = None
    if at.after is not None and at.longest is not None:
        taken = at.now + FRAMING + at.longest - at.after
    start, end = preview["rangeStart"], preview["rangeEnd"]
    # in the order of the context: a summary, written later than what follows it, stands before it
    words = (
        _("seq %(start)s (an earlier summary), then up to %(end)s") if start > end else _("seq %(start)s – %(end)s")
    ) % {
        "start": grouped(start),
        "end": grouped(end),
    }
    return Cut(words, why, start, end, taken)


def after_words(at: Figures) -> str:
    if at.after is None:
        return ""
    return _("After a compaction: at most %(n)s (upper bound, no forecast)") % {"n": tokens(at.after)}


def notes(at: Figures) -> tuple[tuple[str, str], ...]:
    """What the drawing shows and might be overlooked: (tone, words)."""
    found: list[tuple[str, str]] = []
    if at.window is None:
        found.append(
            ("amber", _("The context window is unknown, so the bar ends at what is in use, and there are no shares."))
        )
    elif at.now > at.window:
        found.append(("red", _("More is in use than the window holds.")))
    elif at.trigger is not None and at.now >= at.trigger:
        found.append(("amber", _("The trigger is reached: automatic compaction, if on, fires at the next step.")))
    if at.after is not None and at.trigger is not None and at.after >= at.trigger:
        found.append(("amber", _("With a summary of full length the trigger would be reached again at once.")))
    elif at.after is not None and at.after >= at.now:
        found.append(("amber", _("A summary of full length would be no smaller than what it replaces.")))
    return tuple(found)
