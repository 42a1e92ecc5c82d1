"""`/api/v1/profiles/{id}/inspect` and `/api/v1/sessions/{id}/what-if`: budgets of now, and of other settings (API.md)."""

from __future__ import annotations

from typing import Any, Literal

from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from compaction import inspecting, trying
from compaction import selectors as profiles
from compaction.core.document import normalised
from compaction.core.formula import Spec
from compaction.core.marks import Marked
from compaction.core.problem import InvalidSettings
from compaction.inspecting import asked_settings
from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope
from dshweb.api.errors import ApiError
from dshweb.api.profiles import ProfileId
from dshweb.api.session_reading import log_of
from dshweb.api.sessions import SessionId
from dshweb.api.shapes import LARGEST_ID, Shape
from dshweb.sessionlog import selectors
from dshweb.sessionlog.selectors import may_see_content

router = Router(tags=["profiles"], by_alias=True)
MOST_TOKENS = 1 << 53

Measurement = Literal["measured", "estimated", "unavailable"]


class EngineOut(Shape):
    """Which engine serves the session. A log alone cannot prove it: `owner` is then `unknown`."""

    owner: Literal["host", "better-compact-preset", "foreign-preset", "unknown"]
    inspect_applies: bool
    reason: str | None


class BudgetOut(Shape):
    """Tokens; null is unknown."""

    context_window: int | None
    current_tokens: int | None
    measurement: Measurement
    fixed_tokens: int | None
    threshold_tokens: int | None
    retain_tokens: int | None
    summary_max_tokens: int | None


class PreviewOut(Shape):
    """What automatic compaction would do now; `afterUpperBoundTokens` is a bound, not a prediction."""

    before_tokens: int | None
    after_upper_bound_tokens: int | None
    range_start: int | None
    range_end: int | None
    reason: str | None


class LastCompactionOut(Shape):
    """The newest attempt in the log."""

    id: str
    trigger: Literal["manual", "automatic"]
    status: Literal["running", "completed", "failed", "cancelled", "persistence-error"]
    mode: Literal["native", "goal", "handoff"] | None
    before_tokens: int | None
    after_tokens: int | None
    duration_ms: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    error: str | None


class InspectOut(Shape):
    """What an engine holds, and how full a session is under it. Unknown is null, never 0."""

    active_config: dict[str, Any] | None = Field(description="what the engine holds; null: no worker has started yet")
    requires_reload: bool
    session_id: str | None
    diagnostics: list[str]
    engine: EngineOut | None
    budget: BudgetOut | None
    preview: PreviewOut | None
    last_compaction: LastCompactionOut | None
    handoff_continuation: dict[str, Any] | None


class InspectAsked(Schema):
    session_id: str | None = Field(None, alias="sessionId", min_length=1, max_length=200, description="DSH's own id")


@router.get(
    "/profiles/{profile_id}/inspect",
    response={200: InspectOut, **refused(404)},
    summary="Budget of a session under a profile",
    openapi_extra=about(
        "read",
        "viewer",
        example("What the engine holds", path={"profile_id": 1}),
        example(
            "And how full a session is",
            path={"profile_id": 1},
            query={"sessionId": "session-5c009325-c1be-4349-80cd-676d914a384b"},
        ),
    ),
)
def inspect(request: ApiRequest, profile_id: ProfileId, asked: Query[InspectAsked]) -> Any:
    """The body of `/better-compact/api/inspect` for this profile. The session must be of the profile's team."""
    need_scope(request.caller, "read")
    profile = get_object_or_404(profiles.profiles(request.caller), pk=profile_id)
    about_it = inspecting.asked(request.caller, asked.session_id, profile)
    if about_it is None:
        raise Http404
    return inspecting.body(about_it)


class WhatIfAsked(Schema):
    log: int | None = Field(None, ge=1, le=LARGEST_ID, description="one of its logs; without, the newest by content")
    threshold_ratio: float | None = Field(
        None, alias="thresholdRatio", gt=0, le=1, description="share of the window; without, as saved (all of these)"
    )
    headroom_tokens: int | None = Field(
        None, alias="headroomTokens", ge=0, le=MOST_TOKENS, description="kept free besides the answer"
    )
    retain_ratio: float | None = Field(
        None, alias="retainRatio", gt=0, le=1, description="kept tail as a share; not with `retainTokens`"
    )
    retain_tokens: int | None = Field(
        None, alias="retainTokens", ge=0, le=MOST_TOKENS, description="kept tail in tokens"
    )
    max_tokens: int | None = Field(None, alias="maxTokens", ge=1, le=MOST_TOKENS, description="longest summary")
    context_window: int | None = Field(
        None, alias="contextWindow", ge=1, le=MOST_TOKENS, description="in place of the recorded one"
    )

    def settings(self) -> dict[str, object]:
        """The keys that were given, as settings name them."""
        given = self.model_dump(by_alias=True, exclude_none=True)
        return {key: given[key] for key in trying.KEYS if key in given}


class PointOut(Shape):
    """A step boundary where these settings would have fired, or where the harness really did. Ranges are positional."""

    seq: int
    turn: int | None
    provider: str | None
    model: str | None
    context_window: int | None
    total_tokens: int | None
    measurement: Measurement
    threshold_tokens: int | None
    retain_tokens: int | None
    winner: Literal["ratio", "headroom", "both"] | None = Field(description="which bound made the threshold")
    over: bool | None = Field(description="whether these settings would have fired; null: cannot be told")
    crossing: bool = Field(description="the first of a run; nothing was compacted there, so the next ones are over too")
    fired: bool = Field(description="whether the harness pruned or compacted here")
    range_start: int | None
    range_end: int | None
    range_tokens: int | None
    refusal: str | None = Field(description="why there is no range")


