"""What `inspect` says of the chosen session, in words: the engine, the last compaction, the continuation of a hand-off, notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.urls import reverse

from compaction.core.diagnose import Diagnostic
from compaction.inspecting import NO_SNAPSHOT
from compaction.page.words import (
    CONTINUATIONS,
    OWNERS,
    STATUSES,
    STRATEGIES,
    TRIGGERS,
    blocker_words,
    note_words,
    worded,
)
from dshweb.sessionlog.models import Compaction, Session
from dshweb.ui.templatetags.dshweb import milliseconds


def told(body: Mapping[str, Any], session: Session | None) -> dict[str, Any]:
    """Context of `_state.html`; one query for the page of the last compaction."""
    engine, last, went_on = body["engine"], body["lastCompaction"], body["handoffContinuation"]
    return {
        "engine": {
            "owner": worded(OWNERS, engine["owner"]),
            "applies": engine["inspectApplies"],
            "reason": note_words(engine["reason"]) if engine["reason"] else "",
        }
        if engine
        else None,
        "last": _last(last, session) if last and session else None,
        "continuation": {
            "status": worded(CONTINUATIONS, went_on["status"]),
            "blockers": blocker_words(went_on["blockers"]),
        }
        if went_on
        else None,
    }


def notes(body: Mapping[str, Any], findings: Iterable[Diagnostic]) -> list[str]:
    """The diagnostics of inspect that the page tells nowhere else: `findings` stand with their controls, the engine's reason
    with the engine, and that none holds settings at the top.
    """
    elsewhere = {one.text for one in findings} | {NO_SNAPSHOT, (body["engine"] or {}).get("reason")}
    return [note_words(one) for one in body["diagnostics"] if one not in elsewhere]


def _last(last: Mapping[str, Any], session: Session) -> dict[str, Any]:
    words, icon, tone = STATUSES.get(last["status"], (last["status"], "info", "plain"))
    row = (
        Compaction.objects.for_team(session.team_id)
        .filter(log=session.current_id, compaction_id=last["id"])
        .values_list("pk", flat=True)
        .first()
    )
    return {
        "status": words,
        "icon": icon,
        "badge": f"badge-{tone}",
        "trigger": worded(TRIGGERS, last["trigger"]),
        "mode": worded(STRATEGIES, last["mode"]) if last["mode"] else None,
        "before": last["beforeTokens"],
        "after": last["afterTokens"],
        "took": milliseconds(last["durationMs"]),
        "cache_read": last["cacheReadTokens"],
        "cache_write": last["cacheWriteTokens"],
        "error": note_words(last["error"]) if last["error"] else "",
        "page": reverse("compaction", args=[row]) if row else "",
    }
