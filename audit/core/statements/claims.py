"""Claims of a summary about its user: rules, quoted words and listed messages, consent.

Rule: AUDIT-REFINEMENTS §2.5; FR-001 (invented requests), FR-002 (lists of user messages, any language), FR-004 (a rule that
is said to be recorded), FR-008 (consent). Callers that take all three kinds give a line to the strictest one first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.core.statements.headings import APPROVALS, CONSTRAINTS, list_kind
from audit.core.statements.model import MAX_STATEMENTS, Basis, Claim
from audit.core.statements.pieces import MIN_QUOTE, body, lines, pieces, speech, trim
from audit.core.statements.rule_cues import find_cue
from audit.core.statements.terms import terms_of

_I = re.IGNORECASE
_JOINERS = ("", "that", "to", "for", "道", "了", "过", "的是", "的", "：")

_SPEAKER = re.compile(
    r"(?:\*\*|__)?(?:(?:turn|message|msg|request|step|#)\s?#?\d+|user(?: message)?(?: ?#?\d+)?|human|"
    r"用户|第\s?\d+\s?[条轮]|消息\s?\d+|\[?\d{1,2}:\d\d(?::\d\d)?\]?)"
    r"(?:\*\*|__)?\s*[:：—-]+\s*(?:\*\*|__)?",
    _I,
)
_NOTHING = re.compile(
    r"[(（\[]?(?:none|n/?a|no (?:user )?(?:messages?|requests?)\b.*|nothing|无|没有|暂无|없음|なし)[)）\]]?[.。]?$", _I
)
_SAID = re.compile(
    r"\b(?:the )?(?:user|human)(?:'s)?\b[^\n]{0,40}?\b(?:corrected|said|says|asked|asks|requested|"
    r"requests?|wanted|wants|told|insisted|confirmed|approved|wrote|stated|"
    r"instructed|replied|typed|demanded|clarified|specified|message|instruction|words|quote|asked for|"
    r"agreed|reminded|warned|emphasi[sz]ed)\b|"
    r"\b(?:asked|requested|instructed|told|confirmed|approved|said) by (?:the )?user\b|\bper (?:the )?user\b|"
    r"用户[^\n。；;]{0,10}?(?:纠正|更正|要求|说|提出|指示|同意|确认|批准|决定|表示|强调|指出|反馈|希望|提到|回复|补充|原话|提问|问|叮嘱|明确)|"
    r"^\W*(?:user|human|用户)\s*[:：]|사용자|ユーザ",
    _I,
)
_CONSENT = re.compile(
    r"\b(?P<en>(?:the )?(?:user|human)(?: has| have| had|'s)?(?: already| explicitly| also| then| now|"
    r" fully| since| verbally| just)*"
    r" (?:confirmed|approved|agreed|accepted|authori[sz]ed|consented|okayed|ok'd|signed off|"
    r"green-?lit|granted|permitted|allowed|"
    r"gave (?:the |their |his |her |a |explicit |final )*(?:go-?ahead|approval|permission|green light|"
    r"consent|ok(?:ay)?|sign-?off|confirmation)))\b|"
    r"\b(?P<by>(?:approved|authori[sz]ed|confirmed|agreed|signed off|okayed) by (?:the )?user|"
    r"with (?:the )?user(?:'s)? (?:approval|consent|permission)|"
    r"user(?:'s)? (?:approval|consent|permission|confirmation|go-ahead|sign-?off) (?:was |has been |"
    r"already )?(?:received|obtained|given|granted|on file))\b|"
    r"(?P<zh>用户(?:已经|已|明确|也|都|刚刚|刚|口头|均|随后|后来)*(?:同意|确认|批准|授权|认可|许可|答应|允许|通过|点头|首肯)(?!模块|功能|页|流程|系统|"
    r"管理|接口|表|逻辑|码|弹|后|前|之后|之前|才|再|的话|框|页|弹)|"
    r"(?:已经?|经|已获|获得?|得到|取得)(?:了)?用户(?:的)?(?:明确)?(?:同意|确认|批准|授权|许可|认可)(?!后|前|之后|之前|才|再)|"
    r"사용자(?:가|는)?\s*(?:이미\s*)?(?:승인|동의|확인|허락)|ユーザー?(?:が|は)?\s*(?:すでに)?(?:承認|同意|確認|許可)し?)",
    _I,
)
_NO_CONSENT = re.compile(
    r"\b(?:not|n't|never|until|unless|if|when|once|before|after|wait\w*|await\w*|pending|need\w*|"
    r"require\w*|ask\w*|should|must|whether|without|to be|to confirm)\b|"
    r"等|待|未|没|尚|需|须|若|如果|除非|是否|请|让|不|否则|才|前$|待办|假如|一旦",
    _I,
)
_AFTER_NO = re.compile(r"^\s*(?:后|前|之后|之前|才|再|的话|吗|与否|\?|？)")
_LABELLED = re.compile(r"(?P<label>[^:：\n]{2,40})(?:(?<!\d):|:(?!\d)|：)\s*(?=\S)")
_ATTRIBUTED = re.compile(
    r"(?:the )?user(?: has| had)?(?: explicitly| also| clearly)* (?:said|asked|wants|wanted|requires?|"
    r"required|insist(?:s|ed)|instructed|requested|told (?:us|me))(?: that| us| me| to)*[:,]?\s+|"
    r"用户(?:已|明确|也|特别|反复)*(?:要求|说|强调|指示|提出|规定|希望)(?:过)?[:：，,]?\s*",
    _I,
)
_CLAIM_CUE = re.compile(
    r"不(?!过|同|仅|但|错|足|稳|少|断|久|知)|勿|(?<![区特个级类性分识])别(?![的人名])|禁|必须|务必|只(?!是|有)|仅|一律|严格|"
    r"\b(?:no|not|never|only|must|always|avoid|without|don['’]?t|required|mandatory|forbidden|"
    r"prohibited|banned|disallowed|off[- ]limits|read[- ]only|mustn['’]?t|"
    r"cannot|can['’]?t|keep|leave|untouched|unchanged|do|(?:has|have|needs?) to)\b",
    _I,
)
_RECORDED = re.compile(
    r"\b(?:(?:hard )?(?:constraint|rule|decision|preference|instruction|requirement|"
    r"policy)s?(?: (?:was|were|is|has been|have been))? (?:recorded|saved|stored|persisted|logged|"
    r"registered|noted)|"
    r"(?:recorded|saved|stored|persisted|registered|noted|added) (?:the |a |as a |as |an |this |"
    r"user )*(?:hard |new |standing )*(?:constraint|rule|decision|preference|instruction|requirement|"
    r"policy))\b|"
    r"(?:已)?(?:记录|保存|写入|登记|记下|记住)(?:了)?(?:一条|该|这条|用户的?|的)?(?:硬性?)?(?:约束|规则|决定|决策|偏好|要求|指示)|(?:约束|规则|"
    r"决定|决策|偏好)(?:已经?|被)?(?:记录|保存|写入|登记)",
    _I,
)
_ONLY_MAY = re.compile(
    r"only\b[^.;]{1,80}\b(?:may|can|must|should|allowed|accepted|permitted)\b|(?:仅|只)(?:允许|许|准|能|可)", _I
)


def claimed_quotes(summary_text: str) -> list[Claim]:
    """Words that the summary puts into the user's mouth: quotes behind a cue, every line under a list of messages."""
    found: list[Claim] = []
    for heading, at, line in lines(summary_text):
        listed = list_kind(heading)
        cue = _SAID.search(line)
        if listed:
            found.extend(_listed(summary_text, at, line, "wording" if listed == "verbatim" else "soft"))
        elif cue:
            for a, b in speech(line, cue.start()):
                # One word in quotes away from the cue is a name (`asked to rename "foo"`), not speech.
                near = line[cue.end() : a - 1].strip(" :：,，") in _JOINERS
                if near or len(line[a:b].split()) > 1 or not line[a:b].isascii():
                    found.append(_claim("user_quote", summary_text, at + a, at + b))
        if len(found) >= MAX_STATEMENTS:
            return found[:MAX_STATEMENTS]
    return found


