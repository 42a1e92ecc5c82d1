"""How often a secret may be tried: counted in the cache per name and per address, each for a quarter of an hour.

Ten wrong passwords for one name from one address, a hundred from one address at all. Counting the pair keeps a
stranger from locking a person out: from another address that person still gets in. A try counts before the password is
looked at, so that many at once are not all let through before the first is noted. One household or rack of IPv6 has
2^64 addresses; it counts as one.

Tokens have 256 bits: there is nothing to guess, so only failures count, against the load they make.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

WINDOW_SECONDS = 15 * 60
PER_NAME = 10
PER_ADDRESS = 100
TOKENS_PER_ADDRESS = 300


class TooMany(Exception):
    """Refused for now, whatever was sent; `retry_after` in seconds."""

    retry_after = WINDOW_SECONDS


def address_of(request: HttpRequest | None) -> str:
    """Where the request came from. Behind our own proxy that is the last address it added, the one nobody can make up."""
    if request is None:
        return ""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_TLS else ""
    return forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")


def _network(address: str) -> str:
    """The address as it counts: of IPv6 the /64 that one line gets, of IPv4 in IPv6 the IPv4."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _pair(name: str, address: str) -> str:
    return f"login:pair:{_digest(name.strip().casefold(), _network(address))}"


def _address(address: str) -> str:
    return f"login:address:{_digest(_network(address))}"


def _up(key: str) -> int:
    """Count one more; how many there are now."""
    if cache.add(key, 1, WINDOW_SECONDS):
        return 1
    try:
        return cache.incr(key)
    except ValueError:  # it ended this moment
        cache.set(key, 1, WINDOW_SECONDS)
        return 1


def take(name: str, address: str) -> bool:
    """Count a try for `name` from `address`; False: it may not be made, and nothing may be said about it."""
    limits = {_pair(name, address): PER_NAME, _address(address): PER_ADDRESS}
    counts = cache.get_many(limits)
    if any(counts.get(key, 0) >= limit for key, limit in limits.items()):
        return False
    counts = {key: _up(key) for key in limits}
    return all(counts[key] <= limit for key, limit in limits.items())


def forget(name: str, address: str) -> None:
    """A right password clears the count of its name and takes the try from the count of its address."""
    cache.delete(_pair(name, address))
    with contextlib.suppress(ValueError):
        cache.decr(_address(address))


def bad_token(request: HttpRequest) -> None:
    """Count a token that is none; raises TooMany when its address sent too many."""
    if _up(f"token:address:{_digest(_network(address_of(request)))}") > TOKENS_PER_ADDRESS:
        raise TooMany
