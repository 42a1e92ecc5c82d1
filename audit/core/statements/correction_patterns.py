"""The patterns of a correction, Chinese then English, in the order of AUDIT-REFINEMENTS §2.5.

A pattern takes one sentence (at most MAX_SENTENCE code points) and the sentence after it, and yields what it found. The
clauses beside a cue are cut at bounded length, so a pattern costs a bounded number of steps per code point.
"""

from __future__ import annotations

import re

import re2

from audit.core.statements.correction_en import EN_PATTERNS
from audit.core.statements.correction_found import Found
from audit.core.statements.correction_zh import ZH_PATTERNS

__all__ = ["CUE", "PATTERNS", "UNSCORED", "Found"]

_CUE = (
    r"不是|不用|请勿|不许|不准|不得|禁止|而非|改|换|调|提到|升|降|增|减|加到|缩|应该|应当|应为|别用|别再用|不要|不对|错了|更正|纠正|说的是|指的是|是说|使用|"
    r"\bnot\b|instead of|rather than|in place of|should be|should have been|use\b|using\b|\bmeant\b|"
    r"\bfrom\b|\bchange\b|\bswitch\b|\bbump\b|"
    r"\braise\b|\blower\b|\bincrease\b|\bdecrease\b|\breduce\b|\bno,|\bactually\b|\bcorrection\b|"
    r"\bwrong\b|\bsorry\b|\boops\b|\bnope\b"
)
# re2 for speed only: the same words, no look-around, linear by construction.
CUE = re2.compile("(?i)" + _CUE)
UNSCORED = re.compile(
    r"(?:^|[，,])\s*(?:你)?(?:这|那|这里|这样|那样)?不对\s*(?:$|[，,])|(?:说|记|搞|写|弄)错了|^\s*(?:更正|纠正)(?:一下)?\s*[:：，,]|"
    r"^\s*(?:no|nope)\s*[,.]|\b(?:that's|that is|this is|you're|you are) (?:wrong|incorrect|not right)\b|^\s*wrong\b|"
    r"\bI meant\b|^\s*correction\s*:|^\s*actually\s*,|^\s*no\s*$",
    re.IGNORECASE,
)
PATTERNS = (*ZH_PATTERNS, *EN_PATTERNS)
