"""Who calls the REST API: a bearer token, as a Caller."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.security import HttpBearer

from dshweb.access.callers import Caller, caller_for_token
from dshweb.access.services import tokens


class TokenAuth(HttpBearer):
    """`Authorization: Bearer dshw_…`; the answer of `authenticate` is the Caller, also at `request.caller`."""

    def __init__(self, *scopes: str) -> None:
        """With `scopes`, a token needs one of them."""
        super().__init__()
        self.scopes = scopes

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        row = tokens.verify(token)
        if row is None:
            return None
        caller = caller_for_token(row)
        if not caller.grants or (self.scopes and not any(caller.has_scope(scope) for scope in self.scopes)):
            return None
        request.caller = caller  # type: ignore[attr-defined]
        return caller
