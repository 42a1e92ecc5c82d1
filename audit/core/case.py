"""What one audit is given: a compaction with its summary and the leaves it replaced. Values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from dshweb.sessionlog.core.leaves import Leaf, Ledger


def _nothing() -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Places outside the leaves where an unmatched assertion may come from; looked at only when needed.

    Each is called at most once per audit and yields masked texts: the injected state at the time, the system
    prompts in force, and every row of the log before the summary that is not a leaf.
    """

    state: Callable[[], Iterable[str]] = _nothing
    system: Callable[[], Iterable[str]] = _nothing
    earlier: Callable[[], Iterable[str]] = _nothing


@dataclass(frozen=True, slots=True)
class AuditCase:
    """One compaction to audit.

    `summary` holds the text blocks of the `compaction/summary` row, masked, never `rawOutput`. `at` is that row's
    time (epoch ms). `leaves` are in seq order, masked. `cwd` is the session's working directory, for path aliases.
    """

    session_id: str
    compaction_id: str
    summary_seq: int
    checkpoint_seq: int | None
    at: int | None
    mode: str | None
    cwd: str | None
    summary: tuple[str, ...]
    leaves: tuple[Leaf, ...]
    ledger: Ledger
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
