"""The body of `inspect`: what a profile's engine holds, and how full a session is under it. Reads kept facts, no log.

Rule: COMPACTION §18 word for word; DECISIONS 7 to 10, 14 and 15. Unknown is null, never 0. The three ways to ask (the
fenced address, `/api/v1/profiles/{id}/inspect`, the command) share this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from django.db.models import OuterRef, Subquery, TextField
from django.db.models.functions import Cast

from compaction.core import last
from compaction.core.budget import Preview, budget
from compaction.core.document import requires_reload
from compaction.core.formula import NoSpec
from compaction.core.policy import Settings, resolve
from compaction.core.problem import InvalidSettings
from compaction.core.session_facts import Inspected, SessionFacts, inspected
from compaction.models import Profile
from compaction.services import catalogue
from compaction.services.facts import facts_in
from dshweb.access.callers import Caller
from dshweb.access.prepared import Prepared
from dshweb.sessionlog.models import Session, SourceFile
from dshweb.sessionlog.selectors import may_see_texts
from dshweb.sessionlog.services.writer import is_written
from dshweb.text.lines import is_storable

OUR_PRESET: Final = "better-compact"
LIVE: Final = "a DSH process writes this session now; the figures use the settings of this profile"
COLD: Final = "which engine runs this session cannot be proven from its log; the figures use the current settings"
NOT_MEASURED: Final = "this session has not been measured yet"
NO_SNAPSHOT: Final = "no engine holds settings of this profile yet; the figures use the saved ones"
NO_PROFILE: Final = "there is no profile; the figures use the defaults"
GROWN: Final = "the log has grown since it was measured"
HIDDEN: Final = "the error is shown to the owner of the session only"


@dataclass(frozen=True, slots=True)
class Held:
    """A profile's saved settings, and what the engine holds of them (None: nothing yet), as JSON. `saved` None: no profile."""

    saved: str | None = None
    active: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A session and the facts kept of its current log. `log` and `kept` are the log's revision of now and of the facts,
    `place` is where the log stands on this machine; `saved` and `active` are of its team's default profile."""

    session_id: str
    team: int
    preset: str
    owner: int | None
    visibility: str
    log: int | None
    kept: int | None
    facts_json: str | None
    cuts: bytes | memoryview | None
    place: str | None
    saved: str | None
    active: str | None

    @property
    def facts(self) -> SessionFacts | None:
        """What is kept of its log; None: nothing that this dshweb knows."""
        return None if self.facts_json is None else _facts(self.facts_json)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about. `shows_errors`: whether texts of the log may be shown."""

    held: Held
    session: Found | None = None
    shows_errors: bool = True


def _json(column: str) -> Cast:
    """A column of JSON as it stands: what it says is worked out once for each text (`lru_cache`)."""
    return Cast(column, TextField())


_default_profile = Profile.unscoped.filter(team=OuterRef("team"), is_default=True)
_sessions = Prepared(
    lambda team, session: Session.unscoped.filter(team=team, session_id=session).values_list(
        "session_id", "team_id", "preset", "owner_id", "team__content_visibility", "current__revision",
        "current__facts__revision", _json("current__facts__facts"), "current__facts__cuts",
        Subquery(SourceFile.unscoped.filter(log=OuterRef("current"), location__startswith="/").order_by("pk").values("location")[:1]),
        Subquery(_default_profile.values_list(_json("document"))), Subquery(_default_profile.values_list(_json("snapshot__config"))),
    ),
    int, str,
)  # fmt: skip
_defaults = Prepared(
    lambda team: Profile.unscoped.filter(team=team, is_default=True).values_list(
        _json("document"), _json("snapshot__config")
    ), int,
)  # fmt: skip


def asked(caller: Caller, session_id: str | None, profile: Profile | None = None) -> Asked | None:
    """What a caller asks about; None: there is no such session, or not for them.

    With `profile`, sessions of its team only; else the default profile of the session's team, without a session that of
    the caller's own team.
    """
    if session_id is None:
        return Asked(_held(profile) if profile else _default(_home(caller)))
    home = _home(caller)
    teams = [profile.team_id] if profile else sorted(caller.team_ids, key=lambda team: (team != home, team))
    found = _session(teams, session_id)
    if found is None:
        return None
    shows = may_see_texts(caller, found.team, found.visibility, found.owner)
    return Asked(_held(profile) if profile else Held(found.saved, found.active), found, shows)


def asked_in(team_id: int, session_id: str | None) -> Asked | None:
    """The same for the whole team, for a command on its server."""
    found = None if session_id is None else _session([team_id], session_id)
    return None if session_id is not None and found is None else Asked(_default(team_id), found)


def asked_settings(team_id: int) -> dict[str, Any]:
    """The saved settings of a team's default profile, what other settings are tried on."""
    return dict(json.loads(_default(team_id).saved or "{}"))


def models(caller: Caller) -> dict[str, Any]:
    """The body of `models` for the caller's own team."""
    team = _home(caller)
    return {"enabled": False, "routes": []} if team is None else catalogue.models_body(team)


