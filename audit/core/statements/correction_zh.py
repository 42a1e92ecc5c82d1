"""Chinese correction patterns. Rule: AUDIT-REFINEMENTS §2.5, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from audit.core.statements.clauses import clause_end, clause_start
from audit.core.statements.correction_found import Found, is_literal, pair
from audit.core.statements.sentences import asks_within, has_han
from audit.core.statements.values import Value, reduce_term

_TERM = r"(?:[^，,；;。：]|(?<=\d),(?=\d{3})){1,40}?"
_NOT_IS = re.compile(
    rf"(?<![是要还可并也])不是(?!让|叫|吗|很|太|特别|说|因为|为了|所有|每|不|没|只|必须|一定|什么|我|你|他|故意|第一次)(?P<a>{_TERM})"
    r"\s*[，,、；;]?\s*(?P<join>而是|而应该是|而应该用|而应是|改成|改为|换成|应该是|应当是|应该用|应为|(?<=[，,、；; \w])是(?![不否的]))"
)
_BUT_NOT = re.compile(
    r"[，,、]\s*(?P<cue>而不是|而非|不是(?!吗|很|因为|说|为了|我|你))|(?P<bare>而不是|而非)|"
    r"(?P<tight>(?<=\s)不是(?=\s?[A-Za-z0-9\"“`./_-]))"
)
_FROM = re.compile(
    r"从\s*(?P<a>[^，,；;。：]{1,40}?)\s*(?P<verb>改|调|换|提|设|升|降|增|减|加|缩|"
    r"放)(?P<mid>[^，,；;。：\d]{0,4}?)(?P<to>到|为|至|成)(?P<past>了?)"
)
_CHANGE = re.compile(
    r"(?P<strong>应该改成|应该改为|应改为|应改成|改成|改为|换成|换为|改用|换用|更正为|纠正为|改回|换回)(?P<past>了?)|"
    r"(?<!不)(?P<is>应该是|应当是|应该用|应当用|应为|应该为)|"
    r"(?P<amount>调成|调到|调整为|调整到|调整成|改到|提到|提高到|降到|降低到|升到|加到|增加到|减到|减少到|缩到|缩短到|放宽到|延长到)(?P<done>了?)"
)
_STOP_USING = re.compile(
    r"(?:以后|请|先|就|都|千万|绝对|一定)?(?P<cue>别再?(?:使)?用|不要再?(?:使)?用|不许(?:使)?用|不准(?:使)?用|不得使用|禁止使用|请勿使用|"
    r"(?P<weak>(?<!没必要)(?<![用得])不用(?=\s?\S)))(?![户到来完心作做了法途力品量过于])"
)
_THEN_USE = re.compile(
    r"\s*[，,；;、]?\s*(?:请|要|应该|统一|都|全部|直接|而是|一律|就|还是)*(?:改用|换用|换成|改成|改为|使用|用)(?![户法])"
)
_USE = re.compile(r"改用|换成|改成|使用|(?<![不别])用(?![户法])")
_AFTER_CUE = re.compile(
    r"(?:^|[，,；;])\s*(?:不对|(?:我)?(?:刚才|刚刚|之前|上面)?(?:说|记|搞|写|弄)?错了|更正(?:一下)?|纠正(?:一下)?)\s*[，,：:；;]\s*"
    r"(?P<attr>[^，,；;：。]{0,20}?)(?:应该|应当|其实|要)?(?P<is>是|用|为|改用)"
)
_I_MEAN = re.compile(r"我(?:刚才|的意思)?(?:说的是|指的是|是说|是指|要的是|想要的是)")
_ORDER = re.compile(r"不要|(?<![区特个级类性分识辨判差])别|(?<!能)不能|禁止|不得|不许|不准|切勿|请勿|不可")
_REPORT = re.compile(
    r"返回了|返回的是|结果|却|竟|居然|实际(?:上)?(?:是|用|返回)|得到|显示|输出了|报错|为什么|怎么|现在(?:返回|显示|是)|变成了"
)
_WANTS = re.compile(r"用|要|改|应该|应当|换|选|说的|指的|想|按|写|走")
_GUESS = re.compile(r"问题|原因|导致|因为|引起|造成|可能|吧|没|不|的锅|bug", re.IGNORECASE)
_PRONOUN = re.compile(r"^(?:这|那|这个|那个|这里|它|他|她|你|我)")
_METRIC = re.compile(r"延迟|耗时|内存|占用|使用率|准确率|成功率|错误率|QPS|loss|CPU|吞吐", re.IGNORECASE)
_DEMAND = re.compile(r"把|将|请|帮|要|需|应|可以|麻烦|版本")
_HEAD_WORDS = re.compile(r".*(?:改成|改为|换成|应该是|应当是|应该用|说的是|指的是|用|叫|选|要|写成|按|走)")
_ONE_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_TOO = re.compile(r"太|不够|不合适|不对|有点|偏[大小高低长短]|不行|错了")
_MAX_WORDS = 12


def _words_ok(*values: Value) -> bool:
    """Plain words are a value only when short and free of pronouns and negations."""
    return all(
        v.kind != "words"
        or (
            len(v.text) <= (_MAX_WORDS if has_han(v.text) else 30)
            and not _GUESS.search(v.text)
            and not _PRONOUN.match(v.text)
        )
        for v in values
    )


def not_a_but_b(text: str, following: str) -> Iterator[Found]:
    """`不是 A，(而)是 B`."""
    for m in _NOT_IS.finditer(text):
        end = clause_end(text, m.end())
        old, new = reduce_term(m["a"], last=False), reduce_term(text[m.end() : end], last=False)
        start = clause_start(text, m.start())
        if old is None or new is None or not _words_ok(old, new) or asks_within(text[start:end]):
            continue
        if "words" in (old.kind, new.kind) and (
            _PRONOUN.match(text[start : m.start()]) or len(old.text) + len(new.text) > 20
        ):
            continue
        yield Found(start, end, m.start(), old.text, new.text)


def b_not_a(text: str, following: str) -> Iterator[Found]:
    """`B，不是 A`, `B 而不是 A`."""
    for m in _BUT_NOT.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        left = text[start : m.start()]
        if not left.strip() or _REPORT.search(left) or asks_within(left):
            continue
        new, old = reduce_term(left, last=True), reduce_term(text[m.end() : end], last=False)
        if new is not None and new.kind == "words" and _WANTS.search(left):
            new = reduce_term(_HEAD_WORDS.sub("", left), last=True)
        if new is None or old is None or not _words_ok(old, new):
            continue
        if "words" in (old.kind, new.kind) and (m["tight"] or not _WANTS.search(left)):
            continue
        yield Found(start, end, m.start(), old.text, new.text)


def from_a_to_b(text: str, following: str) -> Iterator[Found]:
    """`从 A 改成 B`, `从 A 提到 B`."""
    for m in _FROM.finditer(text):
        end = clause_end(text, m.end())
        old, new = reduce_term(m["a"], last=True), reduce_term(text[m.end() : end], last=False)
        start = clause_start(text, m.start())
        before = text[start : m.start()]
        asked = bool(_DEMAND.search(before))
        if old is None or new is None or _ORDER.search(before) or _ORDER.search(m["a"]) or asks_within(text[start:end]):
            continue
        if m["verb"] not in "改调换提设" and not asked and (m["past"] or _METRIC.search(before)):
            continue
        plain = m["verb"] in "改换" or bool(_ONE_WORD.fullmatch(old.text) and _ONE_WORD.fullmatch(new.text))
        if "words" in (old.kind, new.kind) and not (plain and _words_ok(old, new)):
            continue
        yield Found(start, end, m.start(), old.text, new.text)


def change_to(text: str, following: str) -> Iterator[Found]:
    """`(把)A 改成 B`, `A 应该是 B`; A is an old value or the name of what changes. A prohibition is a rule."""
    for m in _CHANGE.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        left, right = text[start : m.start()], text[m.end() : end]
        new = reduce_term(right, last=False)
        if new is None or _ORDER.search(left) or asks_within(left) or asks_within(right[:8]):
            continue
        if m["is"] and (not is_literal(new) or new.rest or _GUESS.search(right)):
            continue
        if m["amount"] and (
            not any(c.isdigit() for c in new.text) or (_METRIC.search(left) and not _DEMAND.search(left))
        ):
            continue
        if m["strong"] and not _words_ok(new):
            continue
        if not left.strip(" ，,") and start > 1:
            # `3e-4 太大了，改成 1e-4`: the clause before names the old value.
            at = clause_start(text, start - 2)
            before = reduce_term(text[at : start - 1], last=True)
            if before is not None and is_literal(before) and _TOO.search(text[at:start]):
                yield pair(at, end, m.start(), replace(before, rest=False), text[at:start], new)
                continue
        name = re.sub(
            r"^(?:请|先|再|麻烦|帮我|然后|并|并且|另外|还有|可以|把|将|这里|那|的|应该|统一|都|全部)+", "", left.strip()
        )
        yield pair(start, end, m.start(), reduce_term(left, last=True) if left.strip() else None, name, new)


def stop_using(text: str, following: str) -> Iterator[Found]:
    """`别用 A(，改用 B)`, `用 B，别用 A`. A longer phrase after the cue is left to the rules."""
    for m in _STOP_USING.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        phrase = text[m.end() : end]
        old = reduce_term(phrase, last=False)
        if old is None or old.rest or re.match(r"\s*(?:超过|多于|大于|任何|太|过)", phrase):
            continue
        then = _THEN_USE.match(text, end)
        new = None
        if then:
            after = clause_end(text, then.end())
            new = reduce_term(text[then.end() : after], last=False)
            end = after if new else end
        if new is None and start > 1:
            before = clause_start(text, start - 2)
            new = _used(text[before:start])
            # Words of two languages are seldom values of one thing: `用英文，不要用 emoji`.
            new = new if new is not None and has_han(new.text) == has_han(old.text) else None
            start = before if new else start
        if new is None and m["weak"]:
            continue  # `不用写测试`: no need to, unless `用 A，不用 B`
        left_over = phrase.replace(old.text, "", 1).strip(" \"'`“”「」‘’")
        if new is None and (re.sub(r"[了啦吧哈呀的]", "", left_over) or (has_han(old.text) and len(old.text) > 4)):
            continue
        if new is not None and not _words_ok(new):
            new = None
        yield Found(start, end, m.start("cue"), old.text, new.text if new else None)


def _used(clause: str) -> Value | None:
    """What a clause says to use (`时区用 UTC`); plain words only when they are few."""
    uses = list(_USE.finditer(clause))
    if not uses or _ORDER.search(clause):
        return None
    value = reduce_term(clause[uses[-1].end() :], last=False)
    return value if value is not None and _words_ok(value) and len(value.text) <= 30 else None


def after_a_cue(text: str, following: str) -> Iterator[Found]:
    """`不对，是 B`, `更正：端口是 B`, `我说的是 B`: only a new value, and perhaps what it is the value of."""
    for m in _AFTER_CUE.finditer(text):
        end = clause_end(text, m.end())
        new = reduce_term(text[m.end() : end], last=False)
        if new is not None and is_literal(new) and not new.rest and not _ORDER.search(m["attr"]):
            yield Found(m.start(), end, m.start(), None, new.text, m["attr"].strip() or None)
    for m in _I_MEAN.finditer(text):
        end = clause_end(text, m.end())
        new = reduce_term(text[m.end() : end], last=False)
        if new is not None and (is_literal(new) or len(new.text) <= _MAX_WORDS) and _words_ok(new):
            yield Found(m.start(), end, m.start(), None, new.text)


ZH_PATTERNS = (not_a_but_b, b_not_a, from_a_to_b, stop_using, change_to, after_a_cue)
