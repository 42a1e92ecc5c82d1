"""`/api/v1/`: signals (API.md)."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["signals"], by_alias=True)
