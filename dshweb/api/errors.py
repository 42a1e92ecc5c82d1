"""One shape for every error: `{"code", "message"}` and, where there is more to say, `detail` (API.md)."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError

from dshweb.access.services.attempts import TooMany

log = logging.getLogger(__name__)


class Problem(Schema):
    """What every refused call answers. `code` is for programs, `message` for people: what happened, what was kept, what to do."""

    code: str
    message: str
    detail: Any = None


class ApiError(Exception):
    """A call that is refused. `code` is kebab-case or area/kebab-case."""

    def __init__(self, status: int, code: str, message: str, detail: Any = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.detail, self.headers = status, code, message, detail, headers


# code and message
BAD_REQUEST = "bad-request", "The call cannot be read; nothing was changed."
NOT_FOUND = "not-found", "There is no such thing here, or you may not see it."
TOO_LARGE = "too-large", "The body is larger than this server takes; nothing was kept."
# of what ninja itself refuses, e.g. without CSRF token
CODES = {401: "unauthenticated", 403: "forbidden", 404: "not-found"}


def answer(
    status: int, code: str, message: str, detail: Any = None, headers: dict[str, str] | None = None
) -> HttpResponse:
    body = {"code": code, "message": message}
    return JsonResponse(body if detail is None else body | {"detail": detail}, status=status, headers=headers)


def no_access() -> HttpResponse:
    return answer(
        401,
        "unauthenticated",
        "No usable token and no login came with this call; nothing was done. Send `Authorization: Bearer dshw_…`.",
        headers={"WWW-Authenticate": 'Bearer realm="dshweb"'},
    )


def install(api: NinjaAPI) -> None:
    """Gives `api` the one shape for everything that can go wrong in a call."""
    answers: dict[type[Exception], Any] = {
        ApiError: lambda _r, e: answer(e.status, e.code, e.message, e.detail, e.headers),
        AuthenticationError: lambda _r, _e: no_access(),
        TooMany: lambda _r, e: answer(
            429,
            "too-many",
            "Too many unusable tokens came from this address; wait as `Retry-After` says.",
            headers={"Retry-After": str(e.retry_after)},
        ),
        Http404: lambda _r, _e: answer(404, *NOT_FOUND),
        PermissionDenied: lambda _r, e: answer(
            403, "forbidden", str(e) or "Your role or your token's scopes do not allow this; nothing was changed."
        ),
        ValidationError: _invalid,
        BadRequest: lambda _r, e: answer(400, BAD_REQUEST[0], str(e) or BAD_REQUEST[1]),
        MultiPartParserError: _unreadable,
        SuspiciousOperation: _unreadable,  # more fields or files than a form may have
        UnreadablePostError: _unreadable,
        RequestDataTooBig: lambda _r, _e: answer(413, *TOO_LARGE),
        HttpError: lambda _r, e: answer(
            e.status_code, CODES.get(e.status_code, "bad-request" if e.status_code < 500 else "failed"), str(e)
        ),
        Exception: _broken,
    }
    for kind, handler in answers.items():
        api.add_exception_handler(kind, handler)


def _invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Which parts were wrong and why; what was sent is not sent back (it may hold secrets)."""
    places = [
        {"where": ".".join(str(part) for part in one.get("loc", ())), "problem": one.get("msg", "")}
        for one in error.errors
    ]
    named = "; ".join(f"{place['where']}: {place['problem']}" for place in places[:3])
    return answer(422, "invalid", f"The call was not understood and nothing was changed. {named}", places)


def _unreadable(_request: HttpRequest, _error: Exception) -> HttpResponse:
    return answer(400, "bad-request", "The body of the call cannot be read; nothing was changed.")


def _broken(request: HttpRequest, error: Exception) -> HttpResponse:
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    return answer(
        500, "internal", "The server failed at this call; its log says why. Nothing you stored before is lost."
    )
