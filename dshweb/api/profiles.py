"""`/api/v1/profiles`: DSH profiles of a team and the compaction settings saved for them (API.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router
from pydantic import Field

from compaction import selectors
from compaction.core.document import MAX_OPS, parse_ops
from compaction.core.formula import NoSpec
from compaction.core.problem import InvalidSettings
from compaction.core.problem import Problem as Finding
from compaction.models import Profile
from compaction.services import settings
from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope
from dshweb.api.errors import ApiError
from dshweb.api.shapes import LARGEST_ID, LIMIT, MOST, Paged, Shape, id_page

router = Router(tags=["profiles"], by_alias=True)
ProfileId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="number of the profile")]


class ProfileOut(Shape):
    """A DSH profile. `revision` counts the changes of its settings; 0: nothing was ever saved."""

    id: int
    team: str = Field(description="short name of the team it belongs to")
    name: str
    machine: str = Field(description="where it runs; empty: not said")
    is_default: bool = Field(description="inspect answers for it where a session says no other")
    revision: int
    changed_at: datetime | None
    changed_by: str | None
    requires_reload: bool = Field(description="the engine holds other settings than the saved ones")


class ProfileFilters(Shape):
    cursor: str = Field("", max_length=20)
    limit: int = Field(LIMIT, ge=1, le=MOST)


class FindingOut(Shape):
    """What a rule says of the settings: where (`modelPolicies[2].maxTokens`), what, and what would be accepted."""

    path: str
    code: str
    message: str
    severity: Literal["error", "warning"]
    supported: list[str]


class TriggerOut(Shape):
    """Where automatic compaction would begin on one model, and why there. Tokens; null is unknown."""

    provider: str
    model: str
    context_window: int | None
    output_reserve: int | None = Field(
        description="output tokens the adapter keeps free unless a request says otherwise"
    )
    threshold_tokens: int | None
    retain_tokens: int | None
    winner: str | None = Field(description="the bound that made the threshold: `ratio`, `headroom` or `both`")
    default_overrode: str | None = Field(description="a setting that lost to a bound made of a default only")
    problem: str | None = Field(description="why there is no threshold")


class SettingsOut(Shape):
    """Compaction settings of a profile: as saved, as they work out, and as the engine holds them."""

    profile_id: int
    revision: int = Field(description="send it as `expectedRevision` to change these settings")
    changed_at: datetime | None
    changed_by: str | None
    document: dict[str, Any] = Field(description="what was set; a key that is not here is at its default")
    effective: dict[str, Any] | None = Field(description="all settings with defaults worked out; null: they do not fit")
    origins: dict[str, str] = Field(description="where each of these came from: `set`, `default` or `headroomTokens`")
    triggers: list[TriggerOut] = Field(
        description="for the models that may be chosen and those with settings of their own"
    )
    active_config: dict[str, Any] | None = Field(description="what the engine holds; null: no worker has started yet")
    active_revision: int | None = Field(description="revision that was saved when the engine took its settings")
    requires_reload: bool
    findings: list[FindingOut] = Field(description="errors and warnings of the form's rules")
    may_change: bool = Field(description="whether this caller may save")


class SetOp(Shape):
    """One change. `set` needs `value`; `unset` takes none and brings the default back."""

    op: Literal["set", "unset"]
    path: str | list[str] = Field(description="one top-level key, as text or as a list of one")
    value: Any = None


class MutationIn(Shape):
    """Operations applied in order, all or nothing. The provider and model of summaries are changed together."""

    ops: list[SetOp] = Field(min_length=1, max_length=MAX_OPS)
    expected_revision: int = Field(ge=0, le=LARGEST_ID, strict=True)


class RevisionOut(Shape):
    """One revision: the document after it and the operations that made it."""

    revision: int
    at: datetime
    author: str | None
    origin: str = Field(description="`saved` here or `imported` from a file")
    ops: list[dict[str, Any]]
    document: dict[str, Any]


@router.get(
    "/profiles",
    response={200: Paged[ProfileOut], **refused()},
    summary="Profiles of your teams",
    openapi_extra=about("read", "viewer", example("The profiles, newest first")),
)
def list_profiles(request: ApiRequest, filters: Query[ProfileFilters]) -> Any:
    """DSH profiles of your teams, newest first; `next` of the answer is the `cursor` of the next page."""
    need_scope(request.caller, "read")
    found, following = id_page(selectors.profiles(request.caller), filters.cursor, filters.limit)
    return Paged[ProfileOut](items=[_profile_out(row) for row in found], next=following)


@router.get(
    "/profiles/{profile_id}/compaction",
    response={200: SettingsOut, **refused(404)},
    summary="Compaction settings of a profile",
    openapi_extra=about("read", "viewer", example("What is saved and what the engine holds", path={"profile_id": 1})),
)
def get_settings(request: ApiRequest, profile_id: ProfileId) -> Any:
    """The saved settings with their revision, every value worked out, and what the engine holds until it is restarted."""
    need_scope(request.caller, "read")
    return _settings_out(request, _profile(request, profile_id))


@router.post(
    "/profiles/{profile_id}/compaction",
    response={200: SettingsOut, **refused(404, 409)},
    summary="Change compaction settings",
    openapi_extra=about(
        "engine",
        "admin",
        example(
            "Keep a fixed number of tokens",
            path={"profile_id": 1},
            body={"ops": [{"op": "set", "path": "retainTokens", "value": 60000}], "expectedRevision": 0},
        ),
        example(
            "Another revision than the present one: nothing was changed",
            path={"profile_id": 1},
            body={"ops": [{"op": "set", "path": "auto", "value": False}], "expectedRevision": 7},
            status=409,
        ),
    ),
)
def change_settings(request: ApiRequest, profile_id: ProfileId, body: MutationIn) -> Any:
    """Saves if the settings are still at `expectedRevision`, else answers 409 `settings/conflict`; its `detail` carries
    `expected`, `actual`, `base` (what you started from), `yours` and `theirs`.

    Settings that break a rule answer 422 `settings/rejected` with the findings. The engine goes on with what it holds until
    it is restarted: see `requiresReload`.
    """
    profile = _profile(request, profile_id)
    if not request.caller.may_configure(profile.team_id):
        raise PermissionDenied(
            "Only admins of the team change its settings, a token of theirs with the scope `engine` too; nothing was changed."
        )
    try:
        ops = parse_ops([one.model_dump(exclude_unset=True) for one in body.ops])
        settings.mutate(profile, ops, body.expected_revision, by=request.caller.user)
    except InvalidSettings as error:
        raise ApiError(
            422,
            "settings/rejected",
            f"Nothing was saved. {error}",
            {"findings": [one.model_dump(by_alias=True) for one in _findings(error.problems)]},
        ) from error
    except settings.Conflict as conflict:
        raise _conflict(conflict) from conflict
    except Profile.DoesNotExist:
        raise Http404 from None
    return _settings_out(request, _profile(request, profile_id))


@router.get(
    "/profiles/{profile_id}/compaction/history",
    response={200: Paged[RevisionOut], **refused(404)},
    summary="Earlier compaction settings",
    openapi_extra=about("read", "viewer", example("Who changed what", path={"profile_id": 1})),
)
def list_revisions(request: ApiRequest, profile_id: ProfileId, filters: Query[ProfileFilters]) -> Any:
    """Every revision of the settings, newest first: the operations that made it, and the whole document after it."""
    need_scope(request.caller, "read")
    rows = selectors.history(_profile(request, profile_id))
    found, following = id_page(rows, filters.cursor, filters.limit)
    items = [
        RevisionOut(
            revision=row.revision,
            at=row.at,
            author=row.author.get_username() if row.author else None,
            origin=row.origin,
            ops=row.ops,
            document=row.document,
        )
        for row in found
    ]
    return Paged[RevisionOut](items=items, next=following)


def _profile(request: ApiRequest, profile_id: int) -> Profile:
    return get_object_or_404(selectors.profiles(request.caller), pk=profile_id)


def _who(profile: Profile) -> str | None:
    return profile.changed_by.get_username() if profile.changed_by else None


def _profile_out(profile: Profile) -> ProfileOut:
    return ProfileOut(
        id=profile.pk,
        team=profile.team.slug,
        name=profile.name,
        machine=profile.machine,
        is_default=profile.is_default,
        revision=profile.revision,
        changed_at=profile.changed_at,
        changed_by=_who(profile),
        requires_reload=selectors.reload_needed(profile),
    )


def _settings_out(request: ApiRequest, profile: Profile) -> SettingsOut:
    found = selectors.standing(profile)
    return SettingsOut(
        profile_id=profile.pk,
        revision=profile.revision,
        changed_at=profile.changed_at,
        changed_by=_who(profile),
        document=profile.document,
        effective=found.effective,
        origins=found.origins,
        triggers=[_trigger_out(one) for one in found.triggers],
        active_config=found.snapshot.config if found.snapshot else None,
        active_revision=found.snapshot.revision if found.snapshot else None,
        requires_reload=found.requires_reload,
        findings=_findings(found.problems),
        may_change=request.caller.may_configure(profile.team_id),
    )


def _trigger_out(one: selectors.Trigger) -> TriggerOut:
    made = None if isinstance(one.worked_out, NoSpec) else one.worked_out
    return TriggerOut(
        provider=one.provider,
        model=one.model,
        context_window=one.route.window,
        output_reserve=one.route.reserve.tokens,
        threshold_tokens=made.threshold if made else None,
        retain_tokens=made.retain if made else None,
        winner=made.winner if made else None,
        default_overrode=made.default_overrode if made else None,
        problem=one.worked_out.message if isinstance(one.worked_out, NoSpec) else None,
    )


def _findings(problems: Iterable[Finding]) -> list[FindingOut]:
    return [FindingOut(**asdict(one)) for one in problems]


def _conflict(conflict: settings.Conflict) -> ApiError:
    theirs = conflict.theirs
    why = "somebody saved in between" if conflict.expected < conflict.actual else "there has been no such revision yet"
    return ApiError(
        409,
        "settings/conflict",
        f"The settings are at revision {conflict.actual}, not {conflict.expected}: {why}. Nothing was"
        " changed. Compare both sides and send your operations again with the revision of now.",
        {
            "expected": conflict.expected,
            "actual": conflict.actual,
            "base": conflict.base,
            "yours": conflict.yours,
            "theirs": theirs.document,
            "changedAt": theirs.changed_at.isoformat().replace("+00:00", "Z") if theirs.changed_at else None,
            "changedBy": _who(theirs),
        },
    )
