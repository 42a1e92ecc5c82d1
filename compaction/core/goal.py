"""The goal of a session, by its own events. Rule: STATE-EVENTS §1; a violation keeps the last good goal and says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Final

from dshweb.sessionlog.core.body import as_int

_IDS_KEPT: Final = 500


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal as it stands. `phase`: active, paused, blocked or complete. `objective` and `reason` are as `mask` left them,
    `id` is a digest of the log's own.

    A log can prove "active", never "armed": whether a process works on it is not in the log.
    """

    id: str
    revision: int
    objective: str
    phase: str
    rounds: int
    most_rounds: int
    created_at: int | None
    updated_at: int | None
    reason: str | None = None


@dataclass(slots=True)
class GoalFold:
    """`goal` None: there is none. `failed`: from there on the goal cannot be read; the one before stays."""

    goal: Goal | None = None
    failed: str | None = None
    seen: list[str] = field(default_factory=list)

    def change(self, seq: int, given: Mapping[str, Any], objective: str, reason: str | None) -> None:
        """One `goal/change` row; `objective` and `reason` (of blocked) are given masked."""
        if self.failed:
            return
        problem = self._clear(given) if given.get("operation") == "clear" else self._set(given, objective, reason)
        if problem:
            self.failed = f"{seq}: {problem}"

    def round(self, seq: int, source: Mapping[str, Any]) -> None:
        """A message that the goal itself wrote: its next round begins."""
        goal = self.goal
        if self.failed:
            return
        if goal is None or goal.phase != "active" or goal.id != _digest(source.get("goalId")):
            self.failed = f"{seq}: a round of a goal that is not active"
        elif goal.revision != as_int(source.get("revision")) or as_int(source.get("round")) != goal.rounds + 1:
            self.failed = f"{seq}: a round out of order"
        elif goal.rounds + 1 > goal.most_rounds:
            self.failed = f"{seq}: more rounds than the goal allows"
        else:
            self.goal = Goal(**{**asdict(goal), "rounds": goal.rounds + 1})

    def _clear(self, given: Mapping[str, Any]) -> str:
        cleared, at = given.get("cleared"), as_int(given.get("clearedAt"))
        if self.goal is None or not isinstance(cleared, dict) or _digest(cleared.get("id")) != self.goal.id:
            return "clears a goal that is not there"
        if as_int(cleared.get("revision")) != self.goal.revision + 1:
            return "clears another revision"
        if at is not None and self.goal.updated_at is not None and at < self.goal.updated_at:
            return "clears before the last change"
        self.goal = None
        return ""

    def _set(self, given: Mapping[str, Any], objective: str, reason: str | None) -> str:
        goal = given.get("goal")
        if not isinstance(goal, dict) or not isinstance(goal.get("id"), str) or not isinstance(goal.get("phase"), str):
            return "no goal in it"
        revision, most = as_int(goal.get("revision")), as_int(goal.get("maxGoalRounds"))
        rounds = as_int(given.get("roundsStarted"))
        if revision is None or most is None or rounds is None:
            return "numbers are missing"
        made = Goal(
            _digest(goal["id"]), revision, objective, goal["phase"], rounds, most,
            as_int(given.get("createdAt")), as_int(given.get("updatedAt")), reason,
        )  # fmt: skip
        if (made.phase == "blocked") != (reason is not None):
            return "only blocked has a reason, and it must"
        problem = self._creates(made) if given.get("operation") == "create" else self._follows(made, given)
        if not problem:
            self.goal = made
        return problem

    def _creates(self, made: Goal) -> str:
        if made.id in self.seen or (self.goal is not None and self.goal.phase != "complete"):
            return "creates a goal beside one that is there"
        if made.revision != 1 or made.phase != "active" or made.rounds:
            return "creates a goal that is not new"
        self.seen = [*self.seen[-_IDS_KEPT:], made.id]
        return ""

    def _follows(self, made: Goal, given: Mapping[str, Any]) -> str:
        before, operation = self.goal, given.get("operation")
        if before is None or before.id != made.id or made.revision != before.revision + 1:
            return "changes another goal or revision"
        if made.created_at != before.created_at or made.rounds != before.rounds:
            return "changes what does not change"
        if made.updated_at is not None and before.updated_at is not None and made.updated_at < before.updated_at:
            return "changes before the last change"
        allowed = _PHASES.get(str(operation))
        if operation == "edit":
            same = (made.phase, made.reason) == (before.phase, before.reason)
            return "" if same else "an edit changes the phase or its reason"
        if allowed is None:
            return "unknown operation"
        if made.phase != allowed[1]:
            return f"{operation} to another phase"
        if before.phase not in allowed[0]:
            return f"{operation} from {before.phase}"
        if operation == "pause" and (made.objective, made.most_rounds) != (before.objective, before.most_rounds):
            return "a pause changes the goal"
        if operation == "resume" and before.rounds >= before.most_rounds:
            return "resumes a goal without rounds left"
        return ""

    def to_json(self) -> dict[str, Any]:
        """Plain members."""
        return {"goal": asdict(self.goal) if self.goal else None, "failed": self.failed, "seen": list(self.seen)}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> GoalFold:
        """Inverse of `to_json`. Raises KeyError or TypeError for another shape."""
        goal = state["goal"]
        return cls(Goal(**goal) if goal else None, state["failed"], list(state["seen"]))


def _digest(value: object) -> str:
    """What two ids are compared by; "" for what is no id."""
    return sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:32] if isinstance(value, str) else ""


_PHASES: Final[dict[str, tuple[frozenset[str], str]]] = {
    "pause": (frozenset({"active"}), "paused"),
    "resume": (frozenset({"active", "paused", "blocked"}), "active"),
    "complete": (frozenset({"active", "paused", "blocked"}), "complete"),
    "block": (frozenset({"active"}), "blocked"),
}
