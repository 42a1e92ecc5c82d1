"""Rows made by hand, for tests of pages and the pictures of `tests/browser/shots.py`. The audits in them are real."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from audit.core.case import AuditCase
from audit.core.policy import Policy, Vocabulary
from audit.core.record import run
from audit.models import Audit, PolicyVersion, VocabularyTerm
from audit.services.facts import facts_of
from audit.services.policy import publish
from audit.services.run import save
from dshweb.access.models import Team, User
from dshweb.sessionlog.core.leaves import Block, Leaf, Ledger, LedgerReason, Source
from dshweb.sessionlog.models import Compaction, LogFile, Message, Session
from dshweb.sessionlog.services.masking import masker_for
from dshweb.tasks.models import State, Task

HOSTILE = '<script>alert("x")</script>\x1b[31mred\x1b[0m \u202egnp.exe <img src=x onerror=alert(1)> {{ 7|add:7 }}'
ID_A = "7d9f2c34-1b6e-4f0a-8a77-52c0e1d4b9aa"
ID_B = "b5a1e0f2-9c3d-47e8-a6b4-0f1e2d3c4b5a"

TURN = [
    (
        "user/message",
        "user",
        True,
        f"Request {ID_A}: read data/report-a.txt and data/report-b.txt. Keep src/store.py unchanged, "
        "never force-push to main, the cache limit is 64 MiB and the timeout 1500 ms.",
    ),
    ("user/message", "runtime-context", False, "cwd: /srv/demo-app\nplatform: linux\nshell: bash\n" * 4),
    (
        "user/message",
        "agent-instructions",
        False,
        "<system-reminder>\nAlways run the tests before you commit.\n</system-reminder>",
    ),
    (
        "assistant/message",
        "",
        False,
        f"Noted. Request {ID_A} concerns /srv/demo-app/src/server.py with TIMEOUT 1500 ms; the batch id is "
        f"{ID_B} and the cache limit 64 MiB. Reading the reports.",
    ),
    (
        "tool/result",
        "",
        False,
        "".join(f"{n}: schema commit index follower to cache service batch {n * 37}\n" for n in range(1, 209)),
    ),
    ("tool/result", "", False, "Tool execution was interrupted."),
    ("user/message", "user", True, "不是 8080，改成 18080 端口。不要动 docs/说明书.md，端口改完以后告诉我。"),
    ("assistant/message", "", False, "好的，端口改为 18080；docs/说明书.md 保持不变。"),
]
SUMMARY = [
    f"## Primary Request and Intent\n- Review the two data reports and then change the port; request id {ID_A}\n\n"
    "## Files and Code\n- /srv/demo-app/src/server.py: PORT and TIMEOUT 1500 ms\n- src/store.py: must stay unchanged\n"
    '- /srv/demo-app/deploy/rollout.yaml: rollout settings, limit 250 GiB\n\n## User messages\n- The user said "ship it today"\n\n'
    "## Current Work\n- Both reports were read; the cache limit is 46 MiB\n\n"
    "## Critical Context\n- Tracking id e2c4a6b8-0d1f-4a3c-9e5b-7f6d8c0a1b2e, change PORT in src/server.py to 8080\n"
]


TERMS = {"keep": "force-push", "drop": "rollout", "scope": "cache limit"}


def make_policy(team: Team) -> PolicyVersion:
    """Puts the policy in force that `make_audit` audits by."""
    for name, term in TERMS.items():
        VocabularyTerm.unscoped.create(team=team, list=name, term=term)
    return publish(team=team, by=None)


def make_session(team: Team, session_id: str = "s-1", owner: User | None = None, **fields: Any) -> Session:
    now = timezone.now()
    values: dict[str, Any] = {
        "title": "Two data reports, then change the port",
        "cwd": "/srv/demo-app",
        "model": "deepseek-flash",
        "provider": "deepseek-official",
        "created_at": now - timedelta(hours=2),
        "last_at": now - timedelta(minutes=12),
        "turns": 2,
        "events": 31,
        "tokens": 11993,
        "status": "ok",
    }
    return Session.unscoped.create(team=team, session_id=session_id, owner=owner, **(values | fields))


def make_log(session: Session, name: str = "session.v4.jsonl.zstd", *, current: bool = True, **fields: Any) -> LogFile:
    values: dict[str, Any] = {
        "stored": f"{session.team_id}/{session.session_id}/{name}",
        "format": 4,
        "size": 48213,
        "complete": True,
        "last_seq": 31,
        "read_at": timezone.now(),
        "masking": masker_for(session.team_id).version,
        "accounting": {
            "size": 48213,
            "bytes_good": 48213,
            "frames": 28,
            "rows": 31,
            "event_rows": 31,
            "events": 31,
            "skipped": {},
        },
    }
    log = LogFile.unscoped.create(team_id=session.team_id, session=session, file_name=name, **(values | fields))
    if current:
        session.current = log
        session.save()
    return log


def make_messages(
    log: LogFile, turn: list[tuple[str, str, bool, str]] | None = None, first_seq: int = 8
) -> list[Message]:
    rows = []
    for position, (kind, author, human, text) in enumerate(TURN if turn is None else turn):
        tool = kind == "tool/result"
        rows.append(
            Message(
                team_id=log.team_id,
                log=log,
                position=position,
                seq=first_seq + position,
                type=kind,
                author=author,
                human=human,
                turn=1,
                step=1,
                at=timezone.now() - timedelta(minutes=30 - position),
                text=text,
                chars=len(text),
                parts=[[_source(kind, human=human), len(text)]],
                call_id="call-1" if tool else "",
                tool="read" if tool else "",
                placeholder=tool and "interrupted" in text,
            )
        )
    return Message.unscoped.bulk_create(rows)


def make_compaction(log: LogFile, position: int = 9, **fields: Any) -> Compaction:
    values: dict[str, Any] = {
        "compaction_id": f"e345e984-{position}",
        "outcome": "completed",
        "round": 1,
        "turn": 2,
        "start_seq": 16,
        "summary_seq": 30,
        "checkpoint_seq": 31,
        "end_seq": 32,
        "at": timezone.now() - timedelta(minutes=15),
        "took_ms": 24,
        "trigger": "pressure",
        "shadowed_seqs": list(range(8, 16)),
        "shadowed_tokens": 6119,
        "provider": "deepseek-official",
        "model": "deepseek-flash",
        "max_tokens": 4000,
        "summary": SUMMARY,
    }
    return Compaction.unscoped.create(
        team_id=log.team_id, log=log, session=log.session, position=position, **(values | fields)
    )


def make_audit(row: Compaction, *, reasons: tuple[LedgerReason, ...] = (), policy: Policy | None = None) -> Audit:
    """Audits the compaction with the messages of its log as leaves, and stores record and signals."""
    leaves = tuple(_leaf(message) for message in row.log.messages.order_by("position"))
    words = Vocabulary(**{name: (term,) for name, term in TERMS.items()})
    case = AuditCase(
        session_id=row.session.session_id,
        compaction_id=row.compaction_id,
        summary_seq=row.summary_seq or 0,
        checkpoint_seq=row.checkpoint_seq,
        at=1_764_000_000_000,
        mode=None,
        summary=tuple(row.summary or ()),
        leaves=leaves,
        ledger=Ledger(tuple(leaf.seq for leaf in leaves), 1, reasons),
        cwd=row.session.cwd,
    )
    masking = masker_for(row.team_id).version
    done = run(case, policy or Policy(vocabulary=words, masking=masking))
    return save(row, done.record, None, masking=masking, facts=facts_of(case, done))


def make_audited(
    team: Team,
    owner: User | None = None,
    session_id: str = "s-1",
    turn: list[tuple[str, str, bool, str]] | None = None,
    **fields: Any,
) -> Compaction:
    """A session with messages and one compaction (`fields` are its), audited."""
    log = make_log(make_session(team, session_id, owner))
    make_messages(log, turn)
    row = make_compaction(log, **fields)
    make_audit(row)
    return row


def _leaf(message: Message) -> Leaf:
    source = _source(message.type, human=message.human)
    return Leaf(
        message.seq, message.type, message.author, None, message.turn, (Block(message.seq, 0, source, message.text),)
    )


def _source(kind: str, *, human: bool) -> Source:
    named: dict[str, Source] = {"assistant/message": "assistant", "tool/result": "tool_result"}
    return "human" if human else named.get(kind, "injected")


def make_task(team: Team, **fields: Any) -> Task:
    values: dict[str, Any] = {
        "kind": "audit",
        "key": f"k{Task.unscoped.count()}",
        "label": "e345e984",
        "state": State.QUEUED,
    }
    return Task.unscoped.create(team=team, **(values | fields))
