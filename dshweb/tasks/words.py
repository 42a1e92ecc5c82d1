"""Names of the kinds of tasks, and of what the list can be narrowed to, for pages."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from dshweb.tasks.models import State

# a kind without a name here (left by another version) stands as it is
KINDS = {
    "ingest": _("Bring in"),
    "upload": _("Uploaded log"),
    "push": _("Log sent by a collector"),
    "audit": _("Audit"),
    "rescan": _("Mask anew"),
}
# how a task's error begins when the reason is one that people can do something about; any other stands as it is
FAILURES = {
    "NotALog": _("Nothing in it is a session log."),
    "NotImported": _("It could not be brought in."),
    "WorkerDied": _("The worker ended without a word."),
}
ENDINGS = {
    "worker-died": _("the worker ended without a word"),
    "given-back": _("given back, the worker was told to end"),
}
OPEN = "open"
STATES = {
    "": _("all"),
    OPEN: _("not ended"),
    State.FAILED: State.FAILED.label,
    State.CANCELLED: State.CANCELLED.label,
    State.DONE: State.DONE.label,
}
