"""Who may call: a person's browser session (with CSRF) or a bearer token, and what its scopes allow."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import SessionAuth

from dshweb.access import selectors
from dshweb.access.auth import TokenAuth
from dshweb.access.callers import Caller
from dshweb.access.models import Team


class ApiRequest(HttpRequest):
    """A request as an endpoint gets it; for annotations only."""

    caller: Caller


class AnyAuth(SessionAuth):
    """A bearer token where one was sent, else the login of the browser. A bad token is never saved by a good cookie."""

    def __call__(self, request: HttpRequest) -> Any:
        if "Authorization" in request.headers:
            caller = TokenAuth()(request)
            if caller is None:
                raise AuthenticationError
            request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
            return caller
        if not request.user.is_authenticated:  # said before the CSRF check, which would read a stranger's form
            raise AuthenticationError
        return super().__call__(request)

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        return getattr(request, "caller", None)


def need_scope(caller: Caller, scope: str) -> None:
    """Raises PermissionDenied when the caller is a token without `scope`."""
    if not caller.has_scope(scope):
        raise PermissionDenied(f"This token lacks the scope `{scope}`; nothing was changed.")


def team_of(caller: Caller, slug: str | None) -> Team:
    """The team a call without an object of its own is about: the one named, else the caller's own, else the first.

    Raises Http404 for one the caller is not in.
    """
    if slug is not None:
        return selectors.team_of(caller, slug)
    teams = Team.objects.filter(pk__in=caller.team_ids).order_by("pk")
    for team in selectors.home_first(teams, caller.user):
        return team
    raise Http404
