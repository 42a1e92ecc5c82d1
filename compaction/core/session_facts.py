"""What is kept of a session for `inspect`, so that a request decodes no log: a few numbers, and the table of its cuts.

Rule: issue 4 D; COMPACTION §18. The numbers do not depend on any settings; those are applied when someone asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any, Final

from . import last
from .budget import Budget, Meter, Preview, Range, budget, preview
from .cuts import cut_at, pack_cuts
from .diagnose import Diagnostic, diagnose
from .formula import NoSpec, Spec, reserve, spec
from .measure import Measure
from .policy import Policy, Settings
from .replay import Replay
from .what_if import Route, route_of

VERSION: Final = 1
"""Of what `to_json` gives; facts of another version are made anew."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session after event `seq`. `window` and `max_tokens` of the route are what the log says; None: it does not.

    `preset`: the agent preset in force. `locked`: the log holds an attempt that began and never ended.
    """

    seq: int | None
    measure: Measure
    fixed_tokens: int | None
    route: Route
    nodes: int
    preset: str | None
    locked: bool
    last: last.Bracket | None

    @property
    def meter(self) -> Meter | None:
        """What was measured; None: the measurement failed."""
        measured = self.measure
        if measured.baseline is None or measured.total is None:
            return None
        return Meter(measured.baseline, measured.total, self.fixed_tokens)

    def to_json(self) -> dict[str, Any]:
        """Plain members."""
        return asdict(self)

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> SessionFacts:
        """Inverse of `to_json`. Raises KeyError or TypeError for another shape."""
        measure = {**state["measure"], "diagnostics": tuple(state["measure"]["diagnostics"])}
        made = {"measure": Measure(**measure), "route": Route(**state["route"]), "last": last.from_json(state["last"])}
        return cls(**{**state, **made})


@dataclass(frozen=True, slots=True)
class Inspected:
    """`budget` and `preview` of one session under one policy, with the formula worked out behind them and what is to be
    said of both."""

    budget: Budget
    preview: Preview
    spec: Spec | NoSpec
    policy: Policy
    notes: tuple[str, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def diagnostics(self) -> tuple[str, ...]:
        """Notes and findings as inspect tells them."""
        return (*self.notes, *(one.text for one in self.findings))


def facts_of(replay: Replay) -> tuple[SessionFacts, bytes | None]:
    """Facts of a replayed log and the table of its cuts (None: a node has no price)."""
    nodes = replay.nodes()
    facts = SessionFacts(
        replay.seq, replay.measure(), replay.meter.fixed_tokens, route_of(replay), len(nodes), replay.preset, replay.locked,
        copy(replay.last),
    )  # fmt: skip
    return facts, pack_cuts(nodes)


def inspected(
    facts: SessionFacts,
    cuts: bytes | memoryview | None,
    settings: Settings,
    *,
    window: int | None,
    default_max_tokens: int | None,
    adapter_known: bool,
) -> Inspected:
    """Budget and preview for the current settings.

    `window`, `default_max_tokens` and `adapter_known` are what the model catalogue says of the session's route; its
    window goes before the log's, the header's `maxTokens` before its default.
    """
    route, measured = facts.route, facts.measure
    policy = settings.policy
    if route.provider is not None and route.model is not None:
        policy = settings.for_route(route.provider, route.model)
    known = window if window is not None else route.window
    worked_out = spec(policy, known, reserve(route.max_tokens, default_max_tokens, adapter_known=adapter_known))
    meter = facts.meter
    found = None
    if meter is not None and cuts is not None and not isinstance(worked_out, NoSpec):
        cut = cut_at(cuts, worked_out.retain)
        if cut.start is not None and cut.end is not None and cut.tokens is not None:
            found = Range(cut.start, cut.end, cut.tokens)
    return Inspected(
        budget(meter, policy, worked_out, known),
        preview(meter, policy, worked_out, found, failed=measured.reason or ""),
        worked_out,
        policy,
        measured.diagnostics,
        diagnose(policy, worked_out, meter, found, auto=settings.auto.value),
    )
