"""Makes projections anew from the stored logs: after new masking patterns, a newer dshweb, or a doubt."""

from __future__ import annotations

from collections.abc import Callable

from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services import steps, store
from dshweb.sessionlog.services.masking import masker_for


def rebuild_log(log: LogFile, *, on_progress: Callable[[int, int], None] | None = None) -> LogFile:
    """Reads the stored bytes again. Compactions keep their rows and so their audits; ones that are no longer there go.

    Raises FileNotFoundError when the stored bytes are gone; the old projection then stays as it is.
    """
    if not store.size(log.stored):
        raise FileNotFoundError(f"the stored bytes of log {log.pk} are not there")
    steps.start_over(log)
    return steps.read_on(log, masker=masker_for(log.team_id), on_progress=on_progress)
