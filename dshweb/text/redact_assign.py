"""Secrets known by the word before them: `password=…`, `"api_key": "…"`, `API token：…`, `密码是「…」`.

Rule: COMPACTION §15 row "assignment" and field reports FR-082 (full-width punctuation) and FR-113 (plain sentences).
RE2 finds the key and the separator; the value is taken by hand, looked at in a bounded window and judged by
`redact_values`; a refused value costs a bounded number of bytes, so a text full of candidates stays linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import re2

from . import redact_values as values
from .redact_spans import compiled

NAME = "assignment"
WINDOW = 512  # bytes of a value that are judged
QUOTED = 4096  # how far a closing quote is looked for

# Longer words first: RE2 takes the leftmost, then the first alternative.
_PASSWORD = "password|passwd|passphrase|passcode|pwd|登录密码|密码|口令"  # noqa: S105 - words, not a secret
_SECRET = (
    "client[_-]?secret|secret[_ -]?(?:access[_ -]?)?key|api[_ -]?key|api[_ -]?secret|"  # noqa: S105 - words
    "access[_ -]?key(?:[_-]?secret)?|"
    "private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|account[_-]?key|auth[_-]?key|secret|"
    "(?:auth|access|refresh|bearer|bot|session|id|api|csrf|app)[_ -]?token|credentials?|密钥|秘钥|私钥|访问密钥|授权码|"
    "凭证|(?:访问|授权|api[ _]?)?令牌"
)
_TOKEN = "token"  # noqa: S105
_WEAK = "key|auth|authorization|pw|pass"
_QUOTE = "(?:\\\\{0,8}[\"'`”’」』])?"
_SAY_EN = (
    "(?:is|was)(?:[ \\t]+(?:now|still|set[ \\t]+to|:))?|will[ \\t]+be|should[ \\t]+be|equals|"
    "(?:has[ \\t]+been[ \\t]+|was[ \\t]+)?(?:changed|set|reset|updated)[ \\t]+to"
)
_SAY_ZH = "(?:已|就|被)?(?:改成|改为|设为|设置为|设成|换成|重置为|更新为|是|为|叫|用|等于)了?"
_MARK = "(?::[ \\t]*(?:str|string|String|bytes)(?:[ \\t]*[|][ \\t]*None)?[ \\t]*=)|[:=：＝]{1,3}>?|=>|>"
_PAIR = "(?:,\\s{0,20})?[\"']?value[\"']?[ \\t]*[:=]"
_ASIDE = "(?:[ \\t]*[（(\\[][^）)\\]\\n]{0,24}[）)\\]])?"
_FOR = "(?:[ \\t]+(?:for|of|on)(?:[ \\t]+[A-Za-z0-9._@/-]{1,40}){1,3})?"

OPENER = (
    f"(?i)(?:(?P<password>{_PASSWORD})|(?P<secret>{_SECRET})|(?P<token>{_TOKEN})|(?P<weak>{_WEAK}))"
    f"[_-]?[0-9]{{0,3}}{_QUOTE}{_ASIDE}"
    f"(?:[ \\t]{{0,40}}(?P<mark>{_MARK})|[ \\t\\r\\n]{{0,20}}(?P<pair>{_PAIR})|"
    f"(?P<say>{_FOR}[ \\t]+(?:{_SAY_EN})[ \\t:]|[ \\t]{{0,4}}{_SAY_ZH}[ \\t:：]?))"
    "(?P<gap>[ \\t\\r\\n]{0,40})[^ \\t\\r\\n]"
)
FLAG = (
    "(?i)(?:--?[a-z-]{0,30}(?:(?P<password>password|passwd|passphrase|pass)|(?P<secret>secret|api-?key|access-?key)|"
    "(?P<token>token)|(?P<weak>key))(?P<gap>[ \\t]{1,8})|"
    "(?P<ask>(?:use|using|with|via|enter|type)[ \\t]+(?:the[ \\t]+)?(?:password|passphrase|passcode)[ \\t]+)|"
    "(?P<set>(?:set|changed?|reset|updated?)[ \\t]+(?:(?:the|my|your|its|a)[ \\t]+)?"
    "(?:[a-z]{1,20}[ \\t]+){0,2}(?:password|passphrase|passcode)"
    "[ \\t]+to[ \\t]+)|"
    "(?P<pass_p>sshpass[ \\t]+-p[ \\t]*))[^ \\t\\r\\n-]"
)
USER = (
    "(?:curl[^\\n]{0,200}[ \\t](?:-u|--user)[ \\t=]*[\"']?|--(?:proxy-)?user[ \\t=][\"']?)"
    "[A-Za-z0-9._@-]{1,64}:[^ \\t\\r\\n\"':]{4}"
)

_STOP = re2.compile("[^ \\t\\r\\n\"'`<>\\\\，。；、！？）】」』”’》「『“‘《（【]*".encode())
_CUT = re2.compile(b"[,;&)}|][,;&)}|\\]]*(?:[ \\t]*[A-Za-z_][\\w.-]*[\"']?[ \\t]*[:=(]|[ \\t]*$|[ \\t])")
_TYPED = compiled(OPENER)
_FLAGS = compiled(FLAG)
_USERS = compiled(USER)
_GROUP = {name.decode(): i for name, i in _TYPED.groupindex.items()}  # asked once: each look-up goes to C++
_FLAG_GROUP = {name.decode(): i for name, i in _FLAGS.groupindex.items()}
_CLOSING = {
    "「": "」",
    "『": "』",
    "“": "”",
    "‘": "’",
    "《": "》",
    "【": "】",
    '"': '"',
    "'": "'",
    "`": "`",
    "”": "”",
    "’": "’",
}
_OPEN = {o.encode(): c.encode() for o, c in _CLOSING.items()}
_TRIM = tuple(c.encode() for c in ",.;:!?)]}*，。；：！？）")
_KINDS: tuple[values.Kind, ...] = ("password", "secret", "token", "weak")


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    text: str
    quoted: bool


def spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Byte ranges of secret values after a key word, in order; `data` is UTF-8 (lone surrogates passed through)."""
    yield from _walk(data)
    yield from _flags(data)
    for m in _each(_USERS, data):
        start = data.rindex(b":", m.start(), m.end()) + 1
        value = _bare(data, start)
        if not values.not_secret(value.text):
            yield value.start, value.end


