"""What stands beside the settings: the sessions to look at, and what `inspect` says of the chosen one. Reads kept facts only.

Rule: issue 5.2, seed «会话选择与只读状态»: sessions the caller may see, the first usable one is taken (one that another preset's engine
serves has no figures), none can be chosen, and no id is made up.
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
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.selectors import sessions
from dshweb.ui.query import number_in

NONE: Final = "none"
LISTED: Final = 50


@dataclass(frozen=True, slots=True)
class Beside:
    """`chosen` None: the plugin's state alone. `missing`: a session was asked for that is not there for this caller."""

    options: list[Session]
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
    def findings(self) -> set[str]:
        """Sentences of inspect's diagnostics that are findings under what the engine holds: told in words, with controls."""
        found = self.under(self.held) if self.held else None
        return {one.text for one in found.findings} if found else set()

    def under(self, settings: Settings) -> Inspected | None:
        """Budget and preview of the chosen session under other settings; None where there are none to draw."""
        if self.chosen is None or self.facts is None or not self.body["engine"]["inspectApplies"]:
            return None
        return inspecting.worked_out(self.chosen.team_id, self.facts, self.cuts, settings)


def beside(caller: Caller, profile: Profile, wanted: str) -> Beside:
    """`wanted`: what the address or form says: a number of a session, "none", or "" for the first there is."""
    rows = _of(caller, profile)
    listed = list(rows[: LISTED + 1])
    options, more = listed[:LISTED], len(listed) > LISTED
    chosen = _chosen(rows, options, wanted)
    if chosen is not None and chosen not in options:
        options.append(chosen)
    asked = inspecting.asked(caller, chosen.session_id if chosen else None, profile)
    if asked is None:  # it went in between
        return beside(caller, profile, NONE)
    found = asked.session
    held = inspecting.standing_of(asked.held).settings
    return Beside(
        options,
        chosen,
        bool(wanted) and wanted != NONE and chosen is None,
        more,
        inspecting.body(asked),
        found.facts if found else None,
        found.cuts if found else None,
        None if isinstance(held, InvalidSettings) else held,
    )


def _of(caller: Caller, profile: Profile) -> QuerySet[Session]:
    rows = sessions(caller).filter(team=profile.team_id)
    return rows.order_by(F("last_at").desc(nulls_last=True), "-pk")


def _chosen(rows: QuerySet[Session], options: list[Session], wanted: str) -> Session | None:
    if wanted == NONE:
        return None
    if not wanted:
        ours = (one for one in options if one.preset in ("", inspecting.OUR_PRESET))
        return next(ours, options[0] if options else None)
    pk = number_in(wanted)
    return None if pk is None else next((one for one in options if one.pk == pk), None) or rows.filter(pk=pk).first()
