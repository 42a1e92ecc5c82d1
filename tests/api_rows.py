"""A filled database for tests that walk the whole API: one of everything, and which row a parameter's name stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit.models import Audit, Signal
from dshweb.access.models import Scope
from dshweb.access.services import tokens
from dshweb.sessionlog.models import Message, Session
from dshweb.tasks.models import State
from dshweb.ui.tests.rows import ID_A, make_policy, make_task
from dshweb.ui.tests.sample import fill

LOG = next(Path(__file__).parent.joinpath("data", "corpus").glob("*/sessions/*/*/session.v4.jsonl.zstd"))


def filled(people) -> dict[str, Any]:
    """Fills the team of `people`; the rows a test may ask for, by the names of path parameters."""
    make_policy(people.team)
    fill(people.team, people.alice)
    session = Session.unscoped.get(session_id=ID_A)
    audit = Audit.unscoped.filter(compaction__session=session).latest("id")
    failed = make_task(people.team, kind="test-none", key="again", state=State.FAILED, error="OSError: gone")
    return {
        "session_id": session.pk,
        "compaction_id": audit.compaction_id,
        "signal_id": Signal.unscoped.filter(audit=audit).latest("rank").pk,
        "audit_id": audit.pk,
        "task_id": failed.pk,
        "message_id": Message.unscoped.filter(log=session.current_id).earliest("position").pk,
    }


def bearer(team, user, *scopes: str) -> dict[str, str]:
    """The header of a fresh token; without `scopes`, one with all of them."""
    return {"authorization": f"Bearer {tokens.make(team, user, 'program', scopes or Scope.values)[1]}"}
