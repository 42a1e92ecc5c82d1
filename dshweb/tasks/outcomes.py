"""What came of a task, in words and links. Apps above this one say it for their kinds:

@outcome_of("ingest")
def ingest(caller: Caller, task: Task) -> Outcome: ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dshweb.access.callers import Caller
from dshweb.tasks.models import Task


@dataclass(frozen=True)
class Link:
    """Something the task made or read. `note` is one word or two about it; without `url` it has no page."""

    text: str
    url: str = ""
    note: str = ""
    wrong: bool = False


@dataclass(frozen=True)
class Outcome:
    """`lines` are sentences, `links` at most a page full; `more` counts those left out."""

    lines: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    more: int = 0


Function = Callable[[Caller, Task], Outcome]
_functions: dict[str, Function] = {}


def outcome_of(kind: str) -> Callable[[Function], Function]:
    """Register the decorated function for tasks of `kind`."""

    def register(function: Function) -> Function:
        _functions[kind] = function
        return function

    return register


def outcome(caller: Caller, task: Task) -> Outcome:
    """What came of `task` as `caller` may see it; nothing for a kind that nobody speaks for."""
    function = _functions.get(task.kind)
    return function(caller, task) if function and isinstance(task.result, dict) else Outcome()
