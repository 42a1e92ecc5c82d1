"""Everything the settings page shows, worked out for one draft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compaction.core.document import changes, ops_between, same
from compaction.core.keys import ALL_KEYS, BY_NAME, Document
from compaction.core.policy import Policy, Settings, resolve
from compaction.core.problem import InvalidSettings, Problem
from compaction.core.session_facts import Inspected, SessionFacts
from compaction.models import Profile
from compaction.page import controls, export
from compaction.page.chart import Chart, drawn
from compaction.page.controls import Control
from compaction.page.draft import Draft
from compaction.page.state import Beside, beside
from compaction.page.sweeping import full_page
from compaction.page.told import notes, told
from compaction.page.values import policies, stands
from compaction.page.words import LABELS, STRATEGIES, diagnostic_words, worded
from compaction.selectors import history, reload_needed
from compaction.services import keepable, settings
from compaction.services.catalogue import Routes
from dshweb.access.callers import Caller
from dshweb.ui.query import number_in

RECENT = 5


@dataclass(frozen=True, slots=True)
class Side:
    """A key in a conflict, in words: what both started from (None: nobody knows), what I made of it, what is saved now."""

    label: Any
    key: str
    base: str | None
    mine: str
    theirs: str
    by_me: bool
    by_them: bool


def shown(
    caller: Caller, profile: Profile, draft: Draft, *, session: str, refused: InvalidSettings | None, saved: str
) -> dict[str, Any]:
    """The context of the page's template; a fixed number of queries."""
    known = Routes(profile.team_id)
    found = refused.problems if refused else judged(draft, known)
    state = beside(caller, profile, session)
    fields = controls.controls(draft.document, draft.base or {}, found)
    fitting = _settings(draft.document)
    drawn_for = fitting or _settings(profile.document)
    under = state.under(drawn_for) if drawn_for else None
    held = state.under(state.held) if state.held else None
    return {
        "profile": profile,
        "draft": draft,
        "read_only": not caller.may_configure(profile.team_id),
        "state": state,
        **_form(draft, known, fields, found),
        **_standing(profile, draft, fields, saved),
        **told(state.body, state.chosen),
        "chart": _chart(profile, state, under, drawn_for.policy if drawn_for else None),
        "drawn_for_saved": fitting is None,
        "advice": list(_advice(profile, state.facts, under, held)),
        "notes": notes(state.body, held.findings if held else ()),
        "export": export.of(profile, caller),
        "sweep_link": full_page(state.chosen, draft.document) if state.chosen else None,
    }


def _form(draft: Draft, known: Routes, fields: dict[str, Control], found: tuple[Problem, ...]) -> dict[str, Any]:
    document = draft.document
    routes = controls.routes(document, known)
    advanced = ("auto", "headroomTokens", "maxTokens", "compactionRetries", "maxOverflowRetries")
    return {
        "controls": fields,
        "plain": draft.plain,
        "modes": controls.modes(fields["mode"].text),
        "native": fields["mode"].text == "native",
        "routes": routes,
        "typed_route": controls.typed_route(document, routes),
        "efforts": controls.efforts(document, known),
        "retain_form": controls.retain_form(document),
        "policies": policies(document.get("modelPolicies")),
        "open_advanced": any(fields[key].errors for key in advanced),
        "errors": [one for one in found if one.severity == "error"],
        "others": controls.others(found),
        "changes": [fields[key] for key in draft.changed],
    }


def _standing(profile: Profile, draft: Draft, fields: dict[str, Control], saved: str) -> dict[str, Any]:
    """Where the draft, the saved settings and what the engine holds differ."""
    snapshot = getattr(profile, "snapshot", None)
    conflict = draft.revision != profile.revision
    stored = number_in(saved) or 0
    held = snapshot.config.get("mode") if snapshot else None
    standing = profile.document.get("mode", BY_NAME["mode"].default)
    return {
        "conflict": conflict,
        "sides": list(_sides(draft, profile.document)) if conflict else [],
        "already": conflict and same(draft.document, profile.document),
        "saved": stored if 0 < stored <= profile.revision else None,
        "snapshot": snapshot,
        "requires_reload": reload_needed(profile),
        "other_mode": held != standing,
        "held_mode": held,
        "saved_mode_words": worded(STRATEGIES, str(standing)),
        "held_mode_words": worded(STRATEGIES, str(held)),
        "draft_mode_words": worded(STRATEGIES, fields["mode"].text),
        "recent": list(history(profile).order_by("-revision")[:RECENT]),
    }


def _chart(profile: Profile, state: Beside, under: Inspected | None, policy: Policy | None) -> Chart:
    budget, engine = state.body["budget"], state.body["engine"]
    if under is None:
        return drawn(budget, state.body["preview"], None, policy, state.facts, engine=engine)
    held = budget if getattr(profile, "snapshot", None) else None  # without one, inspect goes by what is saved
    return drawn(under.budget.body(), under.preview.body(), under.spec, under.policy, state.facts, held, engine=engine)


def _advice(
    profile: Profile, facts: SessionFacts | None, under: Inspected | None, held: Inspected | None
) -> Iterator[dict[str, Any]]:
    """What the rules find in the draft, then what else they find in what the engine holds, each once."""
    known = set()
    engine = held if getattr(profile, "snapshot", None) else None
    for at in filter(None, (under, engine)):
        for one in at.findings:
            if one.text in known:
                continue
            known.add(one.text)
            text, turning = diagnostic_words(one, at.spec, facts.meter if facts else None, at.policy)
            icon = "no" if one.severity == "error" else "warn"
            yield {"text": text, "controls": turning, "severity": one.severity, "icon": icon, "held": at is not under}


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
    """The keys that I touched, and those in which what is saved is not my draft."""
    base, mine = draft.base, draft.document
    by_me, by_them = (set[str](), set[str]()) if base is None else (_differ(base, mine), _differ(base, theirs))
    shown = by_me | _differ(mine, theirs)
    for key in (key for key in ALL_KEYS if key in shown):
        yield Side(
            LABELS[key], key, None if base is None else stands(key, base), stands(key, mine), stands(key, theirs),
            key in by_me, key in by_them,
        )  # fmt: skip


def _differ(one: Document, other: Document) -> set[str]:
    return {change.key for change in changes(one, other)}
