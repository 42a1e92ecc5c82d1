"""What others may hang on to. Who does is decided in one place: dshweb.pipeline."""

from __future__ import annotations

from django.dispatch import Signal

# A log was read on: log (LogFile), inline (True: do what follows now, in this process; False: enqueue it).
log_imported = Signal()
