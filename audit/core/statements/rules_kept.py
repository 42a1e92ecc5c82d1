"""Whether a summary kept a rule. Rule: AUDIT-REFINEMENTS §2.5: one line with a cue (requirements need none) and half of the
strong terms, or without strong ones half of the weak. Only weak terms in another script → not judged, except by the lexicon.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from audit.core.statements.headings import CONSTRAINTS, walk
from audit.core.statements.lexicon import alternatives
from audit.core.statements.model import MAX_LINES, MAX_TEXT, Rule
from audit.core.statements.prose import script_of, scripts_of_all
from audit.core.statements.terms import Line

SUMMARY_CUE = re.compile(
    r"不|勿|别|禁|避免|无需|无须|严格|必须|务必|只|仅|保留|保持|除外|排除|冻结|只读|暂缓|等待|待|隐藏|忽略|屏蔽|跳过|"
    r"\b(?:no|not|never|without|avoid\w*|don['’]?t|mustn['’]?t|can['’]?t|cannot|shouldn['’]?t|"
    r"won['’]?t|unchanged|untouched|intact|as[- ]is|alone|keep\w*|leave\w*|"
    r"forbid\w*|forbidden|prohibit\w*|ban(?:s|ned)?|disallow\w*|exclud\w*|except|off[- ]limits|"
    r"read[- ]only|refrain\w*|only|must|require\w*|instead|rather|"
    r"non|nor|neither|none|frozen|freeze|hold|wait\w*|skip\w*|prevent\w*|block\w*|stop\w*|pending|"
    r"until|stays?|remains?|preserv\w*|restrict\w*|hid(?:e|den|es)|ignor\w*)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(r"只|仅|\bonly\b", re.IGNORECASE)


@lru_cache(maxsize=8)
def _lines(text: str) -> tuple[tuple[bool, Line], ...]:
    """Lines of a summary block with whether the line or its heading carries a cue; kept, as all rules ask for them."""
    return tuple(
        (bool(SUMMARY_CUE.search(line) or CONSTRAINTS.search(heading)), Line(line))
        for heading, _, line in islice(walk(text[:MAX_TEXT]), MAX_LINES)
    )


@lru_cache(maxsize=8)
def _cued(text: str) -> tuple[tuple[bool, Line], ...]:
    return tuple(row for row in _lines(text) if row[0])


def _rows(rule: Rule, text: str) -> tuple[tuple[bool, Line], ...]:
    """Lines that may tell something about a rule: one that forbids a named thing needs a line with a cue."""
    return _cued(text) if rule.polarity == "negative" and rule.strong else _lines(text)


def effort(rule: Rule, summary_texts: Sequence[str]) -> int:
    """How many look-ups (of a term in a line, 3 to 8 µs each) it may take to judge a rule."""
    return len(rule.strong or rule.weak) * sum(len(_rows(rule, text)) for text in summary_texts)


def rule_kept(rule: Rule, summary_texts: Sequence[str], whole: Sequence[str] | None = None) -> bool | None:
    """True or False; None = cannot be judged (nothing to look for, or no script in common with the summary).

    `whole`: the summary as given when parts of `summary_texts` are blanked; its language counts.
    """
    wanted = rule.strong or rule.weak
    if not wanted or sum(map(len, wanted)) < 2:  # `别删`: one character says nothing about a summary
        return None
    anywhere = False
    lone = not rule.strong and len(wanted) == 1
    for text in summary_texts:
        for cued, row in _rows(rule, text):
            hits = int(row.lone(wanted[0])) if lone else row.share(wanted, strong=bool(rule.strong))
            anywhere = anywhere or hits > 0
            if hits and 2 * hits >= len(wanted) and (cued or _needs_no_cue(rule, row)):
                return True
    if not rule.strong and not _common_script(rule, summary_texts if whole is None else whole):
        # Read through the word list: when none of several known words is there in any form, the rule is gone.
        known = sum(1 for term in rule.weak if len(alternatives(term)) > 1)
        return False if not anywhere and known >= 2 else None
    return False


def _needs_no_cue(rule: Rule, row: Line) -> bool:
    """A requirement needs none. One that limits (`X 只能在周日跑`) says nothing without its limit: half of the weak terms."""
    if rule.polarity == "negative":
        return False
    limits = rule.strong and rule.weak and _LIMITS.search(rule.text)
    return not limits or 2 * row.share(rule.weak, strong=False) >= len(rule.weak)


def _common_script(rule: Rule, summary_texts: Sequence[str]) -> bool:
    return script_of("".join(rule.weak)) in scripts_of_all(summary_texts)
