"""The body of `inspect`: what a profile's engine holds, and how full a session is under it. Reads kept facts, no log.

Rule: COMPACTION §18 word for word; DECISIONS 7 to 10, 14 and 15. Unknown is null, never 0. The three ways to ask (the
fenced address, `/api/v1/profiles/{id}/inspect`, the command) share this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from compaction.core import last
from compaction.core.budget import Budget, Meter, Preview, Range, budget
from compaction.core.diagnose import diagnose
from compaction.core.formula import NoSpec
from compaction.core.policy import Settings, resolve
from compaction.core.problem import InvalidSettings
from compaction.core.session_facts import Inspected, SessionFacts, inspected
from compaction.models import LogFacts, Profile
from compaction.services import catalogue
from compaction.services.engine import reload_needed
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import LogFile, Session
from dshweb.sessionlog.selectors import may_see_content
from dshweb.text.lines import is_storable

OUR_PRESET: Final = "better-compact"
COLD: Final = "which engine runs this session cannot be proven from its log; the figures use the current settings"
NOT_MEASURED: Final = "this session has not been measured yet"
NO_SNAPSHOT: Final = "no engine holds settings of this profile yet; the figures use the saved ones"
NO_PROFILE: Final = "there is no profile; the figures use the defaults"
GROWN: Final = "the log has grown since it was measured"
HIDDEN: Final = "the error is shown to the owner of the session only"
_SESSION_FIELDS: Final = (
    "session_id", "preset", "team", "owner", "team__content_visibility", "current__revision",
    "current__facts__revision", "current__facts__facts", "current__facts__cuts",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about. `profile` None: the team has none. `shows_errors`: whether texts of the log may be shown."""

    profile: Profile | None
    session: Session | None = None
    shows_errors: bool = True


def asked(caller: Caller, session_id: str | None, profile: Profile | None = None) -> Asked | None:
    """What a caller asks about; None: there is no such session, or not for them.

    With `profile`, sessions of its team only; else the default profile of the session's team, without a session that of
    the caller's own team.
    """
    if session_id is None:
        return Asked(profile or _default(_home(caller)))
    if not is_storable(session_id):
        return None
    teams = [profile.team_id] if profile else caller.team_ids
    rows = list(_sessions(session_id, teams))
    if not rows:
        return None
    home = _home(caller) if len(rows) > 1 else None
    found = next((row for row in rows if row.team_id == home), rows[0])
    return Asked(profile or _default(found.team_id), found, may_see_content(caller, found))


def asked_in(team_id: int, session_id: str | None) -> Asked | None:
    """The same for the whole team, for a command on its server."""
    if session_id is None:
        return Asked(_default(team_id))
    found = _sessions(session_id, [team_id]).first() if is_storable(session_id) else None
    return Asked(_default(team_id), found) if found else None


def asked_settings(team_id: int) -> dict[str, Any]:
    """The saved settings of a team's default profile, what other settings are tried on."""
    profile = _default(team_id)
    return dict(profile.document) if profile else {}


def models(caller: Caller) -> dict[str, Any]:
    """The body of `models` for the caller's own team."""
    team = _home(caller)
    return {"enabled": False, "routes": []} if team is None else catalogue.models_body(team)


def body(about: Asked) -> dict[str, Any]:
    """The answer, member by member as COMPACTION §18 lists them."""
    profile, session = about.profile, about.session
    snapshot = getattr(profile, "snapshot", None)
    active = snapshot.config if snapshot else None
    answer: dict[str, Any] = {
        "activeConfig": active,
        "requiresReload": profile is not None and reload_needed(profile, active),
        "sessionId": session.session_id if session else None,
        "diagnostics": [],
        "engine": None,
        "budget": None,
        "preview": None,
        "lastCompaction": None,
        "handoffContinuation": None,
    }
    notes = [] if active is not None else [NO_SNAPSHOT if profile else NO_PROFILE]
    if session is not None:
        notes += _of_session(answer, about, session, active)
    answer["diagnostics"] = list(dict.fromkeys(notes))
    return answer


def _of_session(answer: dict[str, Any], about: Asked, session: Session, active: dict[str, Any] | None) -> list[str]:
    """Fills in what is about the session; what is to be said of it."""
    notes: list[str] = []
    row = _facts_row(session)
    facts = SessionFacts.from_json(row.facts) if row else None
    preset = facts.preset if facts else session.preset or None
    foreign = preset is not None and preset != OUR_PRESET
    reason = f"the log names the agent preset {preset}, which brings its own compaction engine" if foreign else COLD
    answer["engine"] = {"owner": "unknown", "inspectApplies": not foreign, "reason": reason}
    if facts is not None:
        answer["lastCompaction"] = _last(facts, notes, shows_errors=about.shows_errors)
    if row is None or session.current is None or row.revision != session.current.revision:
        notes.append(NOT_MEASURED if row is None else GROWN)
    if foreign:
        return [*notes, reason]
    try:
        settings = _settings(about.profile, active, requires_reload=answer["requiresReload"])
    except InvalidSettings as error:
        return [*notes, f"the settings cannot be used: {error}"]
    if row is None or facts is None:
        unknown = NoSpec("window-unknown", NOT_MEASURED, unknown=True)
        answer["budget"] = budget(None, settings.policy, unknown, None).body()
        answer["preview"] = Preview(None, None, None, None, f"unavailable: {NOT_MEASURED}").body()
        return notes
    found = worked_out(session.team_id, facts, row.cuts, settings)
    answer["budget"], answer["preview"] = found.budget.body(), found.preview.body()
    return [*notes, *found.diagnostics, *(one.text for one in _findings(found, facts, settings))]


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


def _findings(found: Inspected, facts: SessionFacts, settings: Settings) -> Any:
    shown: Budget = found.budget
    measured = facts.measure
    meter = None
    if measured.baseline is not None and measured.total is not None:
        meter = Meter(measured.baseline, measured.total, shown.fixed_tokens)
    preview = found.preview
    cut = None
    if preview.range_start is not None and preview.range_end is not None:
        cut = Range(preview.range_start, preview.range_end, 0)  # only whether there is one matters there
    return diagnose(found.policy, found.spec, meter, cut, auto=settings.auto.value)


def _settings(profile: Profile | None, active: dict[str, Any] | None, *, requires_reload: bool) -> Settings:
    """What the engine holds; where the saved document says the same, that one, which tells set values from defaults."""
    saved = profile.document if profile else {}
    return resolve(saved if active is None or not requires_reload else active)


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


def _facts_row(session: Session) -> LogFacts | None:
    log: LogFile | None = session.current
    row: LogFacts | None = getattr(log, "facts", None) if log is not None else None
    return row


def _sessions(session_id: str, teams: list[int]) -> Any:
    rows = Session.unscoped.filter(team__in=teams, session_id=session_id)
    return rows.select_related("team", "current__facts").only(*_SESSION_FIELDS).order_by("pk")


def _default(team_id: int | None) -> Profile | None:
    if team_id is None:
        return None
    rows = Profile.objects.for_team(team_id).filter(is_default=True).select_related("snapshot")
    found: Profile | None = rows.first()
    return found


def _home(caller: Caller) -> int | None:
    """The team of a question that names none: the caller's own, else the first."""
    teams = caller.team_ids
    home = caller.user.home_id
    return home if home in caller.grants else min(teams, default=None)
