"""What an address says after the question mark."""

from __future__ import annotations

from django.http import HttpRequest


def whole_number(request: HttpRequest, name: str) -> int | None:
    """A whole number from the address, None when it is not one (or larger than any database holds)."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
