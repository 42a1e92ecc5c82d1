"""What stands beside the settings: the sessions to look at, and what `inspect` says of the chosen one. Reads kept facts only.

Rule: issue 5.2, seed «会话选择与只读状态»: sessions the caller may see, the first usable one is taken (one that another preset's engine
serves has no figures), none can be chosen, and no id is made up. Titles are content: who may not see that sees the ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import F, QuerySet

from compaction import inspecting
from compaction.core.policy import Settings
from compaction.core.problem import InvalidSettings
from compaction.core.session_facts import Inspected, SessionFacts
from compaction.models import Profile
from compaction.page.controls import Option
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.selectors import may_see_content, sessions
from dshweb.ui.query import number_in
from dshweb.ui.templatetags.dshweb import short

NONE: Final = "none"
LISTED: Final = 50


@dataclass(frozen=True, slots=True)
class Beside:
    """`chosen` None: the plugin's state alone. `missing`: a session was asked for that is not there for this caller."""

    options: list[Option]
    chosen: Session | None
    missing: bool
    more: bool
    body: dict[str, Any]
    facts: SessionFacts | None
    cuts: bytes | memoryview | None
    held: Settings | None

    @property
    def value(self) -> str:
        """What the picker holds."""
        return str(self.chosen.pk) if self.chosen else NONE

    @property
    def named(self) -> str:
        """The chosen session, as the picker names it."""
        return next((one.words for one in self.options if one.chosen), "")

    def under(self, settings: Settings) -> Inspected | None:
        """Budget and preview of the chosen session under other settings; None where there are none to draw."""
        if self.chosen is None or self.facts is None or not self.body["engine"]["inspectApplies"]:
            return None
        return inspecting.worked_out(self.chosen.team_id, self.facts, self.cuts, settings)


def beside(caller: Caller, profile: Profile, wanted: str) -> Beside:
    """`wanted`: what the address or form says: a number of a session, "none", or "" for the first there is."""
    rows = _of(caller, profile)
    listed = list(rows[: LISTED + 1])
    offered, more = listed[:LISTED], len(listed) > LISTED
    chosen = _chosen(rows, offered, wanted)
    if chosen is not None and chosen not in offered:
        offered.append(chosen)
    asked = inspecting.asked(caller, chosen.session_id if chosen else None, profile)
    if asked is None:  # it went in between
        return beside(caller, profile, NONE)
    found = asked.session
    held = inspecting.standing_of(asked.held).settings
    return Beside(
        [Option(str(one.pk), _named(caller, one), one == chosen) for one in offered],
        chosen,
        bool(wanted) and wanted != NONE and chosen is None,
        more,
        inspecting.body(asked),
        found.facts if found else None,
        found.cuts if found else None,
        None if isinstance(held, InvalidSettings) else held,
    )


def _named(caller: Caller, session: Session) -> str:
    title = short(session.title, 40) if may_see_content(caller, session) else ""
    return " · ".join(one for one in (title, short(session.session_id, 12)) if one)


def _of(caller: Caller, profile: Profile) -> QuerySet[Session]:
    rows = sessions(caller).filter(team=profile.team_id)
    return rows.order_by(F("last_at").desc(nulls_last=True), "-pk")


def _chosen(rows: QuerySet[Session], offered: list[Session], wanted: str) -> Session | None:
    if wanted == NONE:
        return None
    if not wanted:
        ours = (one for one in offered if one.preset in ("", inspecting.OUR_PRESET))
        return next(ours, offered[0] if offered else None)
    pk = number_in(wanted)
    return None if pk is None else next((one for one in offered if one.pk == pk), None) or rows.filter(pk=pk).first()
