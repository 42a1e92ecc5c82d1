"""What an address says after the question mark."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, QueryDict


def whole_number(request: HttpRequest, name: str) -> int | None:
    """A whole number from the address, None when it is not one (or larger than any database holds)."""
    return number_in(request.GET.get(name, ""))


def number_in(text: str) -> int | None:
    """The whole number a text is; None as `whole_number` says."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def with_query(query: QueryDict, **changes: Any) -> str:
    """The address's query with these members changed ("" and None: left out)."""
    made = query.copy()
    for name, value in changes.items():
        made.pop(name, None)
        if value not in ("", None):
            made[name] = value
    return made.urlencode()
