"""What the places of logs are called that people sent: `upload:` or `push:`, and `<user id>-<user>/<session>/<name>`.

The number makes a place a person's, also when names change hands.
"""

from __future__ import annotations

import re

from dshweb.access.models import User
from dshweb.text.lines import storable_name

UPLOAD, PUSH = SENT = ("upload:", "push:")
_PERSON = re.compile(r"(?:upload|push):([0-9]{1,18})-")


def location(how: str, user: User, folder: str, name: str) -> str:
    """The place of the log `name` of the session `folder`, sent by `user`. `how`: UPLOAD or PUSH."""
    return f"{how}{user.pk}-{storable_name(user.get_username(), 80).replace('/', '_')}/{folder}/{name}"


def person(location: str) -> int | None:
    """The id of whoever sent what is at a place; None for a place on a disk."""
    found = _PERSON.match(location)
    return int(found[1]) if found else None
