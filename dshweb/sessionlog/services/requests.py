"""Asks for work on logs. A worker does it; asked for twice while it waits, it is one task."""

from __future__ import annotations

from pathlib import Path

from dshweb.access.models import Team, User
from dshweb.sessionlog.core.generations import is_log_name
from dshweb.sessionlog.services.files import path_to_text
from dshweb.tasks.models import Task
from dshweb.tasks.services import enqueue


def request_ingest(team: Team | int, path: Path, *, owner: int | None, by: User | None = None) -> Task:
    """Brings in the log at `path`, or every log below it. `owner`: id of the user whose new sessions they become."""
    text = path_to_text(path)
    label = path.parent.name if is_log_name(path.name) else text
    return enqueue(team, "ingest", text, {"path": text, "owner": owner}, label, by)


def request_rescan(team: Team, *, by: User | None) -> Task:
    """Masks the stored text of the team anew under the patterns in force."""
    return enqueue(team, "rescan", "masking", {}, team.name, by)
