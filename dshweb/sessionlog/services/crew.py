"""Several logs at a time: forked helpers import one log after the other, and what they say comes back in the logs' order.

SQLite has one writer, so helpers share the decoding, parsing and masking; their write transactions are short and wait for one
another. A log is still imported by one process. Killed helpers or parents leave what a killed import leaves: steps that are
whole. A helper whose parent is gone ends at its next step.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, cast

from django.db import connection, connections

from dshweb.sessionlog.services.report import LogReport

MOST = 2  # helpers; more have not been measured to pay with one writer
LEAST_BYTES = 2 << 20  # of logs to be read, below which a fork costs more than it brings

Progress = Callable[[int, int], None]
Do = Callable[[int, Progress], LogReport]


def helpers() -> int:
    """How many helpers this machine has a processor for; 1 means none is worth its fork."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return 1
    return min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def may_fork() -> bool:
    """Whether the database can be reached from other processes, and sees what this one has written."""
    in_memory = connection.vendor == "sqlite" and connection.is_in_memory_db()  # type: ignore[attr-defined]
    return not in_memory and not connection.in_atomic_block


def in_order(
    count: int, do: Do, *, processes: int, on_progress: Callable[[int, int, int], None]
) -> Iterator[LogReport]:
    """Yields `do(n, progress)` for each n below `count`, in order, done by `processes` helpers.

    `on_progress(n, done, total)` is told of the log whose report is due next. What a lost helper was at is done here.
    """
    crew = _Crew(count, do, on_progress)
    try:
        crew.start(processes)
        yield from crew.reports()
    finally:
        crew.end()


class _Crew:
    """Helpers by the pipe that leads to them, what each is at, and the reports that came before their turn."""

    def __init__(self, count: int, do: Do, on_progress: Callable[[int, int, int], None]) -> None:
        self.count, self.do, self.on_progress = count, do, on_progress
        self.helpers: dict[Connection, Any] = {}
        self.todo = iter(range(count))
        self.busy: dict[Connection, int] = {}
        self.ready: dict[int, LogReport] = {}
        self.due = 0

    def start(self, processes: int) -> None:
        # a connection must not be shared, and what is buffered must not be written by each
        connections.close_all()
        sys.stdout.flush()
        sys.stderr.flush()
        fork = multiprocessing.get_context("fork")
        for _ in range(processes):
            ours, theirs = fork.Pipe()
            helper = fork.Process(target=_help, args=(theirs, [*self.helpers, ours], self.do), daemon=True)
            helper.start()
            theirs.close()
            self.helpers[ours] = helper

    def reports(self) -> Iterator[LogReport]:
        for pipe in self.helpers:
            self._give(pipe)
        while self.due < self.count:
            if self.busy:
                for ready in wait(list(self.busy)):
                    self._hear(cast(Connection, ready))
            else:  # every helper is lost
                self._do_here(next(self.todo))
            while self.due in self.ready:
                yield self.ready.pop(self.due)
                self.due += 1

    def end(self) -> None:
        for pipe, helper in self.helpers.items():
            helper.terminate()
            pipe.close()  # one that was not yet deaf to its parent's handlers hears of the end here
        for helper in self.helpers.values():
            helper.join()

    def _give(self, pipe: Connection) -> None:
        n = next(self.todo, None)
        if n is not None:
            self.busy[pipe] = n
            with suppress(OSError):  # a lost helper is found out when it is asked for its answer
                pipe.send(n)

    def _hear(self, pipe: Connection) -> None:
        try:
            said = pipe.recv()
        except (EOFError, OSError):
            self._do_here(self.busy.pop(pipe))
            return
        if isinstance(said, LogReport):
            self.ready[self.busy.pop(pipe)] = said
            self._give(pipe)
        elif self.busy[pipe] == self.due:
            self.on_progress(self.due, *said)

    def _do_here(self, n: int) -> None:
        self.ready[n] = self.do(n, lambda done, total: self.on_progress(n, done, total))


def _help(pipe: Connection, others: list[Connection], do: Do) -> None:
    """A helper's life: a number in, progress and a report out, until nobody listens."""
    gc.freeze()  # what came with the fork is not looked through again, so its pages stay shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer: he ends his helpers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:  # so that each pipe ends with the parent
        other.close()

    def tell(what: object) -> None:
        try:
            pipe.send(what)
        except OSError:  # the parent is gone: as if killed, with the last step whole
            os._exit(1)

    while True:
        try:
            n = pipe.recv()
        except (EOFError, OSError):
            os._exit(0)
        tell(do(n, lambda done, total: tell((done, total))))
