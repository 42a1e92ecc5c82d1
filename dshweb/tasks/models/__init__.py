"""Long work as rows: the row is the truth, the queue only carries its id."""

from __future__ import annotations

from .task import State, Task, Worker

__all__ = ["State", "Task", "Worker"]
