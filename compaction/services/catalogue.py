"""The team's model routes: the table the product ships, what admins made of it, and what logs showed.

Rule: INTEGRATION (e), COMPACTION §18 (models), DECISIONS 10 and 11. Unknown stays unknown; what was seen in a log never
overrides what somebody stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Q

from compaction.core.formula import reserve
from compaction.core.routes_seen import RouteSeen
from compaction.core.rules_routes import Route
from compaction.models import ModelRoute
from dshweb.access.models import Team
from dshweb.access.prepared import Prepared
from dshweb.sessionlog.services.rows import moment

PROVIDER = "deepseek-official"
_CAPACITY = {"context_window": 1_000_000, "default_max_tokens": 256_000}
_EFFORTS = {"efforts": ["off", "low", "high", "max"], "default_effort": "high"}
SHIPPED: tuple[dict[str, Any], ...] = (
    {"provider": PROVIDER, "model": "deepseek-flash", "allowed": True, **_CAPACITY, **_EFFORTS},
    {"provider": PROVIDER, "model": "deepseek-v4-pro", "allowed": True, **_CAPACITY, **_EFFORTS},
    {"provider": PROVIDER, "model": "", "allowed": False, **_CAPACITY, **_EFFORTS},  # any other id is routed as it is
)
MOST_SEEN = 500
"""Routes of a team that logs may add: ids in logs are anybody's text."""


@dataclass(frozen=True, slots=True)
class Known:
    """What holds for one route. None: unknown. `stated_window`: the window somebody stated for this very model.
    `adapter_known`: somebody stated how its adapter behaves, so that an unstated output limit reserves nothing."""

    window: int | None = None
    stated_window: int | None = None
    default_max_tokens: int | None = None
    efforts: tuple[str, ...] | None = None
    default_effort: str | None = None
    allowed: bool = False
    adapter_known: bool = False


class _Row(NamedTuple):
    """What `known` needs of a route."""

    model: str
    context_window: int | None
    seen_window: int | None
    default_max_tokens: int | None
    seen_max_tokens: int | None
    efforts: list[str] | None
    default_effort: str
    seen_effort: str
    allowed: bool


_rows = Prepared(  # asked for by every call of inspect
    lambda team, provider, model: ModelRoute.unscoped.filter(
        Q(model=model) | Q(model=""), team=team, provider=provider
    ).values_list(*_Row._fields),
    int, str, str,
)  # fmt: skip
_offered = Prepared(
    lambda team: (
        ModelRoute.unscoped.filter(Q(allowed=True) | Q(model=""), team=team)
        .order_by("provider", "model")
        .values_list("provider", *_Row._fields)
    ),
    int,
)


def window_for(found: Known | None, logged: int | None) -> int | None:
    """The context window of a session: what was stated for its model, else what its log said, else what is known else."""
    if found is None or found.stated_window is not None:
        return found.stated_window if found is not None else logged
    return logged if logged is not None else found.window


def seed(team_id: int) -> None:
    """Gives a team the shipped routes it lacks; those it has stay as they are."""
    rows = [ModelRoute(team_id=team_id, **values) for values in SHIPPED]
    ModelRoute.unscoped.bulk_create(rows, ignore_conflicts=True)


def routes(team_id: int) -> dict[tuple[str, str], Known]:
    """All routes of a team by (provider, model), with one query. Model "" is any other model of the provider."""
    return {(row.provider, row.model): _known(row) for row in ModelRoute.objects.for_team(team_id)}


def known(team_id: int, provider: str, model: str) -> Known | None:
    """What holds for this route: its own row, and where that says nothing the provider's row for any model. None: no row."""
    rows = [_Row(*row) for row in _rows.rows(team_id, provider, model)]
    return _merged({row.model: _known(row) for row in rows}, model)


class Routes:
    """The routes of a team as the rules take them (`rules_routes.Catalogue`): read with one query at the first question."""

    def __init__(self, team_id: int) -> None:
        self._team_id = team_id
        self._found: dict[tuple[str, str], Known] | None = None

    def __call__(self, provider: str, model: str) -> Route | None:
        one = self.known(provider, model)
        if one is None:
            return None
        kept = reserve(None, one.default_max_tokens, adapter_known=one.adapter_known)
        return Route(one.window, kept, one.efforts, one.allowed)

    def known(self, provider: str, model: str) -> Known | None:
        """The same as `known` says, for any number of routes with that one query."""
        return _for_route(self._all(), provider, model)

    def allowed(self) -> list[tuple[str, str]]:
        """The routes that may be chosen, in the order of their names."""
        return sorted(name for name, one in self._all().items() if one.allowed)

    def _all(self) -> dict[tuple[str, str], Known]:
        if self._found is None:
            self._found = routes(self._team_id)
        return self._found


