"""Measuring in pairs, and the rows of the table.

PERFORMANCE §7: interleave A B A B, compare pair by pair, at least five pairs, warm first, refuse to judge when the
pairs spread over more than 40 %. Absolute times mean little on shared machines, so only ratios are judged.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAIRS = 5
MORE_PAIRS = 4  # added once when the first five spread too much
MOST_SPREAD = 0.40


@dataclass(frozen=True)
class Pairs:
    """Seconds (or bytes) of ours and the peer's, pair by pair. `ratio` is the median of ours : peer."""

    ours: Sequence[float]
    peer: Sequence[float]

    @property
    def ratios(self) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.ours, self.peer, strict=True)]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def spread(self) -> float:
        """Range of the ratios over their median; of nine pairs the lowest and the highest are left out."""
        ordered = sorted(self.ratios)
        drop = (len(ordered) - PAIRS) // MORE_PAIRS
        kept = ordered[drop : len(ordered) - drop]
        return (kept[-1] - kept[0]) / self.ratio


@dataclass(frozen=True)
class Row:
    """One goal. `must` and `stretch` bound `ratio` from above, or from below when `at_least`. None = not measured.

    `ours` and `peer` are for reading only, with their units. `spread` is a share (0.4 = 40 %).
    """

    id: str
    what: str
    ours: str = ""
    peer: str = ""
    ratio: float | None = None
    must: float | None = None
    stretch: float | None = None
    at_least: bool = False
    spread: float | None = None
    note: str = ""
    all_met: bool = False

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return "not measured"
        if self.spread is not None and self.spread > MOST_SPREAD:
            return "noisy (every pair met)" if self.all_met else "noisy"
        if self.must is None:
            return "for information"
        if self.stretch is not None and _within(self.ratio, self.stretch, self.at_least):
            return "stretch met"
        return "met" if _within(self.ratio, self.must, self.at_least) else "MISSED"


def _within(value: float, bound: float, at_least: bool) -> bool:
    return value >= bound if at_least else value <= bound


def row(
    id: str,
    what: str,
    pairs: Pairs,
    *,
    must: float | None,
    stretch: float | None,
    faster: bool = False,
    scale: float = 1.0,
    unit: str = "s",
    note: str = "",
) -> Row:
    """A row from pairs. `faster`: the goal is peer : ours, at least. `scale` divides the ratio (growth goals)."""
    ratios = [(1 / ratio if faster else ratio) / scale for ratio in pairs.ratios]
    return Row(
        id=id,
        what=what,
        ours=amount(statistics.median(pairs.ours), unit),
        peer=amount(statistics.median(pairs.peer), unit),
        ratio=statistics.median(ratios),
        must=must,
        stretch=stretch,
        at_least=faster,
        spread=pairs.spread,
        note=note,
        all_met=must is not None and all(_within(ratio, must, faster) for ratio in ratios),
    )


def amount(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
    if unit == "megabyte":
        return f"{value:.0f} MB"
    return f"{value:,.0f} {unit}"


def interleaved(*sides: Callable[[], float], pairs: int = PAIRS, warm: int = 1) -> list[list[float]]:
    """Runs the sides in turn, `warm` rounds unmeasured; each side tells its own figure. Adds rounds once when noisy.

    The first side is ours in the sense of noise: a round is added when ours : any other spreads too much.
    """
    for _ in range(warm):
        for side in sides:
            side()
    figures: list[list[float]] = [[] for _ in sides]

    def rounds(count: int) -> None:
        for _ in range(count):
            for side, into in zip(sides, figures, strict=True):
                into.append(side())

    rounds(pairs)
    if pairs == PAIRS and any(Pairs(figures[0], other).spread > MOST_SPREAD for other in figures[1:]):
        rounds(MORE_PAIRS)
    return figures


def timed(call: Callable[[], object], repeat: int = 1) -> Callable[[], float]:
    """A side that takes the seconds of `call`, the least of `repeat` runs, with the collector off as timeit does."""

    def side() -> float:
        best = float("inf")
        gc.collect()
        was = gc.isenabled()
        gc.disable()
        try:
            for _ in range(repeat):
                start = time.perf_counter()
                call()
                best = min(best, time.perf_counter() - start)
        finally:
            if was:
                gc.enable()
        return best

    return side


@dataclass(frozen=True)
class Run:
    """A finished child process: wall and processor seconds including its start, peak resident bytes, what it printed."""

    seconds: float
    cpu: float
    peak: int
    output: str = field(repr=False)


class ChildFailedError(Exception):
    """A child process ended with an error; its last lines are the message."""


def child(
    arguments: Sequence[str], environment: Mapping[str, str], *, cwd: Path | None = None, timeout: float = 300
) -> Run:
    """Runs a program to its end, or kills it after `timeout` seconds. `peak` is the kernel's figure for it and its children.

    The kernel counts the parent's pages until exec, so the bench itself is kept small (corpora are made in children).
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        list(arguments),
        env=dict(environment),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    clock = threading.Timer(timeout, process.kill)
    clock.start()
    try:
        output = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        clock.cancel()
    seconds = time.perf_counter() - start
    process.returncode = code = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if code:
        late = f" (stopped after {timeout:.0f} s)" if seconds >= timeout else ""
        raise ChildFailedError(f"{arguments[0]} ended with {code}{late}: " + "\n".join(output.splitlines()[-15:]))
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)


def table(rows: Sequence[Row]) -> str:
    """The Markdown table."""
    lines = [
        "| id | what | ours | peer | ratio | must | stretch | spread | verdict | note |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for item in rows:
        sign = "≥" if item.at_least else "≤"
        cells = (
            item.id,
            item.what,
            item.ours,
            item.peer,
            "" if item.ratio is None else f"{item.ratio:.3g}×",
            "" if item.must is None else f"{sign} {item.must:g}",
            "" if item.stretch is None else f"{sign} {item.stretch:g}",
            "" if item.spread is None else f"{item.spread:.0%}",
            item.verdict,
            item.note,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)
