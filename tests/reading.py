"""How tests read what was answered."""

from __future__ import annotations

import re


def words(html: str) -> str:
    """What a page says, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
