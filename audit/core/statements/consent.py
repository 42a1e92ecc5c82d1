"""Whether a human message approves of something. Rule: AUDIT-REFINEMENTS §2.5 (user_consent); FR-008.

A clause approves when it has an approving word and no negation, question, 等, 先别, until, wait or before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.core.statements.sentences import asks_within, sentences

YES = re.compile(
    r"\b(?:yes|yep|yeah|yup|ok|okay|k|sure|go ahead|approved?|agreed?|confirmed|i confirm|lgtm|"
    r"looks? (?:good|great|fine|right)|sounds (?:good|great|fine|right)|do it|"
    r"proceed|ship it|go for it|fine(?: by me| with me)?|please do|absolutely|definitely|all good|"
    r"works for me|merge it|green light|thumbs up|that['’]?s (?:fine|ok|okay|right|"
    r"correct)|carry on|you (?:may|can) (?:proceed|go|continue)|permission granted)\b|👍|✅|"
    r"同意|可以(?!看到|看出|说|吗|不|理解|发现|知道|先)|好的|^\s*好(?:[，,！!。]|$|啊|呀|吧|嘞)|(?<![帮请来再要去])确认(?!一下|下|框|按钮|弹窗|是否|"
    r"页|邮件)|批准|没问题|^\s*行(?:[，,！!。]|$|吧|啊)|^\s*(?:对|是的|嗯|嗯嗯|没错|对的)(?:[，,！!。]|$)|"
    r"就这样|就这么|按你(?:说|的)|执行吧|开始吧|发吧|搞吧|干吧|上吧|合吧|删吧|赞同|允许|授权|准了|继续吧|^\s*继续\s*$|通过了?$|네|좋아|승인|はい|了解|承認",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"不(?!错)|没(?!问题|错)|别|勿|等(?!等)|先别|未|(?<!没)吗|是否|之前|以前|再说|暂|"
    r"\b(?:not|no|never|don['’]?t|can['’]?t|won['’]?t|isn['’]?t|doesn['’]?t|until|wait|before|hold|"
    r"unless|if|when|whether|after)\b",
    re.IGNORECASE,
)
_CUT = re.compile(r"[，,；;：]|:(?=\s)|\bbut\b|但")


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a human message; `plain` when it is neither a question nor negated nor put off."""

    text: str
    plain: bool


def clauses_of(text: str) -> Iterator[Clause]:
    """Clauses of a human message, in order."""
    for sentence in sentences(text):
        for piece in _CUT.split(sentence.text):
            if piece and piece.strip():
                plain = not (sentence.asks or _BUT.search(piece) or asks_within(piece))
                yield Clause(piece, plain)


def approves(text: str) -> bool:
    """True when a clause of this human message approves of something."""
    return any(clause.plain and YES.search(clause.text) for clause in clauses_of(text))
