"""The two switches of the header, and the way in."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from dshweb.ui.preferences import THEME_COOKIE, THEMES, remember


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
