"""What-if beside the chart: one session of the profile's team under every trigger ratio, the draft's other settings in force.

Rule: issue 5.8. The log is read once, under the limits of `trying`; what is kept of it are seqs and figures. GET only, and
wrong values are told in words: this is asked while somebody types.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.core.cache import cache
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from compaction import trying
from compaction.core.document import normalised
from compaction.core.formula import NoSpec, Spec
from compaction.core.numbers import is_number
from compaction.core.policy import Settings, resolve
from compaction.core.problem import InvalidSettings
from compaction.core.sweep import GRID, Row, Trace, sweep, trace
from compaction.core.what_if import Route
from compaction.core.what_if import what_if as replayed
from compaction.inspecting import OUR_PRESET
from compaction.page import draft
from compaction.page.sweep_drawing import LISTED, Drawing, drawing
from compaction.page.words import PROBLEMS, problem_words, worded
from compaction.selectors import profiles
from dshweb.access.callers import CallerRequest
from dshweb.sessionlog.models import LogFile, Session
from dshweb.sessionlog.selectors import may_see_content, sessions
from dshweb.ui.query import whole_number

VERSION: Final = 1
"""Of the trace as it is kept; raise it when `core.sweep.Trace` or what fills it changes."""
KEPT_SECONDS: Final = 3600
MOST_ROUTES: Final = 200
REFUSED: Final = "refused"
WHY: Final = {
    **PROBLEMS,
    REFUSED: gettext_lazy("No usable trigger: the retained share is not below this threshold."),
    "no-route": gettext_lazy("No usable trigger: the log does not say which model was asked."),
}


@dataclass(frozen=True, slots=True)
class Looked:
    """A sweep of the grid and of the draft's own ratio. `why`: code by (ratio, route) where there is no trigger."""

    trace: Trace
    ratio: float
    chosen: Row
    rows: list[Row]
    why: Mapping[tuple[float, Route], str]
    headroom_from: float | None
    """The lowest ratio of the grid from which on the headroom makes the last route's trigger."""
    own_ratio: tuple[str, ...]
    """Routes with a model policy that sets a ratio of its own, as they are shown."""
    auto: bool


class TooManyRoutes(Exception):
    """The session changed its model too often for a formula for each."""


@require_safe
def what_if(request: CallerRequest, pk: int) -> HttpResponse:
    """`/profiles/<id>/compaction/what-if?session=<id>&…`: a fragment of HTML. The other members are fields of the form."""
    profile = get_object_or_404(profiles(request.caller), pk=pk)
    session = _session(request, profile.team_id)
    document = draft.read(request.GET, profile.document)
    context: dict[str, Any] = {"session": session, "link": full_page(session, document) if session else None}
    answer = render(request, "compaction/_sweep.html", context | _told(session, document))
    answer["Cache-Control"] = "no-store"
    return answer


def full_page(session: Session, document: Mapping[str, object]) -> str:
    """Address of the whole what-if page with the values of a draft; as saved where they do not fit together."""
    values: dict[str, Any] = {} if session.current_id is None else {"log": session.current_id}
    settings = _resolved(document)
    effective = normalised(settings) if settings else {}
    values |= {key: draft.text_of(effective[key]) for key in trying.KEYS if key in effective}
    return reverse("what-if", args=[session.pk]) + (f"?{urlencode(values)}" if values else "")


def trace_of(log: LogFile) -> Trace:
    """The steps of a log, read once for each of its revisions. Raises TooLarge, Busy, Gone (of `trying`)."""
    key = f"compaction-sweep:{VERSION}:{log.pk}:{log.revision}"
    found: Trace | None = cache.get(key)
    if found is not None:
        return found
    with trying.alone_with(log) as read:
        found = cache.get(key)  # another request may have read it while this one waited
        if found is None:
            header, events, whole = read()
            found = trace(replayed(header, events, lambda _route: None, whole=whole))
            cache.set(key, found, KEPT_SECONDS)
    return found


def look(log: LogFile, document: Mapping[str, object]) -> Looked:
    """A session under a document, at every ratio. Raises InvalidSettings for a document that no other ratio would make
    valid, TooManyRoutes, and as `trace_of`.
    """
    settings = _with_some_ratio(document)
    ratio = settings.policy.threshold_ratio.value
    steps = trace_of(log)
    if len(steps.routes) > MOST_ROUTES:
        raise TooManyRoutes
    limits = trying.Limits(log.team_id, settings)
    tried = _Ratios(document, limits)
    chosen, *rows = sweep(steps, tried.threshold, (ratio, *GRID), most=LISTED[0])
    last = steps.routes[steps.route[-1]] if len(steps) else None
    own = {(str(one["provider"]), str(one["model"])) for one in settings.overrides if "thresholdRatio" in one}
    return Looked(
        steps, ratio, chosen, rows, tried.why, tried.headroom_from(last) if last else None,
        _names(limits.named(route) for route in steps.routes if (route.provider, route.model) in own), settings.auto.value,
    )  # fmt: skip


def _names(routes: Iterable[Route]) -> tuple[str, ...]:
    """Each once, a few of them: names in logs are anybody's text."""
    return tuple(dict.fromkeys(f"{route.provider}/{route.model}" for route in routes))[: trying.MOST_NOTES]


def _with_some_ratio(document: Mapping[str, object]) -> Settings:
    """The document resolved. Where only the retained share stands against its ratio, that ratio stays and is refused later."""
    try:
        return resolve(dict(document))
    except InvalidSettings:
        ratio = document.get("thresholdRatio")
        if not is_number(ratio) or not 0 < ratio < 1:
            raise
        settings = _resolved({**document, "thresholdRatio": GRID[-1]})
        if settings is None:
            raise
        kept = replace(settings.policy.threshold_ratio, value=float(ratio))
        return replace(settings, policy=replace(settings.policy, threshold_ratio=kept))


