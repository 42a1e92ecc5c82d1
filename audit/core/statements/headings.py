"""Lines of a summary under their headings, and the headings that make their lines claims about the user.

Rule: AUDIT-REFINEMENTS §2.5; FR-002 (lines under "all user messages" are hard assertions, in any language).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from audit.core.statements.model import MAX_LINES, MAX_TEXT

_I = re.IGNORECASE
_MARKDOWN = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(?P<title>.*)$")
_BOLD = re.compile(r"[ \t]{0,3}(?:\d{1,2}[.)、]\s*)?(?:\*\*|__)(?P<title>[^*_]{1,80})(?:\*\*|__)\s*[:：]?\s*$")
_LABEL = re.compile(
    r"(?P<indent>[ \t]*)(?P<bullet>[-*•]\s+)?(?:\d{1,2}[.)、]\s*)?(?:\*\*|"
    r"__)?(?P<title>[^:：*_\n]{1,80}?)\s*(?:\*\*|__)?\s*[:：]\s*(?:\*\*|__)?\s*$"
)
_XML = re.compile(r"\s*</?(?P<title>[a-z_]{3,40})>\s*$")

CONSTRAINTS = re.compile(
    r"constraint|\brules?\b|restriction|prohibit|forbidden|guardrail|do[- ]?not|don['’]t|must|"
    r"ground rules|约束|规则|限制|禁止|红线|禁忌|规范|原则",
    _I,
)
APPROVALS = re.compile(r"approval|critical|批准|关键", _I)

_VERBATIM = re.compile(
    r"\b(?:user|human)(?:'s|s|s')?[ _](?:messages?|prompts?|inputs?|utterances|words|quotes|"
    r"statements)|messages? (?:from|by|of) the user|"
    r"用户(?:的)?(?:全部|所有|历史|原始)?(?:消息|原话|原文|发言|输入|留言|信息记录)|사용자\s*(?:의\s*)?(?:메시지|발언|입력)|ユーザー?(?:の)?(?:全)?(?:メッセージ|発言|入力)|"
    r"messages? de l['’]utilisateur|mensajes del usuario|mensagens do usuário|"
    r"(?:be)?nutzernachrichten|сообщения пользователя",
    _I,
)
_ASKS = re.compile(
    r"\buser(?:'s|s|s')?[ _](?:explicit[ _])?(?:asks?|requests?|instructions?|demands?|commands?|"
    r"queries|questions|orders|directives)\b|"
    r"(?:requests?|instructions?|asks?) (?:from|by|of) the user|what the user (?:asked|said|wants|requested)|"
    r"用户(?:的)?(?:全部|所有|历史|明确|待办|未完成)?(?:请求|指令|指示|提问|要求)|사용자\s*(?:의\s*)?(?:요청|지시|요구|질문)|ユーザー?(?:の|"
    r"から\s*の)?(?:依頼|要求|指示|リクエスト|質問)|"
    r"demandes de l['’]utilisateur|solicitudes del usuario|nutzeranfragen|запросы пользователя",
    _I,
)
_NOT_LIST = re.compile(
    r"\b(?:story|stories|interface|experience|table|model|schema|service|guide|auth\w*|input (?:field|"
    r"form|valid\w*))\b|用户(?:表|界面|体验|模块|故事)",
    _I,
)
_NATIVE = re.compile(
    r"primary request|key technical|files and code|errors and fixes|pending jobs|current work|next step", _I
)


def list_kind(heading: str) -> str:
    """`verbatim` (all user messages), `asks` (user requests, may be in other words), or "" for any other heading."""
    heading = heading.replace("_", " ")
    if len(heading) > 80 or _NOT_LIST.search(heading) or _NATIVE.search(heading):
        return ""
    if _VERBATIM.search(heading):
        return "verbatim"
    return "asks" if _ASKS.search(heading) else ""


def walk(text: str) -> Iterator[tuple[str, int, str]]:
    """(heading in force, offset, line) of every non-empty line that is no heading itself.

    A heading is `# …`, a bold line, an XML-like tag line, or a short line that ends in a colon. A labelled bullet holds
    for the deeper lines under it only.
    """
    heading = ""
    outer: tuple[str, int] | None = None
    at = 0
    for raw in text.splitlines(keepends=True):
        line = raw.rstrip()
        if line.strip():
            indent = len(line) - len(line.lstrip())
            if outer is not None and indent <= outer[1]:
                heading, outer = outer[0], None
            head = _MARKDOWN.match(line[:200]) or _BOLD.match(line[:200]) or _XML.match(line[:200])
            label = None if head else _LABEL.match(line[:200]) if len(line) < 100 else None
            if head:
                heading, outer = head["title"].strip(" :：*_#"), None
            elif label and not label["bullet"] and not label["indent"]:
                heading, outer = label["title"].strip(), None
            else:
                yield heading, at, line
                if label:
                    outer = (heading, indent)
                    heading = label["title"].strip()
        at += len(raw)


def unread(summary_text: str) -> int:
    """Code points of one summary block that lie behind the first MAX_LINES lines or MAX_TEXT code points."""
    behind = next(islice(walk(summary_text[:MAX_TEXT]), MAX_LINES, None), None)
    return len(summary_text) - (min(len(summary_text), MAX_TEXT) if behind is None else behind[1])
