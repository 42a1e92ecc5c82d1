"""What others may hang on to. Who does is decided in one place: dshweb.pipeline."""

from __future__ import annotations

import logging

from django.db import OperationalError
from django.dispatch import Signal

from dshweb.sessionlog.models import LogFile
from dshweb.tasks.progress import Stop

log_ = logging.getLogger(__name__)

# a full disk, missing rights, a database that is away: said in a line, and tried again by the next run
MACHINE = (OSError, OperationalError)

# A log was read on: log (LogFile), inline (True: do what follows now, in this process; False: enqueue it).
log_imported = Signal()

# Of these compactions (pks) the log now says something else than an audit may have seen: their summary was read before
# their checkpoint, or in a tail that was written anew. Sent inside the transaction that says so.
compactions_changed = Signal()


def tell_imported(log: LogFile, *, inline: bool) -> None:
    """Sends `log_imported`. What follows may fail without undoing it: the log is in, and a re-audit can be asked for.

    Raises what is not the fault of what follows: MACHINE errors, and Stop when this task is to end.
    """
    for receiver, answer in log_imported.send_robust(LogFile, log=log, inline=inline):
        if isinstance(answer, (Stop, *MACHINE)):
            raise answer
        if isinstance(answer, Exception):
            log_.error("%s failed after the import of log %s", receiver, log.pk, exc_info=answer)
