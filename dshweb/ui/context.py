"""What every page needs besides its own data."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def page(request: HttpRequest) -> dict[str, Any]:
    return {"theme": request.COOKIES.get("theme", "") if request.COOKIES.get("theme") in {"light", "dark"} else ""}
