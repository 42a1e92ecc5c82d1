"""`/api/v1/`: tasks (API.md)."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["tasks"], by_alias=True)
