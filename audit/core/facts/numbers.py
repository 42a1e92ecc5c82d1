"""Numbers with a unit (COMPACTION-AUDIT §4 number_unit, AUDIT-REFINEMENTS §2.3). Formatting is folded, values are not.

One scan walks over the digits; a table look-up decides whether a unit follows. Nothing is read twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.core.facts.chars import is_han
from audit.core.facts.model import Fact
from audit.core.facts.reach import Reach
from audit.core.facts.units import CLASSIFIER, COUNTED, WORDS, ZH_FIRST, ZH_UNIT, zh_canon

_SPACES = " \u00a0\u202f"
_NUMBER = r"[0-9]++(?:,[0-9]{3}(?![0-9]))*+(?:\.[0-9]++)?+"
_UNIT_AHEAD = rf"[{_SPACES}]?+[A-Za-z%µ°℃℉{''.join(sorted(ZH_FIRST))}]|-[A-Za-zµ°℃℉%]{{3}}"
_MONEY_BEFORE = "|".join(
    f"(?<={c}{s})" for c in ("[$¥￥€£]", "USD", "CNY", "RMB", "EUR", "GBP") for s in ("", f"[{_SPACES}]")
)
# Most digits of a log stand inside a word, a path or a version, or have nothing behind them. Possessive throughout, so
# that a match eats all such numbers and stops at the next one that may count, in linear time.
_MAY_COUNT = rf"(?<![ACE-OQS-XZa-z_./\\@\x00])(?<![A-Za-z]-)(?:{_MONEY_BEFORE}|(?={_NUMBER}(?:{_UNIT_AHEAD})))"
_NEXT = re.compile(rf"[^0-9]*+(?:(?!{_MAY_COUNT}){_NUMBER}[^0-9]*+)*+({_NUMBER})")
_WORD = re.compile(r"[A-Za-zµ°℃℉%]+(?:/s(?![A-Za-z0-9_]))?")
_ZH_MULTIPLIER = re.compile("百万|千万|万亿|[千百万亿]")
_EN_MULTIPLIER = {"k": "k", "K": "k", "M": "M", "thousand": "k", "million": "M", "billion": "B", "B": "B", "bn": "B"}
_CLASSIFIER = re.compile(CLASSIFIER)
_SIGNS = {"$": "USD", "¥": "元", "￥": "元", "€": "EUR", "£": "GBP"}
_CODES = {"USD": "USD", "CNY": "元", "RMB": "元", "EUR": "EUR", "GBP": "GBP"}
_CODE_BEFORE = re.compile(r"(?:USD|CNY|RMB|EUR|GBP|US\$) ?\Z")
_SHELL = re.compile(r"awk|print|sed |echo|\$\{|\$@|\$\(|&&|\\1")
_KUBE = {"Ki": "KiB", "Mi": "MiB", "Gi": "GiB", "Ti": "TiB"}
_FORMAT = re.compile(r"\([A-Za-z_]\w{0,40}\)[-#0 +.0-9]{0,6}[sdifrxgeo]")
_MODULO = re.compile(r" ?(?:[0-9]|[A-Za-z](?![A-Za-z]))")
_HTTP = frozenset("400 401 403 404 408 409 410 413 422 429 500 501 502 503 504".split())  # noqa: SIM905 - a word list
_LASTS = re.compile(
    r"(?:[=:~<>≤≥（(]|\b(?:in|for|after|within|every|of|to|at|is|timeout|takes?|took|than|s|and))[ ]?\Z"
)
_MONEY = frozenset(_CODES.values())
_DIGIT_OR_SPACE = frozenset("0123456789")


def numbers(text: str, reach: Reach) -> list[Fact]:
    """Number facts of `text`, which is folded and has all earlier classes masked. canon is `<number><multiplier> <unit>`."""
    facts: list[Fact] = []
    n = len(text)
    for m in reach.places(_candidates(text), 1):
        start, end = m.span(1)
        number = m.group(1)
        sign_at = _currency(text, start)
        if sign_at < 0 and not _may_follow(text[end] if end < n else "", text, end):
            continue
        found = _unit(text, end, number)
        if sign_at >= 0:
            fact = _money(text, sign_at, end, number, found)
            if fact is not None:
                facts.append(fact)
            continue
        if found is None:
            continue
        lead = _lead(text, start, number)
        if lead is None:
            continue
        multiplier, unit, stop = found
        if unit == "s" and stop == end + 1 and _plural(text, start, number):
            continue
        canon = f"{'-' if lead else ''}{_plain(number)}{multiplier} {unit}"
        begin = start - lead
        facts.append(Fact("number_unit", text[begin:stop], canon, begin, stop))
    return facts


def _candidates(text: str) -> Iterator[re.Match[str]]:
    """Numbers (group 1) that a unit may follow or a currency may stand before."""
    at = 0
    while (m := _NEXT.match(text, at)) is not None:
        yield m
        at = m.end()


def _plural(text: str, start: int, number: str) -> bool:
    """The `s` makes a plural: the 1990s; `the endpoint returns 502s`."""
    if len(number) == 4 and number[:2] in ("19", "20"):
        return True
    return number in _HTTP and not _LASTS.search(text, max(0, start - 16), start)


def _may_follow(c: str, text: str, end: int) -> bool:
    """Cheap test: can a unit begin here?"""
    if c in _SPACES and c:
        c = text[end + 1 : end + 2]
    if not c:
        return False
    if c < "\x80":
        return c.isalpha() or c in "%-"
    return c in ZH_FIRST or c in "µ°℃℉"


def _unit(text: str, end: int, number: str) -> tuple[str, str, int] | None:
    """(multiplier, unit, end) that follow the number, or None."""
    at = end
    space = text[at : at + 1] in _SPACES and at < len(text)
    if space:
        at += 1
    if text[at : at + 1] == "-" and not space:
        return _joined(text, at + 1)
    z = _ZH_MULTIPLIER.match(text, at)
    if z is not None:
        after = z.end() + (text[z.end() : z.end() + 1] in _SPACES and z.end() < len(text))
        found = _plain_unit(text, after, number, space=False, counted=True)
        return None if found is None else (z.group(), *found)
    w = _WORD.match(text, at)
    if w is not None and w.group() in _EN_MULTIPLIER:
        after = w.end() + (text[w.end() : w.end() + 1] in _SPACES and w.end() < len(text))
        found = _plain_unit(text, after, "2", space=False, counted=True)
        if found is not None:
            return (_EN_MULTIPLIER[w.group()], *found)
    found = _plain_unit(text, at, number, space=space, counted=False)
    return None if found is None else ("", *found)


def _plain_unit(text: str, at: int, number: str, *, space: bool, counted: bool) -> tuple[str, int] | None:
    """(unit, end) of the unit at `at`; `counted`: only what a multiplier may stand before."""
    w = _WORD.match(text, at)
    if w is not None:
        found = _english(text, w, number, space=space)
        if found is not None and counted and found[0] not in COUNTED | _MONEY | {"qps", "tps", "rps", "iops", "px"}:
            return None
        return found
    z = ZH_UNIT.match(text, at)
    if z is None:
        return None
    unit, end = zh_canon(z), z.end()
    if unit == "year" and not counted and len(number) == 4 and "1900" <= number <= "2199":
        return None  # a calendar year
    if unit == "error" and z.group("direct") and len(number) == 3 and number[0] in "45":
        return None  # an HTTP status
    if _CLASSIFIER.match(z.group()) and len(z.group()) == 1:  # `8 个 worker`
        after = end + (text[end : end + 1] == " ")
        noun = _WORD.match(text, after)
        if (
            noun is not None
            and noun.group().lower() in WORDS
            and WORDS[noun.group().lower()][0] in COUNTED
            and _closed(text, noun.end())
        ):
            return WORDS[noun.group().lower()][0], noun.end()
    return unit, end


def _english(text: str, w: re.Match[str], number: str, *, space: bool) -> tuple[str, int] | None:
    word = w.group()
    if word[0] == "%":
        return _percent(text, w.start() + 1, space=space)
    if not _closed(text, w.end()):
        return None
    if word == "B":
        return "byte", w.end()
    if word in _KUBE and not space:
        return _KUBE[word], w.end()  # 768Mi
    if word == "MBps":
        return "MB/s", w.end()
    known = WORDS.get(word.lower())
    if known is None and word.endswith("/s"):
        word = word[:-2]
        known = WORDS.get(word.lower())
        return (known[0], w.end() - 2) if known and known[0] == "request" else None
    if known is None:
        return None
    unit, always = known
    if space and (unit == "x" or (len(word) == 1 and word.isupper())):
        return None  # `4 x A100`
    if not always and number.lstrip("0") != "1":
        return None
    return unit, w.end()


def _percent(text: str, after: int, *, space: bool) -> tuple[str, int] | None:
    """A percentage, not a format (`%s`, `%(name)s`), an escape (`%20`) or a modulo."""
    following = text[after : after + 1]
    if following and following.isascii() and (following.isalnum() or following == "_"):
        return None
    if following == "(" and _FORMAT.match(text, after):
        return None
    return None if space and _MODULO.match(text, after) else ("%", after)


def _joined(text: str, at: int) -> tuple[str, str, int] | None:
    """`512-token`: an English word behind a dash."""
    w = _WORD.match(text, at)
    if w is None or len(w.group()) < 3 or not _closed(text, w.end()):
        return None
    known = WORDS.get(w.group().lower())
    return None if known is None else ("", known[0], w.end())


def _closed(text: str, end: int) -> bool:
    """No ASCII letter, digit or `_` behind a word, and no masked text."""
    c = text[end : end + 1]
    return not (c == "_" or c == "\x00" or (c.isalnum() and not is_han(c)))


def _lead(text: str, start: int, number: str) -> int | None:
    """1 when a minus sign belongs to the number, 0 when nothing does, None when no number may begin here."""
    if start == 0:
        return 0
    c = text[start - 1]
    before = text[start - 2] if start > 1 else " "
    if c == "-":
        if before in " \t\n\r=:：,，(（[【{「|\u00a0" or before.isspace():
            return 1
        return None if (before.isalpha() and not is_han(before)) or before in ")]}（）_.-\x00" else 0
    if c in "_./\\第#@\x00×*^" or (c.isalnum() and not is_han(c)):
        return 0 if c in "*" and not before.isdigit() else None
    if c == "+" and before.isalnum() and not is_han(before):
        return None  # N+1 queries
    if c in _SPACES and before in "第×":
        return None
    if c == "," and before in _DIGIT_OR_SPACE and len(number) == 3:
        return None
    return 0


def _currency(text: str, start: int) -> int:
    """Offset of the currency sign or code in front of the number, or -1."""
    at = start
    if at and text[at - 1] in _SPACES:
        at -= 1
    if at == 0:
        return -1
    c = text[at - 1]
    if c in _SIGNS:
        at -= 1
        return at - 2 if c == "$" and text[max(0, at - 2) : at] == "US" else at
    if c in "DYBRP":
        m = _CODE_BEFORE.search(text, max(0, start - 4), start)
        if m is not None and not (m.start() and text[m.start() - 1].isalnum() and not is_han(text[m.start() - 1])):
            return m.start()
    return -1


def _money(text: str, at: int, end: int, number: str, found: tuple[str, str, int] | None) -> Fact | None:
    """`$1,250.00`, `¥3万`, `USD 20`; `$1` of a shell script is none."""
    code = text[at : at + 3]
    unit = _CODES.get(code) or ("USD" if code == "US$" else _SIGNS[text[at]])
    before = text[at - 1] if at else " "
    if before in "_\x00$\\{" or (before.isalnum() and not is_han(before)):
        return None
    multiplier = ""
    if found is not None and found[1] == unit:
        multiplier, _, end = found
    else:
        z = _ZH_MULTIPLIER.match(text, end)
        w = _WORD.match(text, end + (text[end : end + 1] == " "))
        if z is not None:
            multiplier, end = z.group(), z.end()
        elif w is not None and w.group() in _EN_MULTIPLIER and _closed(text, w.end()):
            multiplier, end = _EN_MULTIPLIER[w.group()], w.end()
        elif not _closed(text, end):
            return None
    if len(number) == 1 and not multiplier and text[at] == "$" and _in_shell(text, at):
        return None
    return Fact("number_unit", text[at:end], f"{_plain(number)}{multiplier} {unit}", at, end)


def _in_shell(text: str, at: int) -> bool:
    """`$1` at `at` is a shell or awk parameter."""
    line_start = text.rfind("\n", max(0, at - 60), at) + 1
    return text[at - 1 : at] in ('"', "'", "`") or _SHELL.search(text, max(line_start, at - 60), at + 20) is not None


def _plain(number: str) -> str:
    """Without commas, leading zeros, trailing zeros behind the point."""
    whole, _, fraction = number.replace(",", "").partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
