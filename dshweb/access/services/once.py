"""A form that shows a secret is answered by a page, not by a redirect: the secret would have to be kept for the next
page. So that loading that page again does not do the work again, each such form carries a word that counts once."""

from __future__ import annotations

import secrets

from django.core.cache import cache

DAY = 24 * 3600


def word() -> str:
    return secrets.token_urlsafe(12)


def first(word: str, user_id: int) -> bool:
    """Whether this form was not sent before. A form without a word is none of ours and counts as sent."""
    return bool(word) and len(word) <= 40 and cache.add(f"once:{user_id}:{word}", 1, DAY)
