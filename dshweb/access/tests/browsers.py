"""What the tests of pages of people and teams share."""

from __future__ import annotations

import re

from django.test import Client


def of(user, **options) -> Client:
    """A browser in which `user` is logged in."""
    client = Client(**options)
    client.force_login(user)
    return client


def once(page) -> str:
    """The word of a form that counts once."""
    return re.search(r'name="once" value="([^"]+)"', page.content.decode())[1]
