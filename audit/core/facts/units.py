"""The closed list of units and counted nouns, English and Chinese, and what each is folded to (COMPACTION-AUDIT §4,
AUDIT-REFINEMENTS §2.3). Values are never converted; only spellings are."""

from __future__ import annotations

import re

from audit.core.facts.chars import words
from audit.core.facts.unit_tables import MEASURES, NEEDS_CLASSIFIER, NOUNS, ZH_COUNTERS, ZH_MEASURES, ZH_NOUNS

# Canons that count things; a generic counter of the same number equals each of them.
GENERIC = words("个 条 项 份 台 人 段 期 time 张 篇 笔 家 户 套 名 位")

_MEASURES = dict(row.split(": ") for row in MEASURES.strip().split("\n"))
_NOUN_CANON = {"char": ("char", "character"), "页": ("page",), "步": ("step",), "轮": ("round",), "人": ("person",)}
_IRREGULAR = {"person": "people", "replica": "replicas", "index": "indexes"}
_ZH_NOUNS = dict(row.split(": ") for row in ZH_NOUNS.strip().split("\n"))
_NEEDS_CLASSIFIER = words(NEEDS_CLASSIFIER)

WORDS: dict[str, tuple[str, bool]] = {}  # lower-case word -> (canon, may stand behind any number)
COUNTED: set[str] = set()
for _canon, _spellings in _MEASURES.items():
    for _w in _spellings.split():
        WORDS[_w] = (_canon, True)


def _noun(canon: str, singular: str) -> None:
    plural = _IRREGULAR.get(singular) or (
        singular[:-1] + "ies" if singular.endswith("y") and singular[-2] not in "aeiou" else
        singular + ("es" if singular.endswith(("s", "sh", "ch", "x")) else "s")
    )  # fmt: skip
    COUNTED.add(canon)
    WORDS[plural] = (canon, True)
    WORDS.setdefault(singular, (canon, False))


for _n in NOUNS.split():
    _noun(_n, _n)
for _canon, _singulars in _NOUN_CANON.items():
    for _n in _singulars:
        _noun(_canon, _n)
WORDS |= {
    "tok": ("token", True),
    "toks": ("token", True),
    "reqs": ("request", True),
    "chars": ("char", True),
    "char": ("char", False),
}
COUNTED |= GENERIC | set(_ZH_NOUNS)


def _rows(table: str, columns: int) -> list[list[str]]:
    """The rows of a text table, short ones filled up with empty cells."""
    rows = [row.split(" ") for row in table.strip().split("\n")]
    return [row + [""] * (columns - len(row)) for row in rows]


_ZH_MEASURES = _rows(ZH_MEASURES, 3)
_ZH_GENERIC = _rows(ZH_COUNTERS, 2)

CLASSIFIER = "[个条项台份张名位次笔封套道]"
_zh_noun_map = {w: c for c, ws in _ZH_NOUNS.items() for w in ws.split()}
_by_length = sorted(_zh_noun_map, key=lambda w: (-len(w), w))
_direct = [w for w in _by_length if w not in _NEEDS_CLASSIFIER and w not in ("行", "字节", "字符", "核")]
_measures = sorted(_ZH_MEASURES, key=lambda r: (-len(r[0]), r[0]))

_NOT_AFTER = {"表": "示格达面", "文件": "夹", "包": "括含", "核": "对查实", "点": "击开"}
ZH_CANON: dict[str, str] = {}


def _alternatives() -> str:
    parts = []
    for spelling, canon, never in (r for r in _measures if len(r[0]) > 1):
        ZH_CANON[spelling] = canon
        parts.append(spelling + (f"(?![{never}])" if never else ""))
    nouns = "|".join(w + (f"(?![{_NOT_AFTER[w]}])" if w in _NOT_AFTER else "") for w in _by_length)
    parts.append(f"{CLASSIFIER} ?(?P<noun>{nouns})")
    parts.append(f"(?P<direct>{'|'.join(_direct)})(?![夹数率])")
    for spelling, canon, never in (r for r in _measures if len(r[0]) == 1):
        ZH_CANON[spelling] = canon
        parts.append(spelling + (f"(?![{never}])" if never else ""))
    for spelling, never in _ZH_GENERIC:
        ZH_CANON[spelling] = spelling
        parts.append(spelling + (f"(?![{never}])" if never else ""))
    return "|".join(parts)


ZH_UNIT = re.compile(f"(?:{_alternatives()})")
ZH_FIRST = (
    frozenset(m[0][0] for m in _ZH_MEASURES)
    | frozenset(w[0] for w in _by_length)
    | frozenset(g[0] for g in _ZH_GENERIC)
)
ZH_FIRST |= frozenset("封千万亿百")


def zh_nouns() -> dict[str, str]:
    """Chinese counted nouns and their canons."""
    return _zh_noun_map


def zh_canon(m: re.Match[str]) -> str:
    """Canon of a match of ZH_UNIT."""
    noun = m.group("noun") or m.group("direct")
    return _zh_noun_map[noun] if noun else ZH_CANON[m.group()]