def _resolved(document: Mapping[str, object]) -> Settings | None:
    try:
        return resolve(dict(document))
    except InvalidSettings:
        return None


class _Ratios:
    """The trigger for any ratio and route, the rest of a document as it is; `why` fills with the reasons for none."""

    def __init__(self, document: Mapping[str, object], limits: trying.Limits) -> None:
        self._document, self._limits = document, limits
        self._found: dict[float, trying.Limits | None] = {}
        self.why: dict[tuple[float, Route], str] = {}

    def threshold(self, ratio: float, route: Route) -> int | None:
        found = self._spec(ratio, route)
        if isinstance(found, Spec):
            return found.threshold
        self.why[ratio, route] = found
        return None

    def headroom_from(self, route: Route) -> float | None:
        first: float | None = None
        for ratio in reversed(GRID):
            found = self._spec(ratio, route)
            if not isinstance(found, Spec) or found.winner != "headroom":
                break
            first = ratio
        return first

    def _spec(self, ratio: float, route: Route) -> Spec | str:
        if ratio not in self._found:
            settings = _resolved({**self._document, "thresholdRatio": ratio})
            self._found[ratio] = self._limits.other(settings) if settings else None
        limits = self._found[ratio]
        if limits is None:
            return REFUSED
        found = limits.spec(route)
        return found.code if isinstance(found, NoSpec) else found or "no-route"


def _session(request: CallerRequest, team: int) -> Session | None:
    """None: none is asked for. A session of this team that the caller may read, else 404."""
    if request.GET.get("session", "") in ("", "none"):
        return None
    found = get_object_or_404(sessions(request.caller), pk=whole_number(request, "session") or 0, team=team)
    if not may_see_content(request.caller, found):
        raise Http404
    return found


def _told(session: Session | None, document: Mapping[str, object]) -> dict[str, Any]:
    """The drawing, or in words why there is none."""
    if session is None:
        return {"problem": _("Pick a session to see at which of its steps a threshold would have fired.")}
    if session.current is None:
        return {"problem": _("The log of this session has not been read yet.")}
    try:
        return {"foreign": session.preset not in ("", OUR_PRESET)} | _shown(look(session.current, document))
    except InvalidSettings as error:
        return {"problem": " ".join(str(problem_words(one)) for one in error.problems)}
    except TooManyRoutes:
        return {"problem": _("This session changed its model too often to be drawn.")}
    except (trying.TooLarge, trying.Busy, trying.Gone) as error:
        return {"problem": _gone(error), "again": isinstance(error, trying.Busy)}


def _gone(error: Exception) -> str:
    if isinstance(error, trying.TooLarge):
        return _("This log is too large to be replayed while you wait.")
    if isinstance(error, trying.Busy):
        return _("Another session is being replayed. Try again in some seconds.")
    return _("The stored log cannot be read. Bring it in again from where it came.")


def _shown(looked: Looked) -> dict[str, Any]:
    drawn = _drawn(looked)
    if drawn is None:
        return {"problem": _("This session has no step at which the harness looks at the pressure.")}
    return {
        "drawing": drawn,
        "ratio": draft.text_of(drawn.ratio),
        "words": json.dumps(_words(), ensure_ascii=False),
    }


def _words() -> dict[str, str]:
    """What the script says: `{n}` is a number, `{ratio}` a ratio; `One` is said of 1."""
    say = [
        ngettext("%(ratio)s: would have fired %(n)s time", "%(ratio)s: would have fired %(n)s times", n) for n in (1, 2)
    ]
    times = [ngettext("%(n)s time", "%(n)s times", n) for n in (1, 2)]
    more = [ngettext("and %(n)s more", "and %(n)s more", n) for n in (1, 2)]
    filled = {"n": "{n}", "ratio": "{ratio}"}
    return {
        "sayOne": say[0] % filled, "sayMany": say[1] % filled, "timesOne": times[0] % filled, "timesMany": times[1] % filled,
        "moreOne": more[0] % filled, "moreMany": more[1] % filled, "trigger": _("trigger %(n)s") % filled,
        "none": _("no trigger"), "over": _("at or over the trigger: %(n)s") % filled, "sayNone": _("%(ratio)s: no trigger") % filled,
        "tokens": ngettext("%(n)s token", "%(n)s tokens", 2) % filled, "untold": _("cannot be told: %(n)s") % filled,
    }  # fmt: skip


def _drawn(looked: Looked) -> Drawing | None:
    notes = [
        _("%(route)s has a model policy with a threshold of its own: this one does not move its trigger.")
        % {"route": name}
        for name in looked.own_ratio
    ]
    if not looked.auto:
        notes.insert(0, _("Automatic compaction is off in this draft: with it nothing fires. Drawn as if it were on."))
    if looked.headroom_from is not None:
        notes.append(
            _("From a threshold of %(ratio)s on the headroom makes the trigger; a higher one changes nothing.")
            % {"ratio": draft.text_of(looked.headroom_from)}
        )
    last = looked.trace.routes[looked.trace.route[-1]] if len(looked.trace) else None

    def why(row: Row) -> str:
        code = looked.why.get((row.ratio, last), REFUSED) if last else REFUSED
        return worded(WHY, code)

    return drawing(looked.trace, looked.chosen, looked.rows, why, notes)
