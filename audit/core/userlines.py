"""Lines of a summary about what the user said, ruled or agreed to, against the leaves. Rule: AUDIT-REFINEMENTS §2.5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from audit.core import statements
from audit.core.case import AuditCase
from audit.core.schema import CLASS_WEIGHT, Kind, Signal, Where
from audit.core.statements import Claim, Support
from dshweb.sessionlog.core.leaves import Source

_SPOKEN: tuple[Source, ...] = ("assistant", "reasoning", "tool_args", "injected")


@dataclass(frozen=True, slots=True)
class Judged:
    """One claim in summary block `index`; `source` says who supports it, None when nobody does."""

    claim: Claim
    index: int
    source: str | None

    def row(self, case: AuditCase) -> Signal:
        """The claim as a signal: unverified or consent without a source, `verified` when only the assistant said it."""
        claim = self.claim
        kind: Kind = "verified" if self.source else "consent" if claim.kind == "user_consent" else "unverified"
        return Signal(
            cls=claim.kind,
            text=claim.text,
            canon=" ".join(claim.text.split()),
            where=Where("summary", case.summary_seq, self.index, claim.start, claim.end),
            kind=kind,
            tier="A",
            sources=(self.source,) if self.source else (),
            weight=CLASS_WEIGHT[claim.kind],
            evidence="assistant_only" if self.source == "assistant" else None,
        )


def judged_lines(case: AuditCase) -> Iterator[Judged]:
    """Every claim of the summary with its support. Quotes and consent count only when a human leaf holds them."""
    checks: _Checks | None = None
    for index, text in enumerate(case.summary):
        for claim in _claims(text):
            checks = checks or _Checks(case)
            yield Judged(claim, index, checks.source(claim))


class _Checks:
    """Supports of growing reach: humans, then everyone's words, then tool results (searched only when needed)."""

    def __init__(self, case: AuditCase) -> None:
        self._case = case
        self._human = Support(self._texts(("human",)))
        self._spoken = Support((), self._texts(_SPOKEN))
        self._tools: Support | None = None

    def source(self, claim: Claim) -> str | None:
        if self._human.of(claim):
            return "human"
        if claim.kind != "user_rule":
            return None
        if self._spoken.of(claim):
            return "assistant"
        if self._tools is None:
            self._tools = Support((), self._texts(("tool_result",)))
        return "tool_result" if self._tools.of(claim) else None

    def _texts(self, sources: tuple[Source, ...]) -> list[str]:
        return [block.text for leaf in self._case.leaves for block in leaf.blocks if block.source in sources]


def _claims(text: str) -> list[Claim]:
    """Claims of a block in order; of overlapping ones the strictest kind: consent, quote, rule."""
    found: list[Claim] = []
    for claim in (
        *statements.claimed_consents(text),
        *statements.claimed_quotes(text),
        *statements.claimed_rules(text),
    ):
        if all(claim.end <= other.start or other.end <= claim.start for other in found):
            found.append(claim)
    return sorted(found, key=lambda claim: (claim.start, claim.end))
