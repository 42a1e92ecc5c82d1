"""Everything the settings page shows, worked out for one draft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compaction import inspecting
from compaction.core.document import changes, ops_between, same
from compaction.core.keys import ALL_KEYS, Document
from compaction.core.policy import Settings, resolve
from compaction.core.problem import InvalidSettings, Problem
from compaction.core.session_facts import Inspected
from compaction.models import Profile
from compaction.page import controls as made
from compaction.page.chart import drawn
from compaction.page.draft import Draft, text_of
from compaction.page.state import Beside, beside
from compaction.page.words import LABELS, diagnostic_words
from compaction.selectors import history, reload_needed
from compaction.services import keepable, settings
from compaction.services.catalogue import Routes
from dshweb.access.callers import Caller
from dshweb.ui.query import number_in

RECENT = 5


@dataclass(frozen=True, slots=True)
class Side:
    """A key in a conflict: what both started from, what I made of it, what is saved now. None: it is at its default."""

    label: Any
    key: str
    base: str | None
    mine: str | None
    theirs: str | None
    by_me: bool
    by_them: bool


def shown(
    caller: Caller, profile: Profile, draft: Draft, *, session: str, refused: InvalidSettings | None, saved: str
) -> dict[str, Any]:
    """The context of the page's template; a fixed number of queries."""
    known = Routes(profile.team_id)
    found = refused.problems if refused else judged(draft, known)
    state = beside(caller, profile, session)
    snapshot = getattr(profile, "snapshot", None)
    conflict = draft.revision != profile.revision
    fields = made.controls(draft.document, draft.base or {}, found)
    routes = made.routes(draft.document, known)
    drawn_for = _settings(draft.document) or _settings(profile.document)
    under = state.under(drawn_for) if drawn_for else None
    held = state.body["budget"]
    revision = number_in(saved)
    return {
        "profile": profile,
        "draft": draft,
        "read_only": not caller.may_configure(profile.team_id),
        "controls": fields,
        "modes": made.modes(fields["mode"]),
        "native": fields["mode"].text == "native",
        "routes": routes,
        "typed_route": made.typed_route(draft.document, routes),
        "efforts": made.efforts(draft.document, known),
        "retain_form": made.retain_form(draft.document),
        "policies": draft.document.get("modelPolicies") or [],
        "errors": [one for one in found if one.severity == "error"],
        "others": made.others(found),
        "changes": [fields[key] for key in draft.changed],
        "conflict": conflict,
        "sides": list(_sides(draft, profile.document)) if conflict else [],
        "already": conflict and same(draft.document, profile.document),
        "saved": revision is not None and revision == profile.revision > 0,
        "snapshot": snapshot,
        "held_mode": snapshot.config.get("mode") if snapshot else None,
        "requires_reload": reload_needed(profile),
        "state": state,
        "chart": drawn(
            under.budget.body() if under else None,
            under.preview.body() if under else None,
            under.spec if under else None,
            under.policy if under else None,
            state.facts,
            held,
        ),
        "drawn_for_saved": _settings(draft.document) is None,
        "advice": _advice(state, under, drawn_for) if under and drawn_for else [],
        "recent": list(history(profile).order_by("-revision")[:RECENT]),
    }


def judged(draft: Draft, known: Routes) -> tuple[Problem, ...]:
    """What the server's rules say of a draft: the same as when it is saved."""
    found = (*keepable.problems(draft.document), *settings.judge(draft.document, known))
    if found:
        return found
    try:
        ops_between(draft.base or {}, draft.document)
    except InvalidSettings as error:
        return error.problems
    return ()


def _advice(state: Beside, under: Inspected, chosen: Settings) -> list[Any]:
    if state.facts is None:
        return []
    found = inspecting.findings(under, state.facts, chosen)
    return [diagnostic_words(one, under.spec, state.facts.meter, under.policy) for one in found]


def _settings(document: Document) -> Settings | None:
    try:
        return resolve(document)
    except InvalidSettings:
        return None


def _sides(draft: Draft, theirs: Document) -> Iterator[Side]:
    base = draft.base
    for key in ALL_KEYS:
        mine_differs = base is None or bool(changes(_only(base, key), _only(draft.document, key)))
        theirs_differs = base is None or bool(changes(_only(base, key), _only(theirs, key)))
        if not changes(_only(draft.document, key), _only(theirs, key)) and not (mine_differs and base is not None):
            continue
        yield Side(
            LABELS[key], key, _text(base or {}, key), _text(draft.document, key), _text(theirs, key),
            mine_differs and base is not None, theirs_differs and base is not None,
        )  # fmt: skip


def _only(document: Document, key: str) -> Document:
    return {key: document[key]} if key in document else {}


def _text(document: Document, key: str) -> str | None:
    return text_of(document[key]) if key in document else None