class MarkOut(Shape):
    """A compaction of the log with what is worth a mark. Null: cannot be told."""

    id: str
    start_seq: int
    turn: int | None
    trigger: Literal["manual", "automatic"]
    status: str
    before_tokens: int | None
    after_tokens: int | None
    provider: str | None
    model: str | None
    context_window: int | None
    max_tokens: int | None = Field(description="output tokens that the request kept free")
    fill: float | None = Field(description="tokens before it in parts of the context window")
    answers_since: int | None = Field(description="answers since the last completed one")
    soon: bool | None = Field(description="a few answers after the one before")
    no_effect: bool | None = Field(description="the next request was about as large as what it began with")


class WhatIfOut(Shape):
    """Arithmetic on what was recorded, not a prediction: had one fired, the session would have gone on differently."""

    log: int
    as_of_seq: int | None
    settings: dict[str, Any]
    looks: int = Field(description="step boundaries at which the harness looks at the pressure")
    over: int
    crossings: int
    fired: int
    unknown: int
    points: list[PointOut]
    more: int = Field(description="points beyond those listed")
    marks: list[MarkOut] = Field(description="the newest compactions")
    more_marks: int = Field(description="compactions before those listed")
    notes: list[str]


@router.get(
    "/sessions/{session_id}/what-if",
    response={200: WhatIfOut, **refused(404, 410, 413)},
    summary="Other settings on a recorded session",
    openapi_extra=about(
        "read",
        "viewer",
        example("With half of a smaller window", path={"session_id": 3},
                query={"contextWindow": 20000, "thresholdRatio": 0.5, "headroomTokens": 0, "retainTokens": 4000, "maxTokens": 1000}),
        example("With a fixed tail", path={"session_id": 3}, query={"headroomTokens": 5000, "retainTokens": 4000}),
    ),
)  # fmt: skip
def what_if(request: ApiRequest, session_id: SessionId, asked: Query[WhatIfAsked]) -> Any:
    """Where the saved settings with these values in their place would have compacted, over which range, and how full the
    session was when it really did. Settings that break a rule of the harness answer 422 `settings/rejected`."""
    need_scope(request.caller, "read")
    row = get_object_or_404(selectors.sessions(request.caller), pk=session_id)
    if not may_see_content(request.caller, row):
        raise Http404
    log = log_of(row, asked.log)
    try:
        tried = trying.try_settings(
            log, trying.other_settings(asked_settings(row.team_id), asked.settings()), window=asked.context_window
        )
    except InvalidSettings as error:
        raise ApiError(422, "settings/rejected", f"These settings cannot be tried. {error}") from error
    except trying.TooLarge as error:
        raise ApiError(
            413, "sessions/too-large", f"Only logs up to {trying.MOST_BYTES >> 20} MiB are replayed in a call."
        ) from error
    except trying.Busy as error:
        raise ApiError(
            429,
            "too-many",
            "Another session is being replayed; ask again in some seconds.",
            None,
            **{"Retry-After": "5"},
        ) from error
    except trying.Gone as error:
        raise ApiError(
            410, "sessions/log-gone", "The stored log cannot be read; bring it in again from where it came."
        ) from error
    return WhatIfOut(
        log=log.pk,
        as_of_seq=tried.last_seq,
        settings=normalised(tried.settings),
        looks=tried.looks.get("looks", 0),
        over=tried.looks.get("over", 0),
        crossings=tried.looks.get("crossings", 0),
        fired=tried.looks.get("fired", 0),
        unknown=tried.looks.get("unknown", 0),
        points=[_point(one, asked.context_window) for one in tried.shown],
        more=tried.more,
        marks=[_mark(one) for one in tried.marks],
        more_marks=tried.more_marks,
        notes=[one.text for one in tried.notes],
    )


def _point(look: trying.Look, window: int | None) -> PointOut:
    point, worked_out = look.point, look.spec if isinstance(look.spec, Spec) else None
    span = point.range
    return PointOut(
        seq=point.seq,
        turn=point.turn,
        provider=point.route.provider,
        model=point.route.model,
        context_window=worked_out.window if worked_out else point.route.window if window is None else window,
        total_tokens=point.total,
        measurement=point.measurement,
        threshold_tokens=worked_out.threshold if worked_out else None,
        retain_tokens=worked_out.retain if worked_out else None,
        winner=worked_out.winner if worked_out else None,
        over=point.over,
        crossing=look.crossing,
        fired=point.fired,
        range_start=span.start if span else None,
        range_end=span.end if span else None,
        range_tokens=span.tokens if span else None,
        refusal=point.refusal,
    )


def _mark(one: Marked) -> MarkOut:
    found, route = one.compaction, one.route
    return MarkOut(
        id=found.id, start_seq=one.start_seq, turn=one.turn, trigger=found.trigger, status=found.status,
        before_tokens=found.before_tokens, after_tokens=found.after_tokens, fill=one.fill, provider=route.provider,
        model=route.model, context_window=route.window, max_tokens=route.max_tokens, answers_since=one.answers_since,
        soon=one.soon, no_effect=one.no_effect,
    )  # fmt: skip
