"""Indirect speech in a summary: `The user asked to mask e-mail columns`, `用户要求把 offset 重置到最新`.

Rule: AUDIT-REFINEMENTS §2.5 (user_quote). Judged by content against human leaves only (`support`); a line that is
conditional, negated or about users in general claims nothing.
"""

from __future__ import annotations

import re

from audit.core.statements.model import Claim
from audit.core.statements.pieces import body, lines, pieces, speech

MAX_TOLD = 100
"""Claims in indirect speech of one summary: each is compared with all that humans wrote."""
MIN_CONTENT = 4

_I = re.IGNORECASE
_TOLD = re.compile(
    r"\b(?P<en>(?:the |our )?(?:user|human)(?: has| have| had|'s)?(?: also| explicitly| then| later| now| just| first|"
    r" clearly| repeatedly| additionally| specifically| further)*"
    r" (?:ask(?:s|ed)|want(?:s|ed)|request(?:s|ed)|told|tells|instruct(?:s|ed)|insist(?:s|ed)|demand(?:s|ed)|prefer(?:s|red)|"
    r"decid(?:es|ed)|chose|said|says|stat(?:es|ed)|remind(?:s|ed)|warn(?:s|ed)|emphasi[sz](?:es|ed)|specif(?:ies|ied)|"
    r"clarif(?:ies|ied)|requir(?:es|ed)|rul(?:es|ed)|order(?:s|ed)|expects|would like|mention(?:s|ed)|suggest(?:s|ed)|"
    r"propos(?:es|ed)|not(?:es|ed)|plan(?:s|ned)))\b"
    r"(?P<join>(?: (?:us|me|the assistant|the agent|that|to|for|on))*)[ :,]*"
    r"|(?P<zh>用户(?:已经|已|又|还|也|明确|特别|反复|再次|随后|后来|最后|最初|另外|一再|曾|刚刚|刚|则)*"
    r"(?:要求|希望|说|指示|提出|强调|决定|规定|叮嘱|嘱咐|指定|表示|想要?|请求|提到|补充|建议|反馈|认为|坚持|提醒|指出|打算|倾向|偏好))"
    r"(?:过|了|说|道)*(?!的|后|时|前|之前|之后|者|量|端)[：:，, ]*",
    _I,
)
_SPOKEN_BY = re.compile(
    r"(?:the )?(?:user|human)\s*(?:request|instruction|decision|demand|preference)?s?\s*[:：]\s*|用户\s*[:：]\s*", _I
)
_ASIDE = re.compile(r"[(（][^()（）]{0,200}[)）]")
_NOT_SAID = re.compile(
    r"\b(?:not|n't|never|until|unless|if|when|whenever|once|before|after|whether|in case|as|what|how|why|where|which|"
    r"than|every time)\b|等|待|未|没|若|如果|除非|是否|当|按|按照|根据|依照|假如|一旦|每次|遵照|由于",
    _I,
)


def claimed_told(summary_text: str) -> list[Claim]:
    """Clauses that tell without quotation marks what the user wanted or said; the text is that clause."""
    found: list[Claim] = []
    for _, at, line in lines(summary_text):
        for start, end in pieces(line, body(line)):
            hit = _TOLD.search(line, start, end)
            if hit is None or speech(line[:end], start):
                continue
            if _NOT_SAID.search(line[start : hit.start()][-60:]) or len(line[hit.end() : end].strip()) < MIN_CONTENT:
                continue
            found.append(Claim("user_quote", summary_text[at + start : at + end], at + start, at + end, "told"))
            if len(found) >= MAX_TOLD:
                return found
    return found


def content_of(claim_text: str) -> str:
    """What a claim says beside that it was said: the words behind the verb, without what brackets add to them."""
    hit = _TOLD.search(claim_text) or _SPOKEN_BY.match(claim_text)
    said = claim_text[hit.end() :] if hit else claim_text
    plain = _ASIDE.sub(" ", said)
    return plain if len(plain.strip()) >= MIN_CONTENT else said
