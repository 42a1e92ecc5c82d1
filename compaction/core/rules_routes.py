"""Settings against what is known of the models they meet: efforts, allowed routes, a usable trigger.

Rule: seed «Reasoning effort», «Models», COMPACTION §11 and §2; DECISIONS 11 (unknown capability: a warning when saving).
Field reports 016, 017, 026.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from compaction.core.formula import NoSpec, Reserve, spec
from compaction.core.policy import Policy, Settings
from compaction.core.problem import Problem, shown


@dataclass(frozen=True, slots=True)
class Route:
    """What the catalogue knows of one model. None: unknown; `efforts` (): it takes none."""

    window: int | None = None
    reserve: Reserve = field(default_factory=lambda: Reserve(None, "unknown"))
    efforts: tuple[str, ...] | None = None
    allowed: bool | None = None


RouteName: TypeAlias = tuple[str, str]
Catalogue: TypeAlias = Callable[[str, str], Route | None]


def problems(settings: Settings, catalogue: Catalogue, follows: RouteName | None = None) -> tuple[Problem, ...]:
    """What is wrong with resolved settings on the models they name.

    `follows`: the route that an empty summary pair means (the session's own), where one is known; the profile-wide
    trigger is worked out on it. Every route with a policy of its own is worked out too.
    """
    return tuple(_all(settings, catalogue, follows))


def _all(settings: Settings, catalogue: Catalogue, follows: RouteName | None) -> Iterator[Problem]:
    provider, model = settings.policy.summarization_provider.value, settings.policy.summarization_model.value
    chosen = (provider, model) if provider else None
    if chosen is not None:
        known = catalogue(*chosen)
        if known is None or known.allowed is False:
            yield Problem(
                "summarizationModel", "route-not-allowed",
                f"{shown('/'.join(chosen))} is not among the allowed models; it is kept as it is", "warning",
            )  # fmt: skip
    if settings.mode.value != "native" and settings.reasoning_effort.value:
        yield from _effort(settings.reasoning_effort.value, chosen or follows, catalogue)
    if follows is not None:
        yield from _trigger(settings.for_route(*follows), catalogue(*follows), "")
    for index, override in enumerate(settings.overrides):
        route = (str(override["provider"]), str(override["model"]))
        if route != follows:
            yield from _trigger(settings.for_route(*route), catalogue(*route), f"modelPolicies[{index}].")


def _effort(effort: str, route: RouteName | None, catalogue: Catalogue) -> Iterator[Problem]:
    known = catalogue(*route) if route is not None else None
    efforts = known.efforts if known is not None else None
    name = shown("/".join(route)) if route is not None else "the followed model"
    if efforts is None:
        yield Problem(
            "reasoningEffort", "effort-unknown",
            f"whether {name} takes the effort {shown(effort)} is unknown; the engine refuses it until it is known",
            "warning",
        )  # fmt: skip
    elif effort not in efforts:
        said = f"choose one of {', '.join(efforts)}, or leave it empty" if efforts else "it takes none: leave it empty"
        yield Problem(
            "reasoningEffort", "effort-not-supported",
            f"{shown(effort)} is not an effort of {name}; {said}", "error", efforts,
        )  # fmt: skip


def _trigger(policy: Policy, known: Route | None, prefix: str) -> Iterator[Problem]:
    if known is None:
        return
    worked_out = spec(policy, known.window, known.reserve)
    if isinstance(worked_out, NoSpec) and not worked_out.unknown:
        control = worked_out.controls[0] if worked_out.controls else "contextWindow"
        route = shown(f"{policy.provider}/{policy.model}")
        yield Problem(prefix + control, worked_out.code, f"{route}: {worked_out.message}")