def body(about: Asked) -> dict[str, Any]:
    """The answer, member by member as COMPACTION §18 lists them."""
    held, session = about.held, about.session
    standing = standing_of(held)
    answer: dict[str, Any] = {
        "activeConfig": standing.active,
        "requiresReload": standing.stale,
        "sessionId": session.session_id if session else None,
        "diagnostics": [],
        "engine": None,
        "budget": None,
        "preview": None,
        "lastCompaction": None,
        "handoffContinuation": None,
    }
    notes = [] if held.active is not None else [NO_PROFILE if held.saved is None else NO_SNAPSHOT]
    if session is not None:
        notes += _of_session(answer, about, session, standing.settings)
    answer["diagnostics"] = list(dict.fromkeys(notes))
    return answer


def _of_session(
    answer: dict[str, Any], about: Asked, session: Found, settings: Settings | InvalidSettings
) -> list[str]:
    """Fills in what is about the session; what is to be said of it."""
    notes: list[str] = []
    facts = session.facts
    preset = facts.preset if facts else session.preset or None
    foreign = preset is not None and preset != OUR_PRESET
    live = session.place is not None and is_written(session.place)
    reason = LIVE if live else COLD
    if foreign:
        reason = f"the log names the agent preset {preset}, which brings its own compaction engine"
    owner = "unknown" if not live else "foreign-preset" if foreign else "better-compact-preset" if preset else "host"
    answer["engine"] = {"owner": owner, "inspectApplies": not foreign, "reason": reason}
    if facts is not None:
        answer["lastCompaction"] = _last(facts, notes, shows_errors=about.shows_errors)
    if facts is None or session.log != session.kept:
        notes.append(NOT_MEASURED if facts is None else GROWN)
    if foreign:
        return [*notes, reason]
    if isinstance(settings, InvalidSettings):
        return [*notes, f"the settings cannot be used: {settings}"]
    if facts is None:
        unknown = NoSpec("window-unknown", NOT_MEASURED, unknown=True)
        answer["budget"] = budget(None, settings.policy, unknown, None).body()
        answer["preview"] = Preview(None, None, None, None, f"unavailable: {NOT_MEASURED}").body()
        return notes
    found = worked_out(session.team, facts, session.cuts, settings)
    answer["budget"], answer["preview"] = found.budget.body(), found.preview.body()
    return [*notes, *found.diagnostics]


def worked_out(team_id: int, facts: SessionFacts, cuts: bytes | memoryview | None, settings: Settings) -> Inspected:
    """Budget and preview with what the team's catalogue knows of the route."""
    route = facts.route
    known = catalogue.known(team_id, route.provider, route.model) if route.provider and route.model else None
    return inspected(
        facts, cuts, settings,
        window=catalogue.window_for(known, route.window),
        default_max_tokens=known.default_max_tokens if known else None,
        adapter_known=known.adapter_known if known else False,
    )  # fmt: skip


class Standing(NamedTuple):
    """`stale` is `requiresReload`; `settings` what the figures go by: what the engine holds, and where the saved document says
    the same, that one, which tells set values from defaults. `active` is shared: it is not to be changed.
    """

    active: dict[str, Any] | None
    stale: bool
    settings: Settings | InvalidSettings


def standing_of(held: Held) -> Standing:
    """What a profile's two documents come to."""
    return _standing(held.saved or "{}", held.active)


@lru_cache(maxsize=256)
def _standing(saved: str, active: str | None) -> Standing:
    document, holds = json.loads(saved), None if active is None else json.loads(active)
    stale = holds is not None and requires_reload(document, holds)
    try:
        return Standing(holds, stale, resolve(holds if stale and holds is not None else document))
    except InvalidSettings as error:
        return Standing(holds, stale, error)


@lru_cache(maxsize=512)
def _facts(kept: str) -> SessionFacts | None:
    return facts_in(json.loads(kept))


def _last(facts: SessionFacts, notes: list[str], *, shows_errors: bool) -> dict[str, Any] | None:
    """Status `running` and `persistence-error` are of a process that compacts; we only read."""
    found = last.project(facts.last)
    if found is None:
        return None
    told = found.to_json()
    if facts.last is not None and facts.last.error is not None and not shows_errors:  # other words are ours
        told["error"] = None
        notes.append(HIDDEN)
    return told


def _session(teams: Iterable[int], session_id: str) -> Found | None:
    """The session of this id in the first of the teams that has one."""
    if not is_storable(session_id):
        return None
    for team in teams:
        for row in _sessions.rows(team, session_id):
            return Found(*row)
    return None


def _default(team_id: int | None) -> Held:
    """The default profile of a team."""
    rows = [] if team_id is None else _defaults.rows(team_id)
    return Held(*rows[0]) if rows else Held()


def _held(profile: Profile) -> Held:
    """A named profile; its snapshot is asked for unless it came with it."""
    snapshot = getattr(profile, "snapshot", None)
    return Held(json.dumps(profile.document), json.dumps(snapshot.config) if snapshot else None)


def _home(caller: Caller) -> int | None:
    """The team of a question that names none: the caller's own, else the first."""
    teams = caller.team_ids
    home = caller.user.home_id
    return home if home in caller.grants else min(teams, default=None)
