"""What the admin pages of several apps share."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from dshweb.access.models import User


def person(request: HttpRequest) -> User:
    """Who is using the admin. It lets in only people who are logged in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


class ReadOnlyAdmin(admin.ModelAdmin):
    """Projections of logs and records of the past: to be looked at, searched and filtered, never edited."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
