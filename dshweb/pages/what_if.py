"""Other settings tried on a recorded session, and how full it was when it was really compacted (issue 4 F)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from compaction import trying
from compaction.core.document import normalised
from compaction.core.formula import Spec
from compaction.core.problem import InvalidSettings
from compaction.inspecting import asked_settings
from dshweb.access.callers import CallerRequest
from dshweb.pages.session import chosen
from dshweb.sessionlog import selectors
from dshweb.sessionlog.selectors import may_see_content
from dshweb.ui.query import whole_number
from dshweb.ui.templatetags.dshweb import grouped

MOST = 1 << 53
WINNERS = {"ratio": _("the ratio"), "headroom": _("the headroom"), "both": _("both bounds alike")}
REFUSALS = {
    "empty-surface": _("nothing is there to compact"),
    "all-retained": _("everything would be kept"),
    "no-balanced-cut": _("no cut leaves each tool call with its result"),
    "unpriced": _("the history cannot be priced"),
}
PROBLEMS = {
    "window-unknown": _(
        "The context window of %(route)s is unknown: give one above, or state it among the admin's model routes."
    ),
    "reserve-unknown": _(
        "How many tokens %(route)s may answer with is unknown, so the trigger is too: state it among the admin's model routes."
    ),
    "bad-window": _("The recorded context window of %(route)s is no whole number above 0: give one above."),
    "bad-reserve": _("What %(route)s keeps free for its answer is no whole number, so the trigger is unknown."),
    "no-message-budget": _(
        "No usable trigger for %(route)s: the window less what is kept free for the answer leaves %(messageBudget)s tokens."
    ),
    "no-pressure-budget": _(
        "No usable trigger for %(route)s: the window less what is kept free for the answer and the headroom leaves"
        " %(pressureBudget)s tokens. Try a smaller headroom or a larger window."
    ),
    "retain-not-below-threshold": _(
        "No usable trigger for %(route)s: the kept tail of %(retain)s tokens is not below the trigger of %(threshold)s. Try a"
        " smaller tail."
    ),
}
BROKEN = {
    "both-retentions": _("Give the kept tail as a share or in tokens, not both."),
    "retain-not-below-threshold": _("The share of the kept tail must be below the threshold."),
    "no-output-cap": _("Without headroom there is no limit of the summary either: give one."),
}
AUTO_OFF = _("Automatic compaction is off in the saved settings: with them nothing fires. Worked out as if it were on.")
GONE = {
    trying.TooLarge: _("This log is too large to be replayed while you wait."),
    trying.Busy: _("Another session is being replayed. Try again in some seconds."),
    trying.Gone: _("The stored log cannot be read. Bring it in again from where it came."),
}


class Ratio(forms.FloatField):
    """A share above 0, at most 1."""

    def __init__(self, label: Any) -> None:
        super().__init__(label=label, required=False, max_value=1, step_size=None)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and not value > 0:
            raise forms.ValidationError(_("A number above 0, at most 1."))


def _tokens(label: Any, least: int = 0) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=least, max_value=MOST)


class Settings(forms.Form):
    """What is tried; an empty field leaves the saved setting."""

    thresholdRatio = Ratio(_("Threshold (share of the window)"))
    headroomTokens = _tokens(_("Headroom (tokens)"))
    retainRatio = Ratio(_("Kept tail (share)"))
    retainTokens = _tokens(_("Kept tail (tokens)"))
    maxTokens = _tokens(_("Longest summary (tokens)"), 1)
    contextWindow = _tokens(_("Context window (tokens)"), 1)


@require_safe
def page(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sessions/<id>/what-if/`: nothing is changed, everything stands in the address."""
    row = get_object_or_404(selectors.sessions(request.caller), pk=pk)
    if not may_see_content(request.caller, row):
        raise Http404
    log = chosen(selectors.logs_of(row), row, whole_number(request, "log"))
    if log is None:
        raise Http404
    saved = asked_settings(row.team_id)
    form = Settings(request.GET)
    values = {key: value for key, value in form.cleaned_data.items() if value is not None} if form.is_valid() else {}
    tried: trying.Tried | None = None
    problem: Any = None
    if not form.errors:
        try:
            settings = trying.other_settings(saved, {key: values[key] for key in trying.KEYS if key in values})
            tried = trying.try_settings(log, settings, window=values.get("contextWindow"))
        except InvalidSettings as error:
            problem = " ".join(str(BROKEN.get(one.code, one.message)) for one in error.problems)
        except tuple(GONE) as error:
            problem = GONE[type(error)]
    effective = normalised(tried.settings) if tried else _as_saved(saved)
    return render(request, "sessionlog/what_if.html", {
        "session": row, "log": log, "fields": [(field, _empty(effective, field.name)) for field in form],
        "tried": tried, "problem": problem, "effective": effective, "looks": tried.looks if tried else {},
        "points": _points(tried.shown) if tried else [], "notes": [_said(note) for note in tried.notes] if tried else [],
    })  # fmt: skip


def _as_saved(saved: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of the saved settings; none when they are broken themselves."""
    try:
        return normalised(trying.other_settings(saved, {}))
    except InvalidSettings:
        return {}


def _empty(effective: Mapping[str, Any], name: str) -> str:
    """What stands in an empty field: the value that holds without one."""
    if name == "contextWindow":
        return str(_("as recorded"))
    value = effective.get(name)
    return "" if value is None else grouped(value) if isinstance(value, int) else str(value)


def _said(note: trying.Note) -> str:
    """A note in the reader's language."""
    if not note.route:
        return str(AUTO_OFF)
    if note.problem is None:
        return str(_("A model policy of the profile holds for %(route)s.") % {"route": note.route})
    return str(
        PROBLEMS[note.problem.code]
        % {"route": note.route, **{name: grouped(int(value)) for name, value in note.problem.terms}}
    )


def _points(looks: Iterable[trying.Look]) -> list[dict[str, Any]]:
    """What fired or would have; the steps that are over only because nothing was compacted before are counted, not listed."""
    found: list[dict[str, Any]] = []
    for look in looks:
        if look.crossing or look.point.fired or not found:
            spec = look.spec if isinstance(look.spec, Spec) else None
            winner = WINNERS[spec.winner] if spec else ""
            refusal = REFUSALS.get(look.point.refusal or "", look.point.refusal)
            found.append({
                "point": look.point, "crossing": look.crossing, "spec": spec, "winner": winner, "refusal": refusal, "over": 0,
            })  # fmt: skip
        else:
            found[-1]["over"] += 1
    return found
