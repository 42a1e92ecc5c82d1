"""Puts `request.caller` on every request of a logged-in person, lazily: pages that need no rights cost no query."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from dshweb.access.callers import caller_for_user


class CallerMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user = request.user
        if user.is_authenticated:
            request.caller = SimpleLazyObject(lambda: caller_for_user(user))  # type: ignore[attr-defined]
        return self.get_response(request)
