"""What others may hang on to. Who does is decided in one place: dshweb.pipeline."""

from __future__ import annotations

from django.dispatch import Signal

# A log was read on: log (LogFile), inline (True: do what follows now, in this process; False: enqueue it).
log_imported = Signal()

# Of these compactions (pks) the log now says something else than an audit may have seen: their summary was read before
# their checkpoint, or in a tail that was written anew. Sent inside the transaction that says so.
compactions_changed = Signal()
