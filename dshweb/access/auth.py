"""Who calls the REST API: a bearer token, as a Caller. What its scopes allow is asked later (dshweb.api.auth: 403)."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.security import HttpBearer

from dshweb.access.callers import Caller, caller_for_token
from dshweb.access.services import attempts, tokens


class TokenAuth(HttpBearer):
    """`Authorization: Bearer dshw_…`; the answer of `authenticate` is the Caller, also at `request.caller`.

    None: unknown, revoked, expired, or of a person who is no member of the token's team any more – all the same to who
    asks. Raises TooMany for an address that sends too many of those.
    """

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        row = tokens.verify(token)
        caller = caller_for_token(row) if row else None
        if caller is None or not caller.grants:
            attempts.bad_token(request)
            return None
        request.caller = caller  # type: ignore[attr-defined]
        return caller
