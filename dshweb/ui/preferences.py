"""Language and theme: chosen in the header, kept in a cookie and with the person, to follow to any browser.

The time zone is chosen on the account page; without a choice times on hover are in the browser's own zone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

THEMES = ("light", "dark", "system")
THEME_COOKIE = "theme"
YEAR = 365 * 24 * 3600


def theme_of(request: HttpRequest) -> str:
    """`light`, `dark`, or "" for the system's own."""
    chosen = request.COOKIES.get(THEME_COOKIE)
    user = getattr(request, "user", None)
    if chosen not in THEMES and user is not None and user.is_authenticated:
        chosen = user.theme
    return chosen if chosen in ("light", "dark") else ""


def remember(response: HttpResponse, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=True)


def forget(response: HttpResponse, name: str) -> None:
    response.delete_cookie(name, samesite="Lax")


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo | None:
    """The zone of this name, None when this machine knows none (or the name is a trick with paths)."""
    try:
        return ZoneInfo(name) if name and len(name) <= 64 else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


class PersonTimeZoneMiddleware:
    """Times on pages in the zone the person chose; `request.time_zone` is its name then."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = zone_of(request.user.time_zone) if request.user.is_authenticated else None
        if zone is None:
            return self.get_response(request)
        request.time_zone = zone.key  # type: ignore[attr-defined]
        with timezone.override(zone):
            return self.get_response(request)


class PersonLanguageMiddleware:
    """In a browser that has chosen no language, a person's own choice counts before the browser's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.LANGUAGE_COOKIE_NAME not in request.COOKIES and request.user.is_authenticated:
            language = request.user.language
            if language in dict(settings.LANGUAGES):
                translation.activate(language)
                request.LANGUAGE_CODE = language
        return self.get_response(request)
