"""`/better-compact/api/inspect` and `/better-compact/api/models`, behind the fence that the harness's own web server has.

Rule: COMPACTION §18, INTEGRATION (c), DECISIONS 9. The order of checks is part of the contract: 503, 403, 401, 405, 400,
404. So this stands in front of everything of Django that would answer otherwise; all other addresses pass it untouched.
Nothing here may be kept by anybody (`no-store`), and no other origin may read it (no CORS headers).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.contrib.auth import get_user
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host

from compaction import inspecting
from dshweb.access.callers import Caller, caller_for_user
from dshweb.access.quick import caller_by_login, caller_by_token
from dshweb.access.services.attempts import TooMany, bad_token

log = logging.getLogger(__name__)

PREFIX: Final = "/better-compact/"
INSPECT: Final = PREFIX + "api/inspect"
MODELS: Final = PREFIX + "api/models"
HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_PORTS: Final = {"http": "80", "https": "443"}
_MOST_FIELDS: Final = 10


class Refused(Exception):
    """An answer that is not 200."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers


class Fence:
    """Answers everything below PREFIX by itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        try:
            return _json(200, _answer(request))
        except Refused as refusal:
            return _refusal(refusal)
        except Error as error:
            log.error("%s: the database cannot be asked: %s", request.path_info, type(error).__name__)
            return _refusal(_no_database())
        except Exception:
            log.exception("%s failed", request.path_info)
            return _refusal(Refused(500, "internal", "The server failed at this call; its log says why."))


def _answer(request: HttpRequest) -> dict[str, Any]:
    _trusted(request)
    caller = _caller(request)
    if request.method != "GET":
        raise Refused(405, "method-not-allowed", "This address only takes GET.", Allow="GET")
    if request.path_info == MODELS:
        return inspecting.models(caller)
    if request.path_info != INSPECT:
        raise Refused(404, "not-found", "There is no such address.")
    about = inspecting.asked(caller, _session_id(request.META.get("QUERY_STRING", "")))
    if about is None:
        raise Refused(404, "not-found", "There is no such session, or you may not see it.")
    return inspecting.body(about)


def _trusted(request: HttpRequest) -> None:
    """503 without a fence to hold, 403 for who stands outside of it."""
    hosts = [host for host in settings.ALLOWED_HOSTS if host != "*"]
    if not hosts or len(hosts) != len(settings.ALLOWED_HOSTS):
        raise Refused(
            503,
            "unavailable",
            "No trusted host is configured: set ALLOWED_HOSTS to the names of this server, without *.",
        )
    try:
        connection.ensure_connection()
    except Error as error:
        raise _no_database() from error
    host = request.META.get("HTTP_HOST", "")  # get_host() would raise what becomes a 400, and do with none
    name, _port = split_domain_port(host)
    if not name or not validate_host(name, hosts):
        raise Refused(403, "forbidden", "This host is not trusted.")
    if request.META.get("HTTP_SEC_FETCH_SITE", "").strip().lower() == "cross-site":
        raise Refused(403, "forbidden", "Other sites may not ask this.")
    origin = request.META.get("HTTP_ORIGIN")
    if origin is not None and not _same_origin(origin, host):
        raise Refused(403, "forbidden", "Other origins may not ask this.")


def _same_origin(origin: str, host: str) -> bool:
    """Whether an `Origin` header names the host and port that was asked."""
    try:
        parts = urlsplit(origin)
        theirs = parts.netloc
        ends = f":{_PORTS[parts.scheme]}"
    except (KeyError, ValueError):
        return False
    return bool(theirs) and theirs.lower().removesuffix(ends) == host.lower().removesuffix(ends)


def _caller(request: HttpRequest) -> Caller:
    """A bearer token where one was sent, else the login of the browser. A bad token is never saved by a good cookie."""
    sent = request.META.get("HTTP_AUTHORIZATION")
    if sent is not None:
        scheme, _, secret = sent.strip().partition(" ")
        found = caller_by_token(secret.strip()) if scheme.lower() == "bearer" else None
        if found is None:
            try:
                bad_token(request)
            except TooMany as error:
                raise _nobody(**{"Retry-After": str(error.retry_after)}) from error
            raise _nobody()
        if not found.has_scope("read"):
            raise Refused(403, "forbidden", "This token lacks the scope `read`.")
        return found
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        raise _nobody()
    if (caller := caller_by_login(key)) is not None:
        return caller
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    if not user.is_authenticated:
        raise _nobody()
    return caller_for_user(user)  # type: ignore[arg-type]


def _session_id(query: str) -> str | None:
    """The one parameter that there may be, at most once and not empty."""
    try:
        given = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        given = [("", ""), ("", "")]
    if any(name != "sessionId" for name, _ in given):
        raise Refused(400, "bad-request", "The only parameter is `sessionId`.")
    if len(given) > 1 or any(not value for _, value in given):
        raise Refused(400, "bad-request", "`sessionId` is given once and not empty, or not at all.")
    return given[0][1] if given else None


def _nobody(**headers: str) -> Refused:
    words = "No usable token and no login came with this call. Send `Authorization: Bearer dshw_…`."
    return Refused(401, "unauthorized", words, **{"WWW-Authenticate": 'Bearer realm="dshweb"', **headers})


def _no_database() -> Refused:
    return Refused(503, "unavailable", "The database cannot be reached; try again in some seconds.")


def _refusal(refusal: Refused) -> HttpResponse:
    return _json(refusal.status, {"code": refusal.code, "message": refusal.message}, refusal.headers)


def _json(status: int, body: dict[str, Any], more: dict[str, str] | None = None) -> HttpResponse:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return HttpResponse(text, "application/json", status, headers={**HEADERS, **(more or {})})
