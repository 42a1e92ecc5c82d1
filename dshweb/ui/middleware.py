"""Requests no page can answer sensibly, refused before any page sees them."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.utils.translation import gettext as _


class RefuseNul:
    """An address with a NUL: PostgreSQL takes none in a query, and no log, session or term has one in its name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseBadRequest(
                _("The address holds a NUL character; nothing here has one."), "text/plain; charset=utf-8"
            )
        return self.get_response(request)
