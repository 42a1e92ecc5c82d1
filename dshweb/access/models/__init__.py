"""Teams, people, tokens: who may see and do what."""

from __future__ import annotations

from .people import LoginLink, Membership, Role, Team, User, Visibility
from .records import AccessLog
from .tokens import ApiToken, Scope

__all__ = ["AccessLog", "ApiToken", "LoginLink", "Membership", "Role", "Scope", "Team", "User", "Visibility"]
