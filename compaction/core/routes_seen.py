"""What the rows of a log say of model routes: windows, and the adapter's defaults where the header marks them as such.

Rule: issue 4 C «filled from logs (`request/context`, headers) as "seen"»; STATE-EVENTS `request/header`: a true member of
`adapterDefaults` says that the value in `config` is the adapter's own, not the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dshweb.sessionlog.core.body import as_int

TYPES = ("request/context", "request/header")
MOST = 200


@dataclass(frozen=True, slots=True)
class RouteSeen:
    """What was said of one route, tokens; None: nothing. `time` in epoch ms is that of the newest row."""

    provider: str
    model: str
    window: int | None = None
    default_max_tokens: int | None = None
    default_effort: str | None = None
    time: int | None = None


class RoutesSeen:
    """Fold over the rows of a log; later rows win. Rows without a route count nothing; routes beyond `MOST` neither."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], RouteSeen] = {}

    def feed(self, kind: str, data: Any, time: int | None = None) -> None:
        """One row: its type, its decoded `data`, its time in epoch ms. Rows of other types are passed over."""
        one = seen_in(kind, data, time)
        if one is None:
            return
        key = (one.provider, one.model)
        before = self._found.get(key)
        if before is not None:
            self._found[key] = replace(
                before,
                window=one.window if one.window is not None else before.window,
                default_max_tokens=(
                    one.default_max_tokens if one.default_max_tokens is not None else before.default_max_tokens
                ),
                default_effort=one.default_effort if one.default_effort is not None else before.default_effort,
                time=one.time if one.time is not None else before.time,
            )
        elif len(self._found) < MOST:
            self._found[key] = one

    @property
    def found(self) -> tuple[RouteSeen, ...]:
        return tuple(self._found.values())


def seen_in(kind: str, data: Any, time: int | None = None) -> RouteSeen | None:
    """What one row says; None when it is of another type or names no route."""
    if not isinstance(data, Mapping):
        return None
    if kind == "request/context":
        window = as_int(data.get("contextWindow"))
        return _of(data, time, window=window if window is not None and window > 0 else None)
    if kind != "request/header":
        return None
    header = data.get("header")
    config = header.get("config") if isinstance(header, Mapping) else None
    if not isinstance(header, Mapping) or not isinstance(config, Mapping):
        return None
    given = header.get("adapterDefaults")
    given = given if isinstance(given, Mapping) else {}
    limit = as_int(config.get("maxTokens")) if given.get("maxTokens") is True else None
    effort = config.get("reasoningEffort") if given.get("reasoningEffort") is True else None
    return _of(
        config,
        time,
        default_max_tokens=limit if limit is not None and limit > 0 else None,
        default_effort=effort if isinstance(effort, str) and effort else None,
    )


def _of(names: Mapping[str, Any], time: int | None, **values: Any) -> RouteSeen | None:
    provider, model = names.get("provider"), names.get("model")
    if not (isinstance(provider, str) and provider and isinstance(model, str) and model):
        return None
    return RouteSeen(provider, model, time=time, **values)