def _each(regexp: re2._Regexp, data: bytes) -> Iterator[re2._Match]:
    return regexp.finditer(data)  # type: ignore[no-any-return]


def _walk(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while (m := _TYPED.search(data, at)) is not None:
        kind = next(k for k in _KINDS if m.group(_GROUP[k]) is not None)
        at = m.end() - 1  # the last byte belongs to the value
        while data[at] & 0xC0 == 0x80:
            at -= 1
        if not _key_stands(data, m, kind):
            at = m.end(_GROUP[kind])
            continue
        value = _take(data, at)
        if _judge(data, m, kind, value):
            yield value.start, value.end
            at = max(value.end, at + 1)


def _flags(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while (m := _FLAGS.search(data, at)) is not None:
        flag = data[m.start() : m.start() + 2]
        at = m.end() - 1
        while data[at] & 0xC0 == 0x80:
            at -= 1
        if flag[:1] == b"-" and data[m.start() - 1 : m.start()].isalnum():  # `two-token lookahead`
            at += 1
            continue
        value = _take(data, at)
        kind: values.Kind = next((k for k in _KINDS if m.group(_FLAG_GROUP[k]) is not None), "password")
        if m.group(_FLAG_GROUP["ask"]) or m.group(_FLAG_GROUP["set"]):
            ok = values.chosen(value.text)
        else:
            ok = values.bare_secret(value.text, kind, env=flag == b"--")
        if ok:
            yield value.start, value.end
            at = max(value.end, at + 1)
        else:
            at += 1


def _key_stands(data: bytes, m: re2._Match, kind: str) -> bool:
    """Left edge of the key: short ambiguous words must be words of their own (`_key`, `-key`, `Key`, not `monkey`)."""
    start = m.start(_GROUP[kind])
    before = data[start - 1 : start]
    if m.group(_GROUP["mark"]) == b">" and before not in (b"<", b"/"):
        return False
    if not before or not before.isalpha():
        return True
    word = m.group(_GROUP[kind])
    escaped = data[start - 2 : start] in (b"\\n", b"\\t", b"\\r")
    if kind in ("weak", "token") or word.lower() in (b"pwd", b"secret"):
        return escaped or (word[:1].isupper() and not before.isupper())
    return True


def _take(data: bytes, at: int) -> _Value:
    """The value that begins at `at`: quoted (any quotes, escaped ones too) or a run up to a space or a stop sign."""
    slashes = at
    while slashes < at + 8 and data[slashes : slashes + 1] == b"\\":
        slashes += 1
    for opening, closing in _OPEN.items():
        if data.startswith(opening, slashes):
            return _quoted(data, slashes + len(opening), data[at:slashes] + closing)
    return _bare(data, at)


def _quoted(data: bytes, start: int, closing: bytes) -> _Value:
    limit = min(len(data), start + QUOTED)
    at = start
    while True:
        end = data.find(closing, at, limit)
        if end < 0:
            return _bare(data, start, quoted=True)
        back = end
        while back > start and data[back - 1 : back] == b"\\":
            back -= 1
        if (end - back) % 2 == 0:
            break
        at = end + 1
    return _Value(start, end, data[start : min(end, start + WINDOW)].decode("utf-8", "replace"), quoted=True)


def _bare(data: bytes, start: int, *, quoted: bool = False) -> _Value:
    m = _STOP.match(data, start, min(len(data), start + WINDOW))
    end: int = m.end()
    cut = _CUT.search(data[start:end])
    if cut is not None and not quoted:
        end = start + int(cut.start())
        whole = False
    else:
        whole = end == start + WINDOW
    if whole:
        return _Value(start, _STOP.match(data, start).end(), data[start:end].decode("utf-8", "replace"), quoted)
    while data.endswith(_TRIM, start, end):
        end -= 1
        while data[end] & 0xC0 == 0x80:
            end -= 1
    return _Value(start, end, data[start:end].decode("utf-8", "replace"), quoted)


def _judge(data: bytes, m: re2._Match, kind: values.Kind, value: _Value) -> bool:
    gap: bytes = m.group(_GROUP["gap"])
    if b"\n" in gap and not value.quoted:
        return False
    if m.group(_GROUP["say"]) is not None:
        if kind == "weak":
            return False
        if value.quoted:
            return values.quoted_secret(value.text, kind) and (values.chosen(value.text) or kind == "password")
        return len(value.text) >= (6 if kind == "password" else 8) and values.chosen(value.text)
    if value.quoted:
        return values.quoted_secret(value.text, kind)
    env = m.group(_GROUP["mark"]) in (b"=", "＝".encode()) and not gap and bytes(m.group(_GROUP[kind])).isupper()
    return values.bare_secret(value.text, kind, env=env)


PREFILTERS: tuple[str, ...] = (OPENER, FLAG, USER)
