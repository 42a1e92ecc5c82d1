"""What every page needs besides its own data."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import get_language

from dshweb.access.models import Team
from dshweb.ui.preferences import theme_of

SECTIONS = {
    "sessions": "sessions",
    "session": "sessions",
    "message": "sessions",
    "events": "sessions",
    "event": "sessions",
    "event-original": "sessions",
    "session-delete": "sessions",
    "compaction": "sessions",
    "signals": "signals",
    "sources": "sources",
    "upload": "sources",
    "upload-results": "sources",
    "tasks": "tasks",
    "task": "tasks",
}
HTML_LANG = {"zh-hans": "zh-Hans"}


def page(request: HttpRequest) -> dict[str, Any]:
    match = request.resolver_match
    language = get_language() or "en"
    user = getattr(request, "user", None)
    return {
        "html_lang": HTML_LANG.get(language, language),
        "theme": theme_of(request),
        "time_zone": getattr(request, "time_zone", ""),
        "here": request.get_full_path() if request.method == "GET" else "/",
        "section": SECTIONS.get(match.url_name or "") if match and not match.namespace else None,
        "teams": SimpleLazyObject(lambda: _teams(request)),
        "initials": str(user or "")[:2].upper(),
    }


def _teams(request: HttpRequest) -> list[Team]:
    caller = getattr(request, "caller", None)
    return list(Team.objects.filter(pk__in=caller.team_ids).order_by("name")) if caller else []
