"""What is said about one log, and about a whole run: the objects `ingest --json` prints (API.md, Commands)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

DELETED = "deleted"
STATES = ("ok", "damaged", "unsupported", "failed", DELETED)
OUTCOMES = ("completed", "failed", "cancelled", "unmatched")
OURS = "error"  # damage of a log that an error of ours or of the machine kept from being read


@dataclass
class LogReport:
    """One log. `status`: ok, damaged, unsupported, failed, or deleted for one that is left alone; `skipped` counts by
    reason what gave no event.
    """

    path: str
    status: str
    session_id: str | None = None
    format: int | None = None
    frames: int | None = None
    rows: int | None = None
    events: int | None = None
    turns: int | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    compactions: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    damage: list[dict[str, Any]] = field(default_factory=list)
    changed: bool = True

    @property
    def retryable(self) -> bool:
        """Whether it failed for a reason that is not in the file, so that it may be tried again."""
        return self.status == "failed" and any(entry.get("code") == OURS for entry in self.damage)

    def why(self, most: int | None = None) -> str:
        """Why nothing could be read, in the first `most` of its reasons."""
        reasons = [f"{entry['code']}: {entry['detail']}" for entry in self.damage[:most]]
        return "; ".join(reasons) or "no header and no event in it"

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "sessionId": self.session_id,
            "format": self.format,
            "status": self.status,
            "frames": self.frames,
            "rows": self.rows,
            "events": self.events,
            "skipped": self.skipped,
            "compactions": self.compactions,
            "turns": self.turns,
            "damage": self.damage,
            "changed": self.changed,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any], *, path: str, changed: bool) -> LogReport:
        """A stored report, said again."""
        return cls(
            path=path,
            status=value["status"],
            session_id=value["sessionId"],
            format=value["format"],
            frames=value["frames"],
            rows=value["rows"],
            events=value["events"],
            turns=value["turns"],
            skipped=value["skipped"],
            compactions=value["compactions"],
            damage=value["damage"],
            changed=changed,
        )


@dataclass
class Totals:
    """Adds up. logs = sum of `status`; every other number is the sum over the logs where it is known."""

    logs: int = 0
    changed: int = 0
    status: Counter[str] = field(default_factory=Counter)
    compactions: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)
    frames: int = 0
    rows: int = 0
    events: int = 0
    turns: int = 0

    def add(self, report: LogReport) -> None:
        self.logs += 1
        self.changed += report.changed
        self.status[report.status] += 1
        self.compactions.update(report.compactions)
        self.skipped.update(report.skipped)
        for name in ("frames", "rows", "events", "turns"):
            setattr(self, name, getattr(self, name) + (getattr(report, name) or 0))

    def pass_over(self, skipped: Iterable[tuple[str, int]]) -> None:
        """Files that were seen below the given paths and are not logs."""
        self.passed_over.update(dict(skipped))

    def to_json(self) -> dict[str, Any]:
        return {
            "logs": self.logs,
            "changed": self.changed,
            "status": {name: self.status[name] for name in STATES if name != DELETED or self.status[DELETED]},
            "frames": self.frames,
            "rows": self.rows,
            "events": self.events,
            "turns": self.turns,
            "skipped": dict(sorted(self.skipped.items())),
            "compactions": {name: self.compactions[name] for name in OUTCOMES},
            "passedOver": dict(sorted(self.passed_over.items())),
        }