def _listed(text: str, at: int, line: str, basis: Basis) -> Iterator[Claim]:
    start = body(line)
    quotes = speech(line, 0)
    if quotes:
        for a, b in quotes:
            yield _claim("user_quote", text, at + a, at + b)
        return
    speaker = _SPEAKER.match(line, start)
    start = speaker.end() if speaker else start
    said = line[start:].strip(" *_`")
    if len(said) >= MIN_QUOTE and not _NOTHING.match(said) and not set(said) <= set("-=|: "):
        yield _claim("user_quote", text, at + start, at + len(line), basis)


def claimed_consents(summary_text: str) -> list[Claim]:
    """Lines that say the user confirmed, approved or agreed, without a quote; the text is that clause."""
    found: list[Claim] = []
    for _, at, line in lines(summary_text):
        for start, end in pieces(line, body(line)):
            hit = _CONSENT.search(line, start, end)
            if hit is None or speech(line[:end], start):
                continue
            before, after = line[start : hit.start()], line[hit.end() : end]
            if _NO_CONSENT.search(before[-60:]) or _AFTER_NO.match(after):
                continue
            found.append(_claim("user_consent", summary_text, at + start, at + end))
            if len(found) >= MAX_STATEMENTS:
                return found
    return found


def claimed_rules(summary_text: str) -> list[Claim]:
    """Rules that the summary states: cued lines under a heading of rules, bullets that begin with a cue, rules said to
    be recorded or attributed to the user. A line needs two terms or a strong one to be comparable."""
    found: list[Claim] = []
    for heading, at, line in lines(summary_text):
        if list_kind(heading):
            continue
        start = body(line)
        label = _LABELLED.match(line, start)
        ruled = bool(CONSTRAINTS.search(heading))
        if label and (CONSTRAINTS.search(label["label"]) or _RECORDED.search(label["label"])):
            # A rule that is said to be recorded is shown whole; of `Constraints: a; b` only the parts are.
            ruled, start = True, start if _RECORDED.search(label["label"]) else label.end()
        for a, b in pieces(line, start):
            if _is_rule(
                line,
                a,
                b,
                ruled=ruled,
                watched=bool(APPROVALS.search(heading)),
                bullet=line[:a].strip() != "" or a == start,
            ):
                found.append(_claim("user_rule", summary_text, at + a, at + b))
                if len(found) >= MAX_STATEMENTS:
                    return found
    return found


def _is_rule(line: str, start: int, end: int, *, ruled: bool, watched: bool, bullet: bool) -> bool:
    piece = line[start:end]
    attributed = _ATTRIBUTED.match(piece)
    ruling = piece[attributed.end() :] if attributed else piece
    if ruled or _RECORDED.search(piece):
        cued = bool(_CLAIM_CUE.search(ruling))
    else:
        cue = find_cue(ruling)
        begins = cue is not None and bullet and (cue.start <= 3 or (attributed is not None and cue.start <= 20))
        cued = (cue is not None and (begins or watched)) or (watched and _ONLY_MAY.match(ruling) is not None)
    if not cued:
        return False
    terms = terms_of(ruling)
    return bool(terms.strong) or len(terms.weak) >= 2


def _claim(kind: str, text: str, start: int, end: int, basis: Basis = "literal") -> Claim:
    start, end = trim(text, start, end)
    return Claim(kind, text[start:end], start, end, basis)  # type: ignore[arg-type]
