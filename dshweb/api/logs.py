"""`/api/v1/`: logs (API.md)."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["logs"], by_alias=True)
