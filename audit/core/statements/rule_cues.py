"""The words that make a clause a prohibition or a requirement, and what only looks like one.

Rule: AUDIT-REFINEMENTS §2.5 (user_rule), widened by the words people type to coding agents (`先别`, `不准`, `always`,
`use only`, `no new dependencies`). A cue in a question, a quotation, an error message or a description (`it never
finishes`, `不能启动`, `must have failed`) makes no rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from audit.core.statements.model import Polarity

_I = re.IGNORECASE
_ZH = re.compile(
    r"(?P<neg>(?<![需想要])不要再?(?!紧|脸|钱|求|了|不|是)|(?<![舍恨巴怪免顾由值记见懒])不得(?!不|了|已|而知|其|劲)"
    r"|(?<![能不])不能(?!不|说|够吧)|不应该?(?=用|使用|直接|把)|(?:保持|维持)(?=[^，,。；;]{0,12}(?:不变|原样|现状))|"
    r"(?<![必非])不可(?!用|见|读|变|写|靠|能|逆|达|避免|思议|控|知|信|选|重复|或缺|否认|同|行|分|比|数|执行|调)"
    r"|不许|不准(?!确)|(?<!被)禁止|严禁|切勿|请勿|万勿"
    r"|(?<![区特个级类性分识鉴辨判差告离派组国职诀门话鲜迥拜细霎道送])别(?![的人名说墅处扭致急忘样称扯逗闹墨国字号类慌怕]|管|是|担心|客气|着急|介意|谢|无))"
    r"|(?P<pos>(?<![不非是])必须(?!的$|品|吗)|务必|只能(?!说|是|这样)|(?:一律|只准|只许|只允许|一定要|千万要|务求)|别忘了?|不要忘记?|都要|都得|"
    r"都需要|只(?=[改动用碰修跑提在写加测处保收取选发读查导抽抓爬拉推删补翻译标算统分建生开部下上装校监审合拷备]|看(?!到|见|起来)))"
    # `要等王处批了才能做`: someone's word comes first.
    r"|(?P<gate>(?<![平相不])等(?!待)(?=[^，,。；;等]{1,12}(?:批|同意|确认|审|签|点头|拍板|看完|看过|回复|通过|验证)[^，,。；;]{0,8}?(?:再|才)))"
    r"|(?P<mine>由我来?(?:决定|定(?![义位时制期])|确认|拍板|审批)|我(?:再|来)(?:决定|定(?![义位时制期])|拍板|确认)(?![了过一]))"
)
_ZH_BEFORE = re.compile(
    r"报错|提示|显示|返回|抛出|日志里|编译器|为什么|为何|怎么|是否|要不要|能不能|可不可以|会不会|是不是|该不该|需不需要|好像|似乎|貌似|结果|因为|由于|导致|所以才|难怪"
)
_ZH_SPOKEN = re.compile(r"报错|提示|显示|返回|抛出|日志|编译器")
_ZH_CANNOT = re.compile(
    r"^(?:正常|复现|识别|理解|确定|解析|打开|启动|编译|加载|显示|连接|连上|登录|登陆|工作|运行|通过|找到|看到|保证|解决|满足|支持|自动|很好|直接看|用$|访问到|工作|"
    r"生效|跑|同步$|保存$|提交$|执行$|继续$|使用$|用[，了]|点|收到|下载|上传|获取|判断|复用|兼容)"
)
_ZH_LIMIT = re.compile(r"超过|超出|大于|小于|低于|高于|少于|多于|早于|晚于")
_ZH_EVERY = re.compile(r"所有|每|任何|全部|凡|一切|各")
_ZH_ONLY = re.compile(r"^(?:请|你|先|这次|本次|就|也|要|应该|可以|我们|暂时)*$")
_ZH_JUST = re.compile(r"[了过]|就|是")
_ZH_DONE = re.compile(r"(?:了|了吧|了呢|的原因|的问题)\s*$")
_ZH_SELF = re.compile(
    r"(?:我|他|她|它|对方|服务|程序|系统|脚本|页面|接口|电脑|它们)(?:现在|目前|暂时|也|都|还|就|又)*$"
)
_ZH_NOW = re.compile(r"目前|现在|暂时|看来|之前|当时|已经")

_EN_NEG = re.compile(
    r"\b(?P<must>(?:must|may|shall|should|can|will)\s+(?:not|never)\s+(?:ever\s+)?|mustn['’]?t\s+|"
    r"shouldn['’]?t\s+|(?:is|are) not (?:allowed|permitted) to\s+|not allowed to\s+)"
    r"|\b(?P<imp>(?:do not|don['’]?t|dont|never|avoid|exclude|tell (?:nobody|no one)|"
    r"stop(?=\s+\w+ing\b)|refrain from|under no circumstances)\s+)"
    r"|\b(?P<soft>make sure (?:that )?(?:you |we |it |they |nothing )*(?:do not|don['’]?t|doesn['’]?t|"
    r"never|not to)\s+|(?:be careful|take care|try) not to\s+|"
    r"let me (?:review|check|confirm|approve|see|look at)\b(?=[^.;!?]{1,80}\bbefore (?:you|we|it|any)\b)\s+|"
    r"(?:ask|check with) me (?:first )?before\s+|wait for my\s+|"
    r"(?:ask|check with|talk to) (?=[\w ]{1,30} before (?:you|we|any)\b)|"
    r"let['’]?s not\s+|i (?:do not|don['’]?t) want (?:any|you to)\s+|i['’]?d rather (?:you|"
    r"we) (?:didn['’]?t|did not)\s+)"
    r"|\b(?P<keep>(?:keep|leave)\b(?=[^,;]{1,80}\b(?:unchanged|untouched|as[- ]is|as it is|"
    r"as they are|intact|alone|frozen|the same)\b))"
    r"|\b(?P<no>no\s+(?=(?:new |more |extra |additional |external |third[- ]party |direct |"
    r"hard[- ]?coded |global |unnecessary |breaking )*"
    r"(?:emojis?|dependenc\w+|deps|librar\w+|packages?|frameworks?|comments|mocks?|abbreviations|"
    r"downtime|force[- ]push\w*|changes to|breaking changes?|"
    r"commits? to|globals?|magic numbers|secrets|network access|internet access|abstractions|"
    r"refactor\w*|features|inline styles|tables|jargon)\b)"
    # any plural that ends the demand: `No screenshots, they go stale.`
    r"|no\s+(?!(?:worries|problems|issues|errors|changes|results|failures|tests|logs|updates|differences|findings|"
    r"thanks|matches|conflicts|warnings|regressions|ideas|doubts|rows|hits|files|users|plans|clues|objections|questions)\b)"
    r"(?=[a-z]{3,}s(?: please| pls| in | on | at | for |[,.;!]|\s*$)))",
    _I,
)
_EN_POS = re.compile(
    r"\b(?P<must>must\b(?!\s*[-–]?\s*have\b)(?!\s+(?:not|never|be (?:kidding|joking|wrong|missing|"
    r"something|a bug|some|because|that))\b)(?!['’]))"
    r"|\b(?P<imp>always\s+(?=[a-z])|(?:only use|use only|make only|only touch|only change|only edit|"
    r"(?:use|run|allow|open|take|keep) (?:at most|no more than)|"
    r"only modify|only run|only commit|only push)\s+|(?:do not|don['’]?t) forget to\s+|remember to\s+)"
    r"|\b(?P<have>(?:has|have|needs?) to\s+(?=(?:stay|remain|be|keep|continue|work|support|fit|match|pass|run|use|go|look|"
    r"open|load|survive)\b))"
    r"|\b(?P<mine>i(?:['’]ll| will| want to| need to| have to)(?: first)? (?:decide|confirm|approve|choose|sign off)\b)",
    _I,
)
_EN_NO_DEMAND = re.compile(
    r"\b(?:i|you|he|she|there|nothing|not|don['’]?t|doesn['’]?t|didn['’]?t|might|may|will|would)\s*$", _I
)
_EN_PREFIX = re.compile(
    r"^(?:[-*•\d.)\s]|\b(?:please|pls|and|but|also|so|then|just|again|ok|okay|now|well|note|remember|"
    r"important|rule|constraint|btw|fyi|hey|for now|from now on|"
    r"going forward|in future|whatever you do|at all costs|in general|you|we|you should|we should|"
    r"should|you must|they|to|let's|one more thing|and please|"
    r"absolutely|definitely|really|simply|strictly|ever|under no circumstances|until then|instead|"
    r"(?:for|in|on|from|during|under|at|with|after|before|inside|within|when|if|unless|until|"
    r"while)\s[^,]{1,60}),?:?\s*|[:,–—]\s*)*$",
    _I,
)
_EN_NOT_RULE_VERB = re.compile(
    r"^(?:know|think|see|get|have|mind|need|understand|remember|worry|bother|care|like|want|believe|"
    r"recall|feel|seem|mean|matter|work|exist|agree|"
    r"trust myself|appear|match|happen|mind|had|been|seen|heard|worked|used to|failed|happened|"
    r"finish(?:es|ed)?|has|have|did|was|were|be sorry|fret|panic|ever mind)\b",
    _I,
)
_EN_DESCRIBES = re.compile(
    r"\b(?:error|errors|says|said|message|warning|complains|complaining|exception|why|whether|because|"
    r"seems|looks like|wonder)\b",
    _I,
)
_EN_GUESS = re.compile(r"\b(?:it|there|that|this|something|he|she|someone|somebody)\s*$", _I)
_EN_JOINED = re.compile(r"\b(?:and|but|then)\s+(?:please\s+|just\s+)?$", _I)
_EN_SUBJECT = re.compile(r"^\W*(?:i|it|he|she|they|this|that|there|which|we|if|when)\b", _I)
_EN_DONE = re.compile(r"\s+be\s+(?:\w+ed|\w+en|done|kept|sent|run|set|made|built|read|held|shut|paid)\b", _I)
_EN_JOINED_TO = re.compile(r"\b(?:must|should|please|and|to|we)\s*$", _I)
_EN_HABIT = re.compile(r"(?:been|have|had|\w+(?:ed|[^s]s)|fail|get|returns?)\b", _I)
_EN_POLICY = re.compile(
    r"^(?:use|deploy|commit|push|merge|ship|release|touch|support|store|log|write|run|edit|break|"
    r"allow|accept|hardcode)\b",
    _I,
)


@dataclass(frozen=True, slots=True)
class Cue:
    """Where a cue stands in a clause, and what it makes of it."""

    start: int
    end: int
    polarity: Polarity
    reserves: bool = False
    """The speaker keeps the decision (`I'll decide then`); what is decided stands in another clause."""


def reports(clause: str) -> bool:
    """A clause that introduces what a program said: `报错提示：…`, `the error says: …`."""
    return bool(_ZH_SPOKEN.search(clause) or _EN_DESCRIBES.search(clause))


def find_cue(clause: str) -> Cue | None:
    """The first cue that makes this clause a rule; None when there is none or it only looks like one."""
    found = [cue for cue in (_zh(clause), _en_negative(clause), _en_positive(clause)) if cue is not None]
    return min(found, key=lambda cue: cue.start) if found else None


def _zh(clause: str) -> Cue | None:
    if clause.isascii():
        return None
    for m in _ZH.finditer(clause):
        before, after, word = clause[: m.start()], clause[m.end() :], m.group()
        if m["mine"]:
            return Cue(m.start(), m.end(), "positive", reserves=True)
        if _ZH_BEFORE.search(before) or not after.strip(" 。，,.!！的吧啊呀哦") or after.startswith("吗"):
            continue
        if (word in ("都要", "都得", "都需要") and not _ZH_EVERY.search(before)) or (
            word == "只" and (not _ZH_ONLY.match(before) or _ZH_JUST.search(after[:12]))
        ):
            continue
        if word == "不能" and _ZH_LIMIT.match(after):
            return Cue(m.start(), m.end(), "negative")
        if word in ("不能", "只能", "不可", "必须") and _ZH_SELF.search(before):
            continue
        if word in ("不能", "只能") and (_ZH_DONE.search(after) or (word == "只能" and _ZH_NOW.search(before))):
            continue
        if word == "不能" and (_ZH_CANNOT.match(after) or _ZH_NOW.search(before)):
            continue
        return Cue(m.start(), m.end(), "positive" if m["pos"] or m["gate"] else "negative")
    return None


def _en_negative(clause: str) -> Cue | None:
    for m in _EN_NEG.finditer(clause):
        before, after = clause[: m.start()], clause[m.end() :]
        if not (after.strip(" .!") or m["keep"]) or _EN_DESCRIBES.search(before):
            continue
        if m["must"]:
            # `can not` / `will not` / `may not` describe; `should not` orders only when the sentence speaks of what to do.
            describes = re.match(r"can|will|may", m.group(), _I) and not re.search(r"never", m.group(), _I)
            if (
                describes
                or re.match(r"(?:have|be (?:too|a problem|an issue|hard|able|possible|surprising))\b", after, _I)
                or _EN_GUESS.search(before)
            ):
                continue
        elif m["soft"]:
            pass
        elif m["imp"]:
            policy = re.search(r"\bwe\s*$", before, _I) and _EN_POLICY.match(after)
            joined = _EN_JOINED.search(before) and not _EN_SUBJECT.match(before)
            if not (_EN_PREFIX.match(before) or joined) or _EN_NOT_RULE_VERB.match(after):
                continue
            if (
                re.search(r"\b(?:you|we|they|i)\s*$", before, _I)
                and not policy
                and not re.match(r"never", m.group(), _I)
            ):
                continue
            if re.match(r"never", m.group(), _I) and re.match(r"(?:mind\b|\w+(?:ed|[^s]s)\b)", after, _I):
                continue
        elif not _EN_PREFIX.match(before) and not (
            m["keep"] and re.search(r"\b(?:must|should|please|and|to)\s*$", before, _I)
        ):
            continue
        return Cue(m.start(), m.end(), "negative")
    return None


def _en_positive(clause: str) -> Cue | None:
    for m in _EN_POS.finditer(clause):
        before, after = clause[: m.start()], clause[m.end() :]
        if m["mine"]:
            return Cue(m.start(), m.end(), "positive", reserves=True)
        if _EN_DESCRIBES.search(before) or not after.strip(" .!"):
            continue
        if m["have"]:
            if (
                not before.strip()
                or _EN_NO_DEMAND.search(before)
                or (_EN_GUESS.search(before) and after.startswith("be"))
            ):
                continue
        elif m["must"]:
            guessed = _EN_GUESS.search(before) and re.match(r"\s+(?:be|have|mean)\b", after, _I)
            if (guessed and not _EN_DONE.match(after)) or re.search(r"\b(?:a|i)\s*$", before, _I):
                continue
        elif (not _EN_PREFIX.match(before) and not _EN_JOINED_TO.search(before)) or (
            re.match(r"always", m.group(), _I) and _EN_HABIT.match(after)
        ):
            continue
        return Cue(m.start(), m.end(), "positive")
    return None
