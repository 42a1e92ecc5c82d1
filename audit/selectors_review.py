"""Questions about reviews, as one caller may see them."""

from __future__ import annotations

from audit.models import Review
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Compaction
from dshweb.sessionlog.selectors import may_see_content


def reviews_of(caller: Caller, compaction: Compaction) -> dict[str, list[Review]]:
    """The reviews of one compaction by signal key, newest first, with their people. Empty for who may not see its content.

    One query.
    """
    if not may_see_content(caller, compaction.session):
        return {}
    rows = Review.objects.for_caller(caller).filter(compaction=compaction).select_related("user", "token")
    found: dict[str, list[Review]] = {}
    for row in rows.order_by("-id"):
        found.setdefault(row.key, []).append(row)
    return found
