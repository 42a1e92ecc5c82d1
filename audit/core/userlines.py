"""Lines of a summary about what the user said, ruled or agreed to, against the leaves. Rule: AUDIT-REFINEMENTS §2.5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    """Every claim of the summary that can be checked, with its support. Only rules may rest on other than human leaves,
    and someone else's consent on what tools and the assistant tell of it."""
    checks: _Checks | None = None
    for index, text in enumerate(case.summary):
        for claim in _claims(text):
            checks = checks or _Checks(case)
            source = checks.source(claim)
            if source != "unscored":
                yield Judged(claim, index, source)


def believed(summary: Sequence[str], lines: Iterable[Judged]) -> tuple[str, ...]:
    """The summary with quotes and consent that have no source blanked: such a line is no proof that a demand was kept."""
    texts = list(summary)
    for line in lines:
        claim = line.claim
        if line.source is None and claim.kind != "user_rule":
            text = texts[line.index]
            texts[line.index] = text[: claim.start] + " " * (claim.end - claim.start) + text[claim.end :]
    return tuple(texts)


class _Checks:
    """Supports of growing reach: humans, then everyone's words, then tool results (searched only when needed)."""

    def __init__(self, case: AuditCase) -> None:
        self._case = case
        human, before = _exchanges(case)
        self._human = Support(human, before=before)
        self._spoken = Support((), self._texts(_SPOKEN))
        self._tools: Support | None = None
        self._endorsing: Support | None = None

    def source(self, claim: Claim) -> str | None:
        """Who supports a claim: `human`, `assistant`, `tool_result`, None = nobody, `unscored` = cannot be checked."""
        if claim.basis in ("told", "other"):
            return self._in_other_words(claim)
        if self._human.of(claim):
            return "human"
        if claim.kind != "user_rule":
            return None
        if self._spoken.of(claim):
            return "assistant"
        if self._tools is None:
            self._tools = Support((), self._texts(("tool_result",)))
        return "tool_result" if self._tools.of(claim) else None

    def _in_other_words(self, claim: Claim) -> str | None:
        found = self._human.judge(claim)
        if found is None:
            return "unscored"
        if found or claim.basis == "told":
            return "human" if found else None
        if self._endorsing is None:
            human, _ = _exchanges(self._case)
            self._endorsing = Support(human, self._texts(("assistant", "tool_result")))
        return "assistant" if self._endorsing.judge(claim) else None

    def _texts(self, sources: tuple[Source, ...]) -> list[str]:
        return [block.text for leaf in self._case.leaves for block in leaf.blocks if block.source in sources]


def _exchanges(case: AuditCase) -> tuple[list[str], list[str]]:
    """Human texts in order, and for each what the assistant said between the message before and this one."""
    human: list[str] = []
    before: list[str] = []
    said: list[str] = []
    for leaf in case.leaves:
        for block in leaf.blocks:
            if block.source == "human":
                human.append(block.text)
                before.append("\n".join(said))
                said = []
            elif block.source == "assistant":
                said.append(block.text)
    return human, before


def _claims(text: str) -> list[Claim]:
    """Claims of a block in order; of overlapping ones the strictest kind: consent, quote, rule, indirect speech."""
    found: list[Claim] = []
    for claim in (
        *statements.claimed_consents(text),
        *statements.claimed_endorsements(text),
        *statements.claimed_quotes(text),
        *statements.claimed_rules(text),
        *statements.claimed_told(text),
    ):
        if all(claim.end <= other.start or other.end <= claim.start for other in found):
            found.append(claim)
    return sorted(found, key=lambda claim: (claim.start, claim.end))
