"""Where things of the budget chart stand: shares of a whole as percentages, so that text keeps its size at every width.

Pure arithmetic on whole numbers up to 2^53; the widths of a bar sum to the whole and none is negative, whatever the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dshweb.ui.templatetags.dshweb import GAP, grouped

LANE: Final = 18
"""Height of one line of words, in px."""
_NARROW: Final = 250
"""Width of the chart on a page of 320 px."""
_WIDE: Final = 640
"""Width from which the chart counts as wide, as in budget.css."""
_STEPS: Final = (1, 2, 2.5, 5, 10)
_BRIEF_FROM: Final = 100_000_000


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar: `x` and `width` in percent of the whole."""

    kind: str
    tokens: int
    x: float
    width: float
    label: str = ""

    @property
    def left(self) -> str:
        return percent(self.x)

    @property
    def across(self) -> str:
        return percent(self.width)

    @property
    def middle(self) -> str:
        return percent(self.x + self.width / 2)

    @property
    def fits(self) -> str:
        """Where its label has room inside: "always", "wide" (a wide page only), or "" (nowhere)."""
        room = self.width / 100
        need = _breadth(self.label)
        return "always" if need <= room * _NARROW else "wide" if need <= room * _WIDE else ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the bar with words. `lane` 0 is the one next to the bar; `anchor`: the side its words are on."""

    kind: str
    tokens: int
    x: float
    label: str
    anchor: Literal["start", "end"]
    lane: int

    @property
    def left(self) -> str:
        return percent(self.x)

    @property
    def nudge(self) -> int:
        """How far the words stand from the line, in px."""
        return 6 if self.anchor == "start" else -6


@dataclass(frozen=True, slots=True)
class Tick:
    """A number of the axis. `fine`: left out on a narrow page."""

    x: float
    label: str
    anchor: Literal["start", "middle", "end"]
    fine: bool

    @property
    def left(self) -> str:
        return percent(self.x)


def _breadth(words: str) -> float:
    """About how broad words are at 12 px, with a little air."""
    return 12 + sum(12 if ord(char) > 0x2E80 else 6.7 for char in words)


def percent(value: float) -> str:
    """As an SVG attribute; never in a language's own notation."""
    return f"{value:.4f}%"


def place(tokens: int, whole: int) -> float:
    """Where `tokens` stand on a bar of `whole`, 0 to 100."""
    return round(min(100.0, max(0.0, 100 * tokens / whole)), 4)


def partition(parts: Iterable[tuple[str, int, str]], whole: int) -> tuple[Segment, ...]:
    """Parts (kind, tokens, label) side by side from 0 on; empty ones are left out. They must not exceed `whole`."""
    made, at = [], 0
    for kind, tokens, label in parts:
        if tokens > 0:
            left, right = place(at, whole), place(at + tokens, whole)
            made.append(Segment(kind, tokens, left, right - left, label))
            at += tokens
    return tuple(made)


def lanes(marks: Sequence[tuple[str, int, str]], whole: int) -> tuple[Mark, ...]:
    """Marks (kind, tokens, label), each with a lane of its own: the nearer to the middle, the lower.

    Words stand on the side with more room, so that no line of a higher mark runs through them on its own side.
    """
    placed = sorted(
        ((place(tokens, whole), kind, tokens, label) for kind, tokens, label in marks), key=lambda one: abs(one[0] - 50)
    )
    return tuple(
        Mark(kind, tokens, x, label, "start" if x < 50 else "end", lane) for lane, (x, kind, tokens, label) in enumerate(placed)
    )  # fmt: skip


def ticks(whole: int, zero: str) -> tuple[Tick, ...]:
    """0 (as `zero`, with its unit), round numbers, and the whole."""
    found = [Tick(0, zero, "start", fine=False)]
    step = _step(whole)
    at, middle = step, False
    while at < whole:
        x = place(at, whole)
        if 12 <= x <= 82:
            coarse = not middle and 35 <= x <= 60
            middle = middle or coarse
            found.append(Tick(x, brief(at), "middle", fine=not coarse))
        at += step
    return (*found, Tick(100, brief(whole), "end", fine=False))


def _step(whole: int) -> int:
    """A round number that fits at most five times."""
    base = 10 ** max(0, len(str(whole)) - 2)
    return max(1, next((int(base * one) for one in (*_STEPS, 20, 25, 50) if base * one * 5 >= whole), whole))


def brief(tokens: int) -> str:
    """A number that has to be short: exact below 100 000 000, else in millions, thousand millions, or million millions."""
    if tokens < _BRIEF_FROM:
        return str(grouped(tokens))
    unit, power = next((name, power) for name, power in (("T", 12), ("G", 9), ("M", 6)) if tokens >= 10 ** (power + 2))
    tenths = tokens // 10 ** (power - 1)
    return f"{grouped(tenths // 10)}.{tenths % 10}{GAP}{unit}"
