"""How often a login may be tried: counted in the cache per name and per address, each for a quarter of an hour.

Ten wrong passwords for one name from one address, a hundred from one address at all. Counting the pair keeps a
stranger from locking a person out: from another address that person still gets in.
"""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

WINDOW_SECONDS = 15 * 60
PER_NAME = 10
PER_ADDRESS = 100


def address_of(request: HttpRequest | None) -> str:
    """Where the request came from. Behind our own proxy that is the last address it added, the one nobody can make up."""
    if request is None:
        return ""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_TLS else ""
    return forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")


def _keys(name: str, address: str) -> dict[str, int]:
    pair = hashlib.sha256(f"{name.strip().casefold()}\0{address}".encode()).hexdigest()
    alone = hashlib.sha256(address.encode()).hexdigest()
    return {f"login:pair:{pair}": PER_NAME, f"login:address:{alone}": PER_ADDRESS}


def too_many(name: str, address: str) -> bool:
    """Whether `name` may not be tried from `address` any more for now."""
    limits = _keys(name, address)
    counts = cache.get_many(limits)
    return any(counts.get(key, 0) >= limit for key, limit in limits.items())


def note_failure(name: str, address: str) -> None:
    for key in _keys(name, address):
        if not cache.add(key, 1, WINDOW_SECONDS):
            try:
                cache.incr(key)
            except ValueError:  # it ended this moment
                cache.set(key, 1, WINDOW_SECONDS)


def forget(name: str, address: str) -> None:
    """A right password clears the count of its name."""
    cache.delete(next(iter(_keys(name, address))))
