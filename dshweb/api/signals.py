"""`/api/v1/audit/signals`: candidates for review over all compactions, and people's verdicts on them (API.md)."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any, Literal

from ninja import Path, Query, Router
from pydantic import BeforeValidator, Field

from audit import selectors_review as selectors
from audit.models import ReviewVerdict
from audit.models.review import NOTE_CHARS
from audit.selectors_review import Filters, Found
from audit.services import export
from audit.services.review import BadReview, review
from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope
from dshweb.api.errors import ApiError
from dshweb.api.shapes import LARGEST_ID, LIMIT, MOST, Paged, Shape, bad_cursor
from dshweb.downloads import JSONL, download

router = Router(tags=["signals"], by_alias=True)
SignalId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="number of the signal")]


def _day(value: Any) -> Any:
    """Only `2026-11-30`: a bare number would be taken for seconds since 1970."""
    if isinstance(value, str):
        if re.fullmatch(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}", value) and value < "9990":
            return value
        raise ValueError("a day as 2026-11-30")
    return value


Day = Annotated[date | None, BeforeValidator(_day)]
Kind = Literal["unverified", "altered", "consent", "lost", "stale"]
Class = Literal[
    "uuid", "abs_path", "file_path", "number_unit", "user_correction", "user_rule", "user_quote", "user_consent",
    "hex_hash", "ip", "port", "version", "datetime", "ticket", "identifier",
]  # fmt: skip


LINES = {
    "description": "one item of the list a line",
    "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
}


class ReviewOut(Shape):
    """A verdict of a person, or of a person's token. `verdict` open: an earlier one was taken back, or only a note given."""

    verdict: ReviewVerdict
    note: str = Field(description="masked")
    by: str | None = Field(description="user name; null when the account is gone")
    token: str | None = Field(description="name of the token it came by")
    at: datetime


class SignalOut(Shape):
    """One candidate: something a literal comparison did not find on the other side. No statement that a summary is wrong."""

    id: int
    team: str = Field(description="short name of the team it belongs to")
    session: int
    session_id: str
    compaction: int
    compaction_id: str
    at: datetime | None = Field(description="time of the summary")
    model: str | None = Field(description="the model that wrote the summary")
    engine: str
    config_fp: str
    older: bool = Field(description="of a record made under an earlier policy")
    axis: Literal["fidelity", "coverage"]
    rank: int = Field(description="place in its record, from 0")
    verdict: ReviewVerdict = Field(description="of the newest review; open without one")
    review: ReviewOut | None = Field(description="the newest review")
    signal: dict[str, Any] = Field(description="the row as it stands in the record (docs/record.md)")


class SignalHistory(SignalOut):
    history: list[ReviewOut] = Field(description="all reviews, newest first")


class Narrowed(Shape):
    """What a list of signals is narrowed to."""

    verdict: ReviewVerdict | None = Field(None, description="all of them when it is left out")
    kind: Kind | None = None
    cls: Class | None = Field(None, alias="class")
    axis: Literal["fidelity", "coverage"] | None = None
    session: int | None = Field(None, ge=1, le=LARGEST_ID)
    compaction: int | None = Field(None, ge=1, le=LARGEST_ID)
    model: str = Field("", max_length=200, description="that wrote the summary")
    since: Day = Field(None, description="first day of summaries")
    until: Day = Field(None, description="last day of summaries")
    sort: Literal["importance", "newest"] = "importance"

    def filters(self) -> Filters:
        return Filters(
            verdict=self.verdict or "",
            kind=self.kind or "",
            cls=self.cls or "",
            axis=self.axis or "",
            session=self.session,
            compaction=self.compaction,
            model=self.model.replace("\x00", "\ufffd"),
            since=self.since,
            until=self.until,
            sort=self.sort,
        )


class Asked(Narrowed):
    cursor: str = Field("", max_length=50)
    limit: int = Field(LIMIT, ge=1, le=MOST)


class VerdictIn(Shape):
    """Without `note` the note of the last review stays; `open` takes a verdict back."""

    verdict: ReviewVerdict
    note: str | None = Field(None, max_length=NOTE_CHARS, description="stored masked")


@router.get(
    "/audit/signals",
    response={200: Paged[SignalOut], **refused()},
    summary="Candidates for review",
    openapi_extra=about(
        "read",
        "viewer",
        example("What awaits review, most important first", query={"verdict": "open"}),
        example("Altered values, ten at a time", query={"kind": "altered", "limit": 10}),
        example("Rules of the user that one compaction did not keep", query={"compaction": 1, "class": "user_rule"}),
    ),
)
def list_signals(request: ApiRequest, asked: Query[Asked]) -> Any:
    """Signals of the record that counts of every compaction you can see. Those of forks and of a session's older logs are
    left out unless you name their `compaction`. `next` of the answer is the `cursor` of the next page."""
    need_scope(request.caller, "read")
    try:
        page = selectors.signals_page(request.caller, asked.filters(), asked.cursor, asked.limit)
    except selectors.BadCursor:
        raise bad_cursor() from None
    return Paged[SignalOut](items=[_out(found) for found in page.rows], next=page.next or None)


@router.get(
    "/audit/signals.jsonl",
    response=refused(),
    summary="The same as one file",
    openapi_extra=about("read", "viewer", example("All with a verdict", query={"verdict": "confirmed"}))
    | {"responses": {200: LINES}},
)
def export_signals(request: ApiRequest, asked: Query[Narrowed]) -> Any:
    """One signal with its review a line, as the items of the list; sent while it is read, however many there are."""
    need_scope(request.caller, "read")
    found = selectors.every(request.caller, asked.filters())
    return download(export.jsonl(found), JSONL, "signals.jsonl")


@router.get(
    "/audit/signals/{signal_id}",
    response={200: SignalHistory, **refused(404)},
    summary="One candidate with all its reviews",
    openapi_extra=about("read", "viewer", example("Signal 1", path={"signal_id": 1})),
)
def get_signal(request: ApiRequest, signal_id: SignalId) -> Any:
    """Of whatever record, also of one that counts no more."""
    need_scope(request.caller, "read")
    return _history(request, signal_id)


@router.patch(
    "/audit/signals/{signal_id}",
    response={200: SignalHistory, **refused(404)},
    summary="Review a candidate",
    openapi_extra=about(
        "review",
        "reviewer",
        example("Confirm it", path={"signal_id": 1}, body={"verdict": "confirmed", "note": "the path is in no event"}),
        example("Take that back", path={"signal_id": 1}, body={"verdict": "open", "note": ""}),
    ),
)
def review_signal(request: ApiRequest, signal_id: SignalId, given: VerdictIn) -> Any:
    """Adds your verdict; earlier ones stay as history. It holds for the same signal in later records of the compaction. The
    same verdict and note sent again change nothing."""
    signal = selectors.signal_for(request.caller, signal_id)
    need_scope(request.caller, "review")
    note = given.note
    if note is None:
        past = selectors.found_for(request.caller, signal).reviews
        note = past[0].note if past else ""
    try:
        review(request.caller, signal, given.verdict, note)
    except BadReview as error:
        raise ApiError(422, "invalid", str(error)) from error
    return _history(request, signal_id)


def _history(request: ApiRequest, pk: int) -> SignalHistory:
    found = selectors.found_for(request.caller, selectors.signal_for(request.caller, pk))
    history = [ReviewOut(**export.review_of(one)) for one in found.reviews]
    return SignalHistory(**export.line_of(found), history=history)


def _out(found: Found) -> SignalOut:
    return SignalOut(**export.line_of(found))
