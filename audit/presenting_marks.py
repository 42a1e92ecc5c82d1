"""Text of a log as HTML with its marks: every fact a link with an icon, its text and a small word; long texts with gaps.

Log text is hostile: every piece is made visible (no escapes, no hidden controls) and escaped here; nothing else is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from django.templatetags.static import static
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import ngettext

from audit.core.excerpt import Piece, excerpt, segments
from audit.core.schema import ASSISTANT, STATEMENT_CLASSES
from audit.selectors_facts import MarkedFact
from audit.words import MARKS
from dshweb.text.lines import visible
from dshweb.ui.templatetags.dshweb import grouped

Place = tuple[int, int, int]  # start, end, position of the fact
_HEADING = re.compile(r"^#{1,6}[ \t].*$|^\*\*[^*\n]{1,80}\*\*:?$", re.MULTILINE)
# the icon and this much of the text stay on one line; a text of at most SHORT characters does whole
SHORT = 18
# what is shown of a summary; models write a tenth of it
SUMMARY_CHARS = 100_000
SUMMARY_MARKS = 1_000
SUMMARY_BLOCKS = 200
HEADINGS = 300  # each looks through the marks of its block
AROUND = 1_000
_HEAD = re.compile(r"[/.~\\]{0,3}(?:[A-Za-z0-9_]{1,14}|[^\s]{1,2})")
# of several facts on one piece of text the first of these is named; the others are still found by their keys
_WORST = (
    "altered", "stale", "consent", "unverified", "superseded", "lost", "missing", "scope_lost", "assistant", "unscored",
    "kept", "verified",
)  # fmt: skip
_RANK = {name: rank for rank, name in enumerate(_WORST)}
OPEN_STATES = frozenset(_WORST[:8])


def on_originals(fact: MarkedFact) -> str:
    """What the originals' side says of a fact."""
    return fact.fate or ("kept" if fact.claim == "verified" else fact.claim)


def on_summary(fact: MarkedFact) -> str:
    """What the summary's side says of it."""
    if fact.claim == "verified" and fact.sources and ASSISTANT.issuperset(fact.sources):
        return "assistant"
    return fact.claim or fact.fate


@dataclass
class Marker:
    """Draws the marks of one side. `facts` by position; `chosen` is the key of the selected fact; `link` is the address a
    mark leads to, up to the key. The first mark of a fact gets the id its pair leads to.
    """

    facts: Mapping[int, MarkedFact]
    side: str  # "l" originals, "s" summary
    chosen: frozenset[str] = frozenset()
    link: str = ""
    named: set[str] = field(default_factory=set)

    def state(self, fact: MarkedFact) -> str:
        return on_originals(fact) if self.side == "l" else on_summary(fact)

    def html(self, text: str, places: Sequence[Place], start: int, end: int) -> SafeString:
        """[start, end) of `text` with its marks."""
        facts = self.facts
        spans = [(a, b, facts[n]) for a, b, n in places if a < end and b > start and n in facts]
        outer = [span for span in spans if self._is_line(span[2])]
        inner = [span for span in spans if not self._is_line(span[2])]
        parts = []
        for piece in segments(outer, start, end):
            if not piece.items:
                parts.append(self._facts(text, inner, piece))
            else:
                parts.append(self._statement(text, inner, piece))
        return mark_safe("".join(parts))  # noqa: S308 - every part is escaped

    def _is_line(self, fact: MarkedFact) -> bool:
        """Whether a mark is a line somebody said, with facts in it. Of a correction the summary holds the old value only."""
        return fact.cls in STATEMENT_CLASSES and (self.side == "l" or bool(fact.claim))

    def _facts(self, text: str, spans: Sequence[tuple[int, int, MarkedFact]], within: Piece[MarkedFact]) -> str:
        return "".join(
            self._mark(text[piece.start : piece.end], piece.items)
            if piece.items
            else shown(text[piece.start : piece.end])
            for piece in segments(spans, within.start, within.end)
        )

    def _statement(self, text: str, spans: Sequence[tuple[int, int, MarkedFact]], piece: Piece[MarkedFact]) -> str:
        """A line somebody said, around the facts in it: its own link stands at the end."""
        first, state, attributes = self._attributes(piece.items)
        words, name, _tone = MARKS[state]
        return format_html(
            '<span class="said f-{}"{}>{}<a class="said-a" href="{}{}">{}<span class="f-l">{}</span></a></span>',
            state, attributes, mark_safe(self._facts(text, spans, piece)), self.link, first.key, _icon(name), words,  # noqa: S308
        )  # fmt: skip

    def _mark(self, text: str, facts: Sequence[MarkedFact]) -> str:
        first, state, attributes = self._attributes(facts)
        words, name, _tone = MARKS[state]
        head = _HEAD.match(text)
        at = len(text) if len(text) <= SHORT and "\n" not in text else head.end() if head else 0
        return format_html(
            '<a class="fact f-{}"{} href="{}{}"><span class="f-n">{}<span class="f-t">{}</span></span>'
            '<span class="f-t">{}</span><span class="f-l">{}</span></a>',
            state, attributes, self.link, first.key, _icon(name), shown(text[:at]), shown(text[at:]), words,
        )  # fmt: skip

    def _attributes(self, facts: Sequence[MarkedFact]) -> tuple[MarkedFact, str, SafeString]:
        ordered = sorted(facts, key=lambda fact: _RANK.get(self.state(fact), 99))
        first = ordered[0]
        keys = " ".join(fact.key for fact in ordered)
        on = mark_safe(' data-on=""') if not self.chosen.isdisjoint(keys.split()) else ""
        name = ""
        if first.key not in self.named:
            self.named.add(first.key)
            name = format_html(' id="{}-{}"', self.side, first.key)
        state = self.state(first)
        return first, state if state in MARKS else "unscored", format_html(' data-fact="{}"{}{}', keys, name, on)


