"""`/api/v1/compactions`: one compaction, its audit record, and asking for a new one (API.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Path, Router, Status
from pydantic import ConfigDict, Field

from audit import selectors
from audit.core.record import dumps
from audit.models import Audit, Verdict
from audit.services.again import audit_log_again
from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope
from dshweb.api.errors import ApiError
from dshweb.api.shapes import LARGEST_ID, Shape
from dshweb.api.tasks import TaskOut, answer_task
from dshweb.sessionlog.models import Compaction, Outcome
from dshweb.sessionlog.selectors import compactions, may_see_content

router = Router(tags=["compactions"], by_alias=True)
CompactionId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="our number of the compaction")]


class AuditNumbers(Shape):
    """An audit in numbers: facts, not rows. Null is an axis that could not be made. The record has it all."""

    id: int
    engine: str
    config_fp: str
    older: bool = Field(description="made under an earlier policy; none was made under the one in force yet")
    verdict: Verdict
    partial: bool = Field(description="something could not be judged")
    ledger_incomplete: bool
    fidelity: float | None = Field(description="0 to 1; null when there was nothing to rate")
    asserted: int | None
    verified: int | None
    unverified: int | None
    coverage: float | None = Field(description="0 to 1, weighted; null when there was nothing to rate")
    key_facts: int | None
    kept: int | None
    lost: int | None
    terms_open: int | None = Field(description="open terms of the vocabulary; null when that is switched off")
    created_at: datetime


class CompactionOut(Shape):
    """One attempt to compact. `id` is our number, `compactionId` the log's own."""

    id: int
    compaction_id: str
    session: int
    session_id: str
    log: int
    team: str = Field(description="short name of the team it belongs to")
    outcome: Outcome
    inherited: bool = Field(description="it stands among the rows a fork took over from its parent")
    trigger: str | None = Field(description="`manual`, `pressure` or `overflow`; the last two are derived")
    round: int | None = Field(description="which completed compaction of this log, from 1")
    turn: int | None
    at: datetime | None
    took_ms: int | None
    start_seq: int | None
    summary_seq: int | None
    checkpoint_seq: int | None
    end_seq: int | None
    shadowed_events: int = Field(description="how many events it replaced")
    shadowed_tokens: int | None = Field(description="estimated")
    max_tokens: int | None
    provider: str | None
    model: str | None
    content_visible: bool = Field(
        description="whether you may see what was said; if not, `error` and `summary` are null"
    )
    error: str | None
    summary: list[str] | None = Field(description="masked blocks of text; null when the log has no summary")
    audit: AuditNumbers | None = Field(description="of the record that counts; null when none was made")


class Record(Shape):
    """The record `audit.signals/1` (docs/record.md), as `audit --json` prints it: sorted keys, UTF-8."""

    model_config = ConfigDict(extra="allow")

    schema_: str = Field(alias="schema")
    session_id: str
    compaction_id: str
    engine: str
    config_fp: str
    verdict: Verdict
    ledger: dict[str, Any]
    fidelity: dict[str, Any] | None
    coverage: dict[str, Any] | None
    compliance: dict[str, Any] | None
    errors: list[dict[str, Any]]


@router.get(
    "/compactions/{compaction_id}",
    response={200: CompactionOut, **refused(404)},
    summary="One compaction",
    openapi_extra=about("read", "viewer", example("Compaction 1", path={"compaction_id": 1})),
)
def get_compaction(request: ApiRequest, compaction_id: CompactionId) -> Any:
    """What the log says of it, and its audit in numbers."""
    need_scope(request.caller, "read")
    row = _compaction(request, compaction_id)
    visible = may_see_content(request.caller, row.session)
    found = selectors.chosen(selectors.audits_of(request.caller).filter(compaction=row)).get(row.pk)
    return CompactionOut(
        id=row.pk,
        compaction_id=row.compaction_id,
        session=row.session_id,
        session_id=row.session.session_id,
        log=row.log_id,
        team=row.session.team.slug,
        outcome=Outcome(row.outcome),
        inherited=row.inherited,
        trigger=row.trigger or None,
        round=row.round,
        turn=row.turn,
        at=row.at,
        took_ms=row.took_ms,
        start_seq=row.start_seq,
        summary_seq=row.summary_seq,
        checkpoint_seq=row.checkpoint_seq,
        end_seq=row.end_seq,
        shadowed_events=len(row.shadowed_seqs),
        shadowed_tokens=row.shadowed_tokens,
        max_tokens=row.max_tokens,
        provider=row.provider or None,
        model=row.model or None,
        content_visible=visible,
        error=(row.error or None) if visible else None,
        summary=row.summary if visible else None,
        audit=_numbers(found.audit, older=found.older) if found else None,
    )


@router.get(
    "/compactions/{compaction_id}/audit",
    response={200: Record, **refused(404)},
    summary="Its audit record",
    openapi_extra=about("read", "viewer", example("The record of compaction 1", path={"compaction_id": 1})),
)
def get_audit(request: ApiRequest, compaction_id: CompactionId) -> Any:
    """The record that counts: made under the policy in force, else the newest. 404 while there is none, and for those who
    may not see what was said."""
    need_scope(request.caller, "read")
    row = _compaction(request, compaction_id)
    found = selectors.audit_of(request.caller, row)
    if found is None or not may_see_content(request.caller, row.session):
        raise Http404
    # the bytes themselves: members keep their order and numbers their digits
    return HttpResponse(dumps(found.audit.record), content_type="application/json")


@router.post(
    "/compactions/{compaction_id}/audit",
    response={202: TaskOut, **refused(404, 409)},
    summary="Audit it again",
    openapi_extra=about("ingest", "member", example("Audit compaction 1", path={"compaction_id": 1}, status=202)),
)
def audit_again(request: ApiRequest, compaction_id: CompactionId) -> Any:
    """Asks for audits of its log under the policy in force. What has such a record keeps it; verdicts of unchanged signals
    stay. 409 when the log has no summary of this compaction."""
    row = _compaction(request, compaction_id)
    need_scope(request.caller, "ingest")
    if not request.caller.may_ingest(row.team_id):
        raise PermissionDenied
    if row.summary_seq is None:
        raise ApiError(
            409, "compactions/no-summary", "The log holds no summary of this compaction, so there is nothing to audit."
        )
    task = audit_log_again(row.log, request.caller.user)
    return Status(202, answer_task(request, task))


def _compaction(request: ApiRequest, pk: int) -> Compaction:
    return get_object_or_404(compactions(request.caller), pk=pk)


def _numbers(audit: Audit, *, older: bool) -> AuditNumbers:
    return AuditNumbers(
        id=audit.pk,
        engine=audit.engine,
        config_fp=audit.config_fp,
        older=older,
        verdict=Verdict(audit.verdict),
        partial=audit.partial,
        ledger_incomplete=audit.ledger_incomplete,
        fidelity=audit.rate,
        asserted=audit.asserted,
        verified=audit.verified,
        unverified=audit.unverified,
        coverage=audit.score,
        key_facts=audit.key_facts,
        kept=audit.kept,
        lost=audit.lost,
        terms_open=audit.terms_open,
        created_at=audit.created_at,
    )
