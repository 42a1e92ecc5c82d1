"""Long work as rows: the row is the truth, the queue only carries its id."""

from __future__ import annotations

from .task import OPEN, State, Task, Worker

__all__ = ["OPEN", "State", "Task", "Worker"]
