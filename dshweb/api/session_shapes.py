"""The bodies of `/api/v1/sessions`. Unknown values are null; what a caller may not see is null too."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from dshweb.api.shapes import Paged, Shape
from dshweb.sessionlog.models import LogStatus, Outcome


class SessionOut(Shape):
    """A session in a line. The numbers are those of the log that is newest by content."""

    id: int
    session_id: str = Field(description="DSH's own id")
    team: str = Field(description="short name of the team it belongs to")
    content_visible: bool = Field(
        description="whether you may see what was said; if not, `title` and `workspace` are null"
    )
    title: str | None
    workspace: str | None = Field(description="the working directory")
    author: str | None = Field(description="user name of its owner")
    model: str | None
    provider: str | None
    preset: str | None
    parent_session: str | None = Field(description="DSH's id of the session it came from")
    origin: str | None
    started_at: datetime | None
    last_event_at: datetime | None
    seconds: float | None = Field(description="from its start to its last event")
    turns: int | None
    events: int | None
    tokens: int | None = Field(description="of all its requests together")
    compactions: int = Field(description="completed ones, without those inherited from a parent")
    not_completed: int
    audit_result: str | None = Field(
        description="`altered`, `candidates`, `cannot`, `partial`, `clean`: the worst of its audits; null: none was made"
    )
    status: str | None = Field(description="health of its log: `ok`, `damaged`, `unsupported`, `failed`")


class DamageEntry(Shape):
    """One line of a damage report. `kind`: `bytes` were lost, the `order` is odd, or only a `note`."""

    code: str
    kind: str
    message: str
    offset: int | None = Field(description="byte in the log")
    seq: int | None
    detail: str | None


class LogOut(Shape):
    """One log of a session. `current`: newest by content; `openedByDsh`: the one DSH itself would open."""

    id: int
    file_name: str
    format: int | None
    status: LogStatus
    size: int = Field(description="bytes that were read")
    complete: bool = Field(description="read to its end")
    last_seq: int | None
    read_at: datetime | None
    current: bool
    opened_by_dsh: bool
    accounting: dict[str, Any] = Field(description="bytes, frames, rows and events, and what was left out by reason")
    damage: list[DamageEntry]
    places: list[str] | None = Field(description="where it was read at; null unless you may bring logs in")


class LineageOut(Shape):
    """Our ids of sessions of the same team. `alike` begin with the same message, said at the same time."""

    parent: int | None
    children: list[int]
    alike: list[int]


class SessionDetail(SessionOut):
    inherited: dict[str, int] | None = Field(description="rows it begins with that are its parent's")
    warnings: list[str] = Field(description="codes of what is odd about its logs")
    logs: list[LogOut]
    lineage: LineageOut


class EventOut(Shape):
    """One event. `place`: number of its row in the log, and its number in the row. `event` has DSH's own members."""

    place: str
    seq: int
    type: str
    at: datetime | None
    size: int = Field(description="bytes of its data")
    event: dict[str, Any]


class EventsPage(Paged[EventOut]):
    log: int
    masked: bool


class Part(Shape):
    """A stretch of a message's text; stretches are joined by a blank line."""

    source: str = Field(description="`human`, `assistant`, `reasoning`, `tool_args`, `tool_result`, `injected`")
    chars: int


class MessageOut(Shape):
    """A message. `author` is who wrote a message of the user's role, as the log names it; `human`: a person typed it."""

    id: int
    log: int
    position: int
    seq: int
    type: str
    author: str | None
    human: bool
    turn: int | None
    step: int | None
    at: datetime | None
    call_id: str | None
    tool: str | None
    is_error: bool | None
    placeholder: bool = Field(description="a result that was written in place of the tool's own")
    inherited: bool
    opaque_blocks: int = Field(description="images and files")
    masked_places: int
    chars: int
    parts: list[Part]
    text: str


class CompactionLine(Shape):
    """An attempt in a line; `GET /compactions/{id}` has the rest. The counts are null while it has no audit."""

    id: int
    compaction_id: str
    log: int
    outcome: Outcome
    round: int | None
    trigger: str | None
    inherited: bool
    at: datetime | None
    start_seq: int | None
    summary_seq: int | None
    end_seq: int | None
    shadowed_events: int
    audited: bool
    altered: int | None = Field(description="altered and old values")
    candidates: int | None
    partial: bool | None


class Deleted(Shape):
    """What went with a session, or would: `deleted` tells which."""

    id: int
    session_id: str
    deleted: bool
    logs: int
    stored_bytes: int
    messages: int
    search_rows: int
    compactions: int
    audits: int
    signals: int
    reviews: int