def models_body(team_id: int) -> dict[str, Any]:
    """The body of `GET /better-compact/api/models`: the allowed routes; enabled with at least one."""
    found = {(provider, row[0]): _known(_Row(*row)) for provider, *row in _offered.rows(team_id)}
    listed = [_offer(name, found) for name, one in found.items() if one.allowed and name[1]]
    return {"enabled": bool(listed), "routes": listed}


def _offer(name: tuple[str, str], found: Mapping[tuple[str, str], Known]) -> dict[str, Any]:
    """One route with what holds for it, as `known` has it; a default that is none of its efforts is none."""
    provider, model = name
    one = _for_route(found, provider, model) or Known()
    efforts = list(one.efforts or ())
    default = one.default_effort if one.default_effort in efforts else None
    return {"provider": provider, "model": model, "efforts": efforts, "defaultEffort": default}


def note_seen(team: Team | int, seen: Iterable[RouteSeen]) -> None:
    """Keeps what a log said of routes. An older log never overrides what a newer one showed."""
    team_id = team if isinstance(team, int) else team.pk
    for one in sorted(seen, key=lambda one: (one.provider, one.model)):  # one order of locks for all importers
        if not _plausible(one):
            continue
        row = ModelRoute.objects.for_team(team_id).filter(provider=one.provider, model=one.model).first()
        if row is None:
            if ModelRoute.objects.for_team(team_id).count() >= MOST_SEEN:
                return
            try:
                with transaction.atomic():
                    ModelRoute.unscoped.create(team_id=team_id, provider=one.provider, model=one.model, **_values(one))
            except IntegrityError:  # another importer has just added it
                _refresh(team_id, one)
        elif any(getattr(row, name) != value for name, value in _values(one).items()):
            _refresh(team_id, one)


def _refresh(team_id: int, one: RouteSeen) -> None:
    rows = ModelRoute.objects.for_team(team_id).filter(provider=one.provider, model=one.model)
    if (at := _at(one)) is not None:
        rows = rows.filter(Q(seen_at=None) | Q(seen_at__lte=at))
    rows.update(**_values(one))


def _at(one: RouteSeen) -> datetime | None:
    return moment(one.time) if one.time is not None else None


def _values(one: RouteSeen) -> dict[str, Any]:
    values = {
        "seen_window": one.window,
        "seen_max_tokens": one.default_max_tokens,
        "seen_effort": one.default_effort,
        "seen_at": _at(one),
    }
    return {name: value for name, value in values.items() if value is not None}


def _plausible(one: RouteSeen) -> bool:
    texts = (one.provider, one.model, one.default_effort or "")
    fits = 0 < len(one.provider) <= 120 and 0 < len(one.model) <= 200 and len(texts[2]) <= 60
    clean = all(char.isprintable() for text in texts for char in text)
    return fits and clean and all(n is None or 0 < n < 1 << 53 for n in (one.window, one.default_max_tokens))


def _known(row: ModelRoute | _Row) -> Known:
    return Known(
        window=_holds(row.context_window, row.seen_window),
        stated_window=row.context_window if row.model else None,
        default_max_tokens=_holds(row.default_max_tokens, row.seen_max_tokens),
        efforts=tuple(row.efforts) if row.efforts is not None else None,
        default_effort=row.default_effort or row.seen_effort or None,
        allowed=row.allowed,
        adapter_known=row.context_window is not None,
    )


def _for_route(found: Mapping[tuple[str, str], Known], provider: str, model: str) -> Known | None:
    return _merged({name: found[provider, name] for name in (model, "") if (provider, name) in found}, model)


def _holds(stated: int | None, seen: int | None) -> int | None:
    """What somebody stated goes before what logs showed."""
    return stated if stated is not None else seen


def _merged(rows: Mapping[str, Known], model: str) -> Known | None:
    own, others = rows.get(model), rows.get("")
    if own is None or others is None or model == "":
        return own if own is not None else others
    return Known(
        window=own.window if own.window is not None else others.window,
        stated_window=own.stated_window,
        default_max_tokens=own.default_max_tokens if own.default_max_tokens is not None else others.default_max_tokens,
        efforts=own.efforts if own.efforts is not None else others.efforts,
        default_effort=own.default_effort or others.default_effort,
        allowed=own.allowed,
        adapter_known=own.adapter_known or others.adapter_known,
    )
