"""The settings page of a profile."""

from __future__ import annotations

from django.http import HttpResponse

from dshweb.access.callers import CallerRequest


def page(request: CallerRequest, pk: int) -> HttpResponse:
    """Placeholder until the page is there."""
    return HttpResponse(str(pk))