def shown(text: str) -> SafeString:
    return escape(visible(text))


@cache
def _icon(name: str) -> SafeString:
    return format_html(
        '<svg class="i" aria-hidden="true"><use href="{}#{}"></use></svg>', static("img/icons.svg"), name
    )


def cut(marker: Marker, text: str, places: Sequence[Place], *, first: int, more: int, address: str) -> SafeString:
    """HTML of a block of a leaf that begins `first` characters into the leaf's text; `more` characters follow that are not stored.

    Gaps are links that load what they leave out: `address` plus `?from=…&to=…`, places in the leaf's whole text.
    """
    here = [(a - first, b - first, n) for a, b, n in places if a < first + len(text) and b > first]
    asked = [(a, b) for a, b, n in here if n in marker.facts and marker.facts[n].key in marker.chosen]
    worst_first = sorted(here, key=lambda place: (_RANK.get(_state(marker, place[2]), 99), place[0]))
    intervals = excerpt(text, [(a, b) for a, b, _n in worst_first], wanted=asked)
    parts = []
    for one in intervals:
        if one.shown:
            parts.append(marker.html(text, here, one.start, one.end))
        else:
            count = sum(1 for a, _b, _n in here if one.start <= a < one.end)
            parts.append(gap(address, first + one.start, first + one.end, text.count("\n", one.start, one.end), count))
    if more > 0:
        parts.append(gap(address, first + len(text), first + len(text) + more, None, 0))
    return mark_safe("".join(parts))  # noqa: S308 - made of escaped parts


def _state(marker: Marker, position: int) -> str:
    fact = marker.facts.get(position)
    return "" if fact is None else marker.state(fact)


def gap(address: str, start: int, end: int, lines: int | None, marks: int) -> SafeString:
    """A link in place of what is left out."""
    if lines:
        words = ngettext("%(n)s line", "%(n)s lines", lines) % {"n": grouped(lines)}
    else:
        words = ngettext("%(n)s character", "%(n)s characters", end - start) % {"n": grouped(end - start)}
    if marks:
        words += " · " + ngettext("%(n)s mark", "%(n)s marks", marks) % {"n": grouped(marks)}
    return format_html('<a class="hole" href="{}?from={}&amp;to={}">… {} …</a>', address, start, end, words)


def summary_html(
    marker: Marker,
    blocks: Sequence[str],
    places: Mapping[int, Sequence[Place]],
    *,
    whole: bool = False,
    address: str = "",
) -> list[SafeString]:
    """The blocks of the summary, all of it as models write them; lines that are headings are set as such, as written.

    Of one that is larger than any model's, its beginning and the chosen fact, around gaps that lead to `address`; `whole`:
    ten times as much.
    """
    chars, marks = (10 * SUMMARY_CHARS, 10 * SUMMARY_MARKS) if whole else (SUMMARY_CHARS, SUMMARY_MARKS)
    found: list[SafeString] = []
    for number, text in enumerate(blocks):
        if number == SUMMARY_BLOCKS:
            found.append(mark_safe(_left_out(sum(map(len, blocks[number:])), address)))  # noqa: S308 - escaped
            break
        here = places.get(number, ())
        end = _fitting(text, here, chars, marks)
        chars, marks = chars - end, marks - sum(1 for start, _end, _n in here if start < end)
        chosen = next(
            ((a, b) for a, b, n in here if b > end and n in marker.facts and marker.facts[n].key in marker.chosen), None
        )
        parts = [_headed(marker, text, here, 0, end)]
        if chosen is not None:
            first, last = max(end, chosen[0] - AROUND), min(len(text), max(chosen[1], chosen[0] + AROUND))
            near = [place for place in here if chosen[0] - AROUND <= place[0] <= chosen[0] + AROUND]
            parts += [_left_out(first - end, address), marker.html(text, near, first, min(last, first + 4 * AROUND))]
            end = min(last, first + 4 * AROUND)
        parts.append(_left_out(len(text) - end, address))
        found.append(mark_safe("".join(parts) if text.strip() else ""))  # noqa: S308 - made of escaped parts
    return found


def _fitting(text: str, places: Sequence[Place], chars: int, marks: int) -> int:
    """How much of a block is shown at first: so many characters, and no more marks than `marks`."""
    end = len(text) if len(text) <= chars else max(0, chars)
    starts = sorted(place[0] for place in places)
    return min(end, starts[max(0, marks)]) if len(starts) > max(0, marks) else end


def _headed(marker: Marker, text: str, places: Sequence[Place], start: int, end: int) -> str:
    parts: list[str] = []
    at = start
    places = [place for place in places if place[0] < end]
    for found in islice(_HEADING.finditer(text, start, end), HEADINGS):
        parts.append(marker.html(text, places, at, found.start()))
        parts.append(format_html('<b class="sec">{}</b>', marker.html(text, places, found.start(), found.end())))
        at = found.end()
    parts.append(marker.html(text, places, at, end))
    return "".join(parts)


def _left_out(count: int, address: str) -> str:
    if count <= 0:
        return ""
    words = ngettext("%(n)s character", "%(n)s characters", count) % {"n": grouped(count)}
    if not address:
        return format_html('<span class="hole">… {} …</span>', words)
    return format_html('<a class="hole" href="{}">… {} …</a>', address, words)
