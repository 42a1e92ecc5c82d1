"""Parts of a page that fail alone (FR-091): one that cannot be made says so, and the rest of the page stands."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, transaction

from dshweb.sessionlog.services.events import Unreadable

log = logging.getLogger(__name__)

T = TypeVar("T")


class Panels:
    """Makes the parts of one page. `failed` holds the names of those that could not be made."""

    def __init__(self) -> None:
        self.failed: set[str] = set()

    def make(self, name: str, what: Callable[[], T], instead: T) -> T:
        """`what()`, or `instead` when that fails by the database, the disk or a row of an unexpected shape."""
        try:
            return what()
        except (DatabaseError, OSError, Unreadable, ValueError, KeyError, TypeError, AttributeError) as error:
            if transaction.get_connection().in_atomic_block and isinstance(error, DatabaseError):
                raise  # the transaction around is broken with it
            log.exception("the part %s of a page could not be made", name)
            self.failed.add(name)
            return instead
