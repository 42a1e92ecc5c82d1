"""What is asked of `/api/` answers as the API does, whoever would have answered: JSON, never a page or a redirect."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from dshweb.api.errors import BAD_REQUEST, NOT_FOUND, TOO_LARGE, answer

PREFIX = "/api/"
WORDS = {
    400: BAD_REQUEST,
    403: ("forbidden", "This is not allowed; nothing was changed. A browser's call needs its CSRF token."),
    404: NOT_FOUND,
    405: ("method-not-allowed", "This address does not take that method; see `Allow`."),
    413: TOO_LARGE,
}


class LoginOutsideTheApi(LoginRequiredMiddleware):
    """Pages need a login; calls of the API are let in or refused by the API itself (dshweb.api.auth)."""

    def process_view(
        self, request: HttpRequest, view_func: Callable, view_args: tuple, view_kwargs: dict
    ) -> HttpResponseBase | None:
        if request.path_info.startswith(PREFIX + "v1/") or request.path_info == PREFIX + "openapi.json":
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)


class ApiErrors:
    """Errors of `/api/v1/` that were not made by the API (unknown address, method, broken body) in its one shape."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path_info.startswith(PREFIX + "v1/"):
            return response
        response.headers.setdefault("Cache-Control", "no-store")
        if response.status_code < 400 or response.headers.get("Content-Type", "").startswith("application/json"):
            return response
        code, message = WORDS.get(response.status_code, ("failed", "The call failed; nothing was changed."))
        plain = answer(response.status_code, code, message)
        for name in ("Allow", "WWW-Authenticate"):
            if name in response.headers:
                plain.headers[name] = response.headers[name]
        plain.headers["Cache-Control"] = "no-store"
        return plain
