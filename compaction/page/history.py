"""The revisions of a profile's settings: who changed what and when, and the way back to each of them.

Rule: issue 5.6 («history of revisions with author and diff, "restore as draft"»). Read only; restoring is a draft on the settings
page, saved there like any other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from compaction import selectors
from compaction.models import Profile, SettingsRevision
from compaction.page.values import Pair, pairs
from dshweb.access.callers import Caller, CallerRequest
from dshweb.text.lines import cut, visible
from dshweb.ui.query import whole_number

PAGE: Final = 20
_LONGEST: Final = 8_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One revision. `changes` None: the one before it is not kept, so nobody can say what it changed.

    `document`: the whole of it as JSON, as far as a page shows it; `hidden` characters more are left to the API.
    """

    row: SettingsRevision
    changes: list[Pair] | None
    document: str
    hidden: int
    current: bool


def profile_of(caller: Caller, pk: int) -> Profile:
    """A profile of the caller's teams, with what a page about it says of it; 404 for everybody else."""
    profile: Profile = get_object_or_404(selectors.profiles(caller), pk=pk)
    return profile


def entries(profile: Profile, before: int | None = None) -> tuple[list[Entry], int | None]:
    """A page of revisions below `before`, newest first, and what to ask for the next one; None: it was the last."""
    rows = selectors.history(profile)
    if before is not None:
        rows = rows.filter(revision__lt=before)
    found = list(rows.order_by("-revision")[: PAGE + 1])
    shown = found[:PAGE]
    made = [_entry(profile, row, older) for row, older in zip_longest(shown, found[1 : PAGE + 1])]
    return made, shown[-1].revision if len(found) > PAGE else None


def _entry(profile: Profile, row: SettingsRevision, older: SettingsRevision | None) -> Entry:
    if row.revision == 1:
        changed: list[Pair] | None = pairs({}, row.document)
    elif older is not None and older.revision == row.revision - 1:
        changed = pairs(older.document, row.document)
    else:
        changed = None
    text, hidden = cut(visible(json.dumps(row.document, ensure_ascii=False, indent=2)), _LONGEST)
    return Entry(row, changed, text, hidden, row.revision == profile.revision)


@require_safe
def page(request: CallerRequest, pk: int) -> HttpResponse:
    """`?before=`: the revision above the page."""
    profile, before = profile_of(request.caller, pk), whole_number(request, "before")
    found, more = entries(profile, before)
    return render(request, "compaction/history.html", {
        "profile": profile, "entries": found, "more": more, "first": before is None,
        "may_change": request.caller.may_configure(profile.team_id), "section": "profiles",
    })  # fmt: skip
