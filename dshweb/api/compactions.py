"""`/api/v1/`: compactions (API.md)."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["compactions"], by_alias=True)
