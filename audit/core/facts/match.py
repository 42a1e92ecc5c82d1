"""Does a fact occur in a text (COMPACTION-AUDIT §6), and the fast search in big texts (AUDIT-REFINEMENTS §2.8)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator

from audit.core.facts.chars import is_delim, is_han
from audit.core.facts.extract import extract
from audit.core.facts.model import EXTENDED_CLASSES, PATH_CLASSES, Fact
from audit.core.facts.prepare import Prepared, fold
from audit.core.facts.same import comparable, same

MAX_LINES = 300  # lines of one text that are extracted for one fact
MAX_TRIES = 5000  # places of a needle that are looked at for one fact
_REACH = 1000  # code points on each side of a hit in a very long line
_CUT_UUID = re.compile(r"-[0-9a-fA-F]{4}")
_TRIM = ".,;:!?)]}~_"
_UNIT_START = re.compile(r"(?:\.0+(?![0-9]))?(?:[ \u00a0\u202f]?[A-Za-z%µ°℃℉\u3400-\u9fff]|-[A-Za-z])")
_FOLDED = frozenset(("uuid", "hex_hash", "ip", "ticket"))

_Edges = Callable[[str, int, int, Fact], bool]


class Haystack:
    """One text searched for many facts: keeps its prepared and lower-case forms and the lines already extracted.

    Keep one per leaf block and reuse it for every compaction that has the block as a leaf.
    """

    __slots__ = ("_breaks", "_lines", "_lower", "folded", "text")

    def __init__(self, text: str) -> None:
        self.text = Prepared(text).text
        self.folded = fold(self.text)
        self._lower: str | None = None
        self._breaks: list[int] | None = None
        self._lines: dict[tuple[int, int], list[Fact]] = {}

    @property
    def lower(self) -> str:
        """The folded text in lower case, made once."""
        if self._lower is None:
            lower = self.folded.lower()
            if len(lower) != len(self.folded):  # offsets must hold; `İ` becomes two code points
                lower = "".join(low if len(low := c.lower()) == 1 else c for c in self.folded)
            self._lower = lower
        return self._lower

    def line_span(self, at: int, end: int) -> tuple[int, int]:
        """The line around at..end, or a window of it when the line is very long."""
        if self._breaks is None:
            self._breaks = [m.start() for m in re.finditer("\n", self.text)]
        i = bisect_right(self._breaks, at)
        first = self._breaks[i - 1] + 1 if i else 0
        last = self._breaks[i] if i < len(self._breaks) else len(self.text)
        if last - first > 2 * _REACH:
            # Windows lie on a grid so that neighbouring hits share one.
            first = max(first, (at // _REACH) * _REACH - _REACH)
            last = min(last, max(first + 3 * _REACH, end + _REACH))
        return first, last

    def facts(self, span: tuple[int, int]) -> list[Fact]:
        """The facts of a line (offsets within it), extracted once."""
        found = self._lines.get(span)
        if found is None:
            found = self._lines[span] = extract(self.text[span[0] : span[1]])
        return found


def needle(fact: Fact) -> str:
    """The plain substring that every folded text with this fact contains: id, last segment, last three digits.

    Case is as written; `uuid`, `hex_hash`, `ip`, `ticket` and Windows paths have to be looked for without case.
    """
    if fact.cls in PATH_CLASSES:
        return comparable(fact).rpartition("/")[2]
    if fact.cls == "number_unit":
        whole, dot, fraction = _digits(fact).partition(".")
        return whole[-3:] + dot + fraction
    if fact.cls == "datetime":
        return fact.canon[-2:]
    return fact.canon


def word(fact: Fact) -> str:
    """The needle as `Haystack.lower` spells it; "" when it holds more than ASCII, which case and width may spell otherwise."""
    found = fold(needle(fact)).lower()
    return found if found.isascii() else ""


def probe(fact: Fact) -> str:
    """An ASCII string that `Haystack.lower` of every text with this fact contains; "" when there is none to go by.

    Looking for it first is one search where `occurs_in` needs up to three.
    """
    found = word(fact)
    spelled = (fact.text, fact.canon) if fact.cls in PATH_CLASSES else ()
    return found if all(found in fold(text).lower() for text in spelled) else ""


def last_digits(fact: Fact) -> str:
    """What every text has that states a number of 3 digits or more without its unit (`bare_number`); "" for others."""
    digits = _digits(fact)
    return digits[-3:] if fact.cls == "number_unit" and len(digits.replace(".", "")) > 2 else ""


def _digits(fact: Fact) -> str:
    m = re.match(r"[0-9]+(?:\.[0-9]+)?", fact.canon.lstrip("-"))
    return m.group() if m else ""


def occurs(fact: Fact, text: str | Haystack, present: Collection[Fact] | None = None) -> bool:
    """True when `fact` stands in `text`; `present` are the facts of that text when the caller has them.

    UUIDs and numbers compare by canon. Paths also by literal bounded occurrence, relative ones as a suffix of a longer
    path. Extended classes also by literal bounded occurrence of the canon.
    """
    if present is None:
        present = extract(text.text if isinstance(text, Haystack) else text)
    if any(covers(p, fact) for p in present):
        return True
    if fact.cls in ("uuid", "number_unit"):
        return False
    return _literal(fact, text if isinstance(text, Haystack) else Haystack(text))


def occurs_in(fact: Fact, text: str | Haystack) -> bool:
    """`occurs` for big texts: a literal look first, then facts of the lines that hold the needle (at most MAX_LINES)."""
    hay = text if isinstance(text, Haystack) else Haystack(text)
    if fact.cls not in ("uuid", "number_unit") and _literal(fact, hay):
        return True
    seen: set[tuple[int, int]] = set()
    for at, end in _hits(fact, hay):
        span = hay.line_span(at, end)
        if span in seen:
            continue
        if any(covers(p, fact) for p in hay.facts(span)):
            return True
        seen.add(span)
        if len(seen) >= MAX_LINES:
            break
    return False


def _hits(fact: Fact, hay: Haystack) -> Iterator[tuple[int, int]]:
    word = needle(fact)
    if not word:
        return
    no_case = fact.cls in _FOLDED or (
        fact.cls in PATH_CLASSES and "\\" in (fact.canon if fact.cls == "abs_path" else hay.text)
    )
    if no_case:
        text, word = hay.lower, fold(word).lower()
    else:
        text = hay.text if fact.cls in PATH_CLASSES else hay.folded  # paths are not folded
    is_number = fact.cls == "number_unit"
    at = text.find(word)
    for _ in range(MAX_TRIES):
        if at < 0:
            return
        end = at + len(word)
        if not is_number or _number_at(text, at, end):
            yield at, end
        at = text.find(word, at + 1)


def _number_at(text: str, at: int, end: int) -> bool:
    """The digits end here (but for zeros behind a point) and something like a unit follows, or money stands in front."""
    if text[end : end + 1].isdigit() and "." not in text[at:end]:
        return False
    if "." in text[at:end]:
        while text[end : end + 1] == "0":
            end += 1
    return _UNIT_START.match(text, end) is not None or any(c in "$€£¥￥DYBRP" for c in text[max(0, at - 12) : at])


def covers(present: Fact, fact: Fact) -> bool:
    """True when a fact of a text says `fact` too: the same, or a longer path that ends in it, or a fuller date."""
    if same(present, fact):
        return True
    if fact.cls == "file_path" and present.cls in PATH_CLASSES:
        longer, shorter = comparable(present), comparable(fact)
        if "\\" in present.canon:
            shorter = shorter.casefold()
        if longer == shorter or longer.endswith("/" + shorter):
            return True
        # Prose glues Han to a Han file name: `请看汇总表.xlsx` names `汇总表.xlsx`.
        glued = "/" not in shorter + longer and len(longer) > 4 and is_han(longer[0]) and is_han(shorter[0])
        return glued and (shorter.endswith(longer) or longer.endswith(shorter))
    if fact.cls == "datetime" and present.cls == "datetime":
        return _same_moment(present.canon, fact.canon)
    return False


def _same_moment(full: str, part: str) -> bool:
    """`part` is the date, the time, or the minute of `full`."""
    date, _, clock = full.rpartition(" ") if " " in full else (full, "", "") if "-" in full else ("", "", full)
    part_date, _, part_clock = (
        part.rpartition(" ") if " " in part else (part, "", "") if "-" in part else ("", "", part)
    )
    if part_date and part_date != date and not (len(part_date) == 5 and date.endswith(part_date)):
        return False
    return not part_clock or clock == part_clock or clock.startswith(part_clock + ":") or clock == part_clock + ":00"


def _literal(fact: Fact, hay: Haystack) -> bool:
    """The raw spelling (or canon) stands in the text with nothing glued to it."""
    if fact.cls in PATH_CLASSES:
        return any(_bounded(hay.text, spelling, _path_edges, fact) for spelling in {fact.text, fact.canon})
    if fact.cls not in EXTENDED_CLASSES or fact.cls == "datetime":
        return False
    return _bounded(hay.lower, fact.canon.lower(), _id_edges, fact)


def _bounded(text: str, word: str, edges: _Edges, fact: Fact) -> bool:
    if not word:
        return False
    at = text.find(word)
    for _ in range(MAX_TRIES):
        if at < 0:
            return False
        if edges(text, at, at + len(word), fact):
            return True
        at = text.find(word, at + 1)
    return False


def _path_edges(text: str, start: int, end: int, fact: Fact) -> bool:
    if start:
        c = text[start - 1]
        separator = c in "/\\" and fact.cls == "file_path"
        glued_han = is_han(c) and is_han(fact.text[0])
        if not (separator or glued_han or is_delim(c) or c in "=([{"):
            return False
    while end < len(text) and text[end] in _TRIM and end < start + len(fact.text) + 4:
        end += 1
    return end >= len(text) or is_delim(text[end]) or text[end] in "/\\"


def _id_edges(text: str, start: int, end: int, fact: Fact) -> bool:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    following = text[end + 1 : end + 2]
    if fact.cls == "version" and before == "v":
        before = text[start - 2] if start > 1 else " "
    if _letter(before) or _letter(after):
        return False
    if fact.cls in ("version", "ip", "port"):
        if before == "." or (after in ".-" and following.isdigit() and following.isascii()):
            return False
        if after == "." and following.isalpha() and following.isascii():
            return False
    if fact.cls == "ticket" and (before == "-" or (after == "-" and following.isalnum())):
        return False
    return not (
        fact.cls == "hex_hash"
        and (_CUT_UUID.match(text, end) or (before == "-" and start > 5 and text[start - 6] == "-"))
    )


def _letter(c: str) -> bool:
    return (c.isalnum() and not is_han(c)) or c == "_"


def bare_number(fact: Fact, text: str | Haystack) -> bool:
    """True when a counted fact's number of 3 or more digits stands in `text` without a unit (AUDIT-REFINEMENTS §2.6)."""
    digits = _digits(fact)
    if fact.cls != "number_unit" or len(digits.replace(".", "")) < 3:
        return False
    text = text.folded if isinstance(text, Haystack) else fold(text)
    at = text.find(digits[-3:])
    for _ in range(MAX_TRIES):
        if at < 0:
            return False
        start, end = at, at + 3
        while start and (
            text[start - 1] in "0123456789." or (text[start - 1] == "," and text[start - 2 : start - 1].isdigit())
        ):
            start -= 1
            if at - start > 40:
                break
        found = text[start:end].replace(",", "")
        if found == digits and not (start and _letter(text[start - 1])) and not _goes_on(text, end):
            return True
        at = text.find(digits[-3:], at + 1)
    return False


def _goes_on(text: str, end: int) -> bool:
    c, following = text[end : end + 1], text[end + 1 : end + 2]
    return _letter(c) if c and c not in ".," else bool(c) and following.isdigit()
