"""Whether a summary kept a correction, and which old values it replaced.

Rule: COMPACTION-AUDIT §4 and rows 102–104; AUDIT-REFINEMENTS §2.5: `new` present → kept; old present and new absent →
stale; else lost. `批大小改成 500 行`: the old values are the numbers of that unit in earlier clauses with `批大小`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from audit.core.facts import Fact, extract
from audit.core.statements.clauses import clause_end, clause_start
from audit.core.statements.lookup import Text
from audit.core.statements.model import MAX_TEXT, Correction, Kept
from audit.core.statements.sentences import has_han
from audit.core.statements.values import reduce_term

_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:\.\d+)*(?![\w:/%-])(?!\.\d)", re.ASCII)
_SENTENCE_END = re.compile(r"[。！？]|[.!?](?=\s|$)")
_MAX_HITS = 50
# `交稿日期` names the kind of the value too; people say `9 月 18 日交稿`.
_KIND_OF_VALUE = re.compile(r"(?:日期|时间|时刻|数量|大小|数值|地址|编号|版本号|版本|名称|上限|下限|阈值)$")


def resolve_old_values(correction: Correction, earlier_texts: Iterable[str]) -> Correction:
    """The correction with `old_values` filled from earlier human and assistant texts, oldest first.

    `old` and `canon` take the latest of them. A correction that names its old value, or has no attribute to look for,
    comes back as it is.
    """
    attribute = correction.attribute
    if correction.new is None or correction.old is not None or not attribute or len(attribute) < 2:
        return correction
    name = attribute.casefold()
    if not has_han(name):
        name = name.rsplit(" ", 2)[-1] if len(name.split()) > 3 else name
    texts = tuple(text[:MAX_TEXT] for text in earlier_texts)
    values = _values(name, correction.new, texts)
    core = _KIND_OF_VALUE.sub("", name)
    if not values and core != name and len(core) > 1:
        values = _values(core, correction.new, texts)
    if not values:
        return correction
    old = values[-1]
    return replace(correction, old=old, canon=f"{old}→{correction.new}", old_values=tuple(values))


def _values(name: str, new: str, texts: Iterable[str]) -> list[str]:
    """Values like `new` beside a name, without repeats, oldest first."""
    values: list[str] = []
    for text in texts:
        for places in _clauses_with(name, text):
            value = next((value for place in places if (value := _like(new, place)) is not None), None)
            if value is not None and value.casefold() != new.casefold() and value not in values:
                values.append(value)
    return values


def _clauses_with(name: str, text: str) -> list[tuple[str, ...]]:
    """Where a value of the name may stand, best first: behind it in its clause; when it ends its own (`9 月 18 日交稿`),
    before it, then in the next clause."""
    found: list[tuple[str, ...]] = []
    folded = text.casefold()
    if len(folded) != len(text):  # rare letters change their length when folded; offsets would not fit
        folded = text.lower() if len(text.lower()) == len(text) else text
    at = folded.find(name)
    while at >= 0 and len(found) < _MAX_HITS:
        end_of_line = text.find("\n", at)
        line_end = len(text) if end_of_line < 0 else end_of_line
        line = text[max(0, at - 200, text.rfind("\n", max(0, at - 200), at) + 1) : min(line_end, at + 200)]
        here = line.casefold().find(name)
        if here >= 0:
            end = clause_end(line, here + len(name))
            stop = _SENTENCE_END.search(line, here + len(name), end)
            end = stop.start() if stop else end
            behind, before = line[here + len(name) : end], line[clause_start(line, here) : here]
            if not behind.strip(" =") and end < len(line):
                found.append((behind, before, line[end + 1 : clause_end(line, end + 1)]))
            else:
                found.append((behind or before,))
        at = folded.find(name, at + len(name))
    return found


def _like(new: str, clause: str) -> str | None:
    """The first value of a clause that is of the same kind (for an amount: the same unit) as `new`."""
    wanted = extract(new)
    if wanted:
        unit = _unit(wanted[0])
        for fact in extract(clause):
            if fact.cls == wanted[0].cls and (fact.cls != "number_unit" or _unit(fact) == unit):
                return clause[fact.start : fact.end]
        return None
    if re.fullmatch(r"\d+(?:\.\d+)*", new):
        taken = [(f.start, f.end) for f in extract(clause) if f.cls != "port"]
        for m in _NUMBER.finditer(clause):
            if not any(s < m.end() and m.start() < e for s, e in taken):
                return m.group()
        return None
    value = reduce_term(clause, last=False)
    return value.text if value is not None and value.kind == "identifier" and not value.rest else None


def _unit(fact: Fact) -> str:
    return fact.canon.rpartition(" ")[2] if fact.cls == "number_unit" else ""


def correction_scorable(correction: Correction, summary_texts: Sequence[str]) -> bool:
    """False when the correction cannot be looked for literally in this summary.

    That is: only a cue was found; or the looked-for term is plain Han words and the summary has no Han (native
    summaries are English), or plain English words and the summary is Chinese.
    """
    term = correction.new or correction.old
    if not correction.scored or term is None:
        return False
    value = reduce_term(term, last=False)
    if value is not None and value.kind != "words":
        return True
    summary_han = any(has_han(text) for text in summary_texts)
    return summary_han if has_han(term) else True


@lru_cache(maxsize=8)
def _text(text: str) -> Text:
    """A block of a summary, kept as all corrections ask for it."""
    return Text(text[:MAX_TEXT])


def correction_kept(correction: Correction, summary_texts: Sequence[str]) -> Kept:
    """`kept`, `stale` (old value present, new absent) or `lost`.

    Corrections that are not scorable count as kept; ask `correction_scorable` to list them as unscored instead.
    """
    if not correction_scorable(correction, summary_texts):
        return "kept"
    texts = [_text(text) for text in summary_texts]
    if correction.new is not None:
        if any(text.holds(correction.new) for text in texts):
            return "kept"
        olds = dict.fromkeys([*([correction.old] if correction.old else []), *correction.old_values])
        return "stale" if any(text.holds(old) for old in olds for text in texts) else "lost"
    return "kept" if correction.old is not None and any(text.holds(correction.old) for text in texts) else "lost"
