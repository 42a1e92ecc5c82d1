"""A filled database for tests that walk every page and the whole API: one of everything, a session read from real bytes, and
which row a parameter's name stands for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.models import Audit, Fact, Signal
from compaction.services.profiles import default_of
from dshweb.access.models import Membership, Scope, User
from dshweb.access.services import tokens
from dshweb.sessionlog.models import Message, Session, Source, SourceFile
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.tasks.models import State
from dshweb.ui.tests.rows import make_policy, make_task
from dshweb.ui.tests.sample import fill
from tests.builders import assistant, compaction, frame, header, human

LOG = next(Path(__file__).parent.joinpath("data", "corpus").glob("*/sessions/*/*/session.v4.jsonl.zstd"))
SESSION = "session-5c009325-c1be-4349-80cd-676d914a384b"  # one of the demo's, as the examples of the API name it
ROWS = [
    header(cwd="/srv/demo-app", id=SESSION),
    human(0, "Look at src/app.yaml, port 8080, never touch docs/plan.md; the limit is 64 MiB."),
    assistant(1, "Done in src/app.yaml: it took 13 ms with 64 MiB."),
    *compaction(
        2, [0, 1], "Changed /srv/demo-app/src/app.yaml and /srv/demo-app/src/other.yaml, took 14 ms, 46 MiB", "c1"
    ),
    human(6, "and src/app.yaml again, port 18080"),
    *compaction(7, [4, 6], "Changed src/app.yaml, port 9090, took 14 ms", "c2"),
    human(11, "thanks"),
]


@dataclass(frozen=True)
class Filled:
    """`ids` by the names of path parameters."""

    session: Session
    ids: dict[str, Any]
    rita: User


def read_log(people, folder: Path, rows: list[dict[str, Any]] | None = None, session: str = SESSION) -> Session:
    """The session of a log with these rows, read by the importer and audited."""
    path = folder / "home" / "sessions" / "--srv--" / session / "session.v4.jsonl.zstd"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(frame(row) for row in rows or ROWS))
    report = ingest_file(path, run=Import.by(people.team, people.alice, inline=True), place=None)
    assert report.status != "failed", report.damage
    return SourceFile.unscoped.get(location=str(path)).log.session


def filled(people, folder: Path) -> Filled:
    """Fills the team of `people`. Alice owns what is in it; rita is a viewer who may review."""
    make_policy(people.team)
    fill(people.team, people.alice)
    rita = User.objects.create_user("rita", password="rita-password")
    Membership.objects.create(team=people.team, user=rita, role="viewer", can_review=True)
    session = read_log(people, folder)
    audit = Audit.unscoped.filter(compaction__session=session).earliest("id")
    signal = Signal.unscoped.filter(audit=audit).earliest("rank")
    failed = make_task(people.team, kind="test-none", key="again", state=State.FAILED, error="OSError: gone")
    message = Message.unscoped.filter(log=session.current_id).earliest("position")
    ids = {
        "session_id": session.pk,
        "log": session.current_id,
        "compaction_id": audit.compaction_id,
        "signal_id": signal.pk,
        "audit_id": audit.pk,
        "fact": Fact.unscoped.filter(audit=audit).earliest("position").key,
        "task_id": failed.pk,
        "profile_id": default_of(people.team).pk,
        "message_id": message.pk,
        "seq": message.seq,
        "source": Source.unscoped.earliest("pk").pk,
        "file": SourceFile.unscoped.get(log=session.current_id).pk,
        "token": tokens.make(people.team, people.bob, "bobs", ["read"])[0].pk,
        "membership": Membership.objects.get(team=people.team, user=people.vera).pk,
    }
    return Filled(session, ids, rita)


def bearer(team, user, *scopes: str) -> dict[str, str]:
    """The header of a fresh token; without `scopes`, one with all of them."""
    return {"authorization": f"Bearer {tokens.make(team, user, 'program', scopes or Scope.values)[1]}"}
