"""The two switches of the header, and the way in."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dshweb.access.callers import CallerRequest
from dshweb.ui.preferences import THEME_COOKIE, THEMES, forget, remember, zone_of


def home(request: HttpRequest) -> HttpResponse:
    """The overview page comes later; until then the way in is the list of sessions."""
    return redirect("sessions")


@login_not_required
@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return HttpResponseBadRequest("language: en or zh-hans")
    return _keep(request, settings.LANGUAGE_COOKIE_NAME, language, "language")


@login_not_required
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return HttpResponseBadRequest("theme: light, dark or system")
    return _keep(request, THEME_COOKIE, theme, "theme")


@require_POST
def set_preferences(request: CallerRequest) -> HttpResponse:
    """All of a person's at once, from the account page. Empty means the browser's own."""
    language, theme = request.POST.get("language", ""), request.POST.get("theme", "")
    zone = request.POST.get("time_zone", "").strip()
    if language not in {"", *dict(settings.LANGUAGES)} or theme not in {"", *THEMES}:
        return HttpResponseBadRequest("language: en or zh-hans; theme: light, dark or system")
    response = redirect("account")
    for cookie, value in ((settings.LANGUAGE_COOKIE_NAME, language), (THEME_COOKIE, theme)):
        remember(response, cookie, value) if value else forget(response, cookie)
    user = request.user
    user.language, user.theme = language, theme
    if zone and zone_of(zone) is None:
        messages.error(
            request, _("“%(zone)s” is no time zone this server knows; the rest was saved.") % {"zone": zone[:64]}
        )
    else:
        user.time_zone = zone
        with translation.override(language or None):
            messages.success(request, _("Saved."))
    user.save(update_fields=["language", "theme", "time_zone"])
    return response


def _keep(request: HttpRequest, cookie: str, value: str, field: str) -> HttpResponse:
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "/"
    response = redirect(back)
    remember(response, cookie, value)
    if request.user.is_authenticated:
        setattr(request.user, field, value)
        request.user.save(update_fields=[field])
    return response
