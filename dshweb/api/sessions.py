"""`/api/v1/`: sessions (API.md)."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["sessions"], by_alias=True)
