"""Everything the settings page shows, worked out for one draft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compaction.core.diagnose import Diagnostic
from compaction.core.document import changes, ops_between, same
from compaction.core.keys import ALL_KEYS, BY_NAME, Document
from compaction.core.policy import Policy, Settings, resolve
from compaction.core.problem import InvalidSettings, Problem
from compaction.core.session_facts import Inspected, SessionFacts
from compaction.models import Profile
from compaction.page import controls as made
from compaction.page import export
from compaction.page.chart import Chart, drawn
from compaction.page.controls import Control
from compaction.page.draft import Draft, text_of
from compaction.page.state import Beside, beside
from compaction.page.sweeping import full_page
from compaction.page.told import notes, told
from compaction.page.words import LABELS, STRATEGIES, diagnostic_words, worded
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
    fields = made.controls(draft.document, draft.base or {}, found)
    fitting = _settings(draft.document)
    drawn_for = fitting or _settings(profile.document)
    under = state.under(drawn_for) if drawn_for else None
    advice = under.findings if under else ()
    return {
        "profile": profile,
        "draft": draft,
        "read_only": not caller.may_configure(profile.team_id),
        "state": state,
        **_form(draft, known, fields, found),
        **_standing(profile, draft, fields, saved),
        **told(state.body, state.chosen),
        "chart": _chart(state, under, drawn_for.policy if drawn_for else None),
        "drawn_for_saved": fitting is None,
        "advice": [_advised(one, under, state.facts) for one in advice],
        "notes": notes(state.body, state.findings | {one.text for one in advice}),
        "export": export.of(profile, caller),
        "sweep_link": full_page(state.chosen, draft.document) if state.chosen else None,
    }


def _form(draft: Draft, known: Routes, fields: dict[str, Control], found: tuple[Problem, ...]) -> dict[str, Any]:
    document = draft.document
    routes = made.routes(document, known)
    advanced = ("auto", "headroomTokens", "maxTokens", "compactionRetries", "maxOverflowRetries")
    return {
        "controls": fields,
        "plain": draft.plain,
        "modes": made.modes(fields["mode"]),
        "native": fields["mode"].text == "native",
        "routes": routes,
        "typed_route": made.typed_route(document, routes),
        "efforts": made.efforts(document, known),
        "retain_form": made.retain_form(document),
        "policies": document.get("modelPolicies") or [],
        "open_advanced": any(fields[key].errors for key in advanced),
        "errors": [one for one in found if one.severity == "error"],
        "others": made.others(found),
        "changes": [fields[key] for key in draft.changed],
    }


def _standing(profile: Profile, draft: Draft, fields: dict[str, Control], saved: str) -> dict[str, Any]:
    """Where the draft, the saved settings and what the engine holds differ."""
    snapshot = getattr(profile, "snapshot", None)
    conflict = draft.revision != profile.revision
    revision = number_in(saved)
    held = snapshot.config.get("mode") if snapshot else None
    standing = profile.document.get("mode", BY_NAME["mode"].default)
    return {
        "conflict": conflict,
        "sides": list(_sides(draft, profile.document)) if conflict else [],
        "already": conflict and same(draft.document, profile.document),
        "saved": revision is not None and revision == profile.revision > 0,
        "snapshot": snapshot,
        "requires_reload": reload_needed(profile),
        "other_mode": held != standing,
        "saved_mode_words": worded(STRATEGIES, str(standing)),
        "held_mode_words": worded(STRATEGIES, str(held)),
        "draft_mode_words": worded(STRATEGIES, fields["mode"].text),
        "recent": list(history(profile).order_by("-revision")[:RECENT]),
    }


def _chart(state: Beside, under: Inspected | None, policy: Policy | None) -> Chart:
    held = state.body["budget"]
    if under is None:
        return drawn(held, state.body["preview"], None, policy, state.facts, engine=state.body["engine"])
    return drawn(under.budget.body(), under.preview.body(), under.spec, under.policy, state.facts, held)


def _advised(one: Diagnostic, under: Inspected | None, facts: SessionFacts | None) -> dict[str, Any]:
    text, controls = diagnostic_words(
        one, under.spec if under else None, facts.meter if facts else None, under.policy if under else None
    )
    return {
        "text": text,
        "controls": controls,
        "severity": one.severity,
        "icon": "no" if one.severity == "error" else "warn",
    }


def judged(draft: Draft, known: Routes) -> tuple[Problem, ...]:
    """What the server's rules say of a draft: the same as when it is saved."""
    found = (*keepable.problems(draft.document.items()), *settings.judge(draft.document, known))
    if found:
        return found
    try:
        ops_between(draft.base or {}, draft.document)
    except InvalidSettings as error:
        return error.problems
    return ()


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
