"""Secrets known by the word before them: `password=…`, `"api_key": "…"`, `API token：…`, `密码是「…」`.

Rule: COMPACTION §15 row "assignment" and field reports FR-082 (full-width punctuation) and FR-113 (plain sentences).
RE2 finds the key and the separator; the value is taken by hand, looked at in a bounded window and judged by
`redact_values`; a refused value costs a bounded number of bytes, so a text full of candidates stays linear.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import redact_values as values
from .redact_spans import NOWHERE, Find, compiled, finder
from .redact_take import STOPS, Value, bare, first_byte, take

NAME = "assignment"
ENOUGH = 2_000  # refused candidates in one text, after which refused values are no longer looked into

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


def _opener(words: str, quoted: int, bare: int) -> str:
    """Group 1 the key word, 2 a mark (`:`, `=`), 3 a `value=` pair, 4 a verb ("is", "是"), 5 the gap before the value."""
    value = f"(?:\\\\{{0,8}}[\"'`「『“‘《【][^{STOPS}]{{{quoted}}}|[^{STOPS}]{{{bare}}})"
    return (
        f"(?i)({words})[_-]?[0-9]{{0,3}}{_QUOTE}{_ASIDE}"
        f"(?:[ \\t]{{0,40}}({_MARK})|[ \\t\\r\\n]{{0,20}}({_PAIR})|({_FOR}[ \\t]+(?:{_SAY_EN})[ \\t:]|[ \\t]{{0,4}}{_SAY_ZH}[ \\t:：]?))"
        f"([ \\t\\r\\n]{{0,40}}){value}"
    )


OPENERS: dict[values.Kind, str] = {
    "password": _opener(_PASSWORD, 4, 6),
    "secret": _opener(_SECRET, 8, 8),
    "token": _opener(_TOKEN, 8, 8),
    "weak": (
        f"(?i)({_WEAK})[_-]?[0-9]{{0,3}}{_QUOTE}(?:[ \\t]{{0,40}}({_MARK})|[ \\t\\r\\n]{{0,20}}({_PAIR})|(\\z))"
        "([ \\t\\r\\n]{0,40})(?:\\\\{0,8}[\"'`「『“‘《【])?[A-Za-z0-9+/=_.~-]{16}"
    ),
}
# Group 1 the flag (2 to 5 its kind); without it, a sentence that sets or uses a password.
FLAG = (
    "(?i)(?:(--?[a-z-]{0,30}(?:(password|passwd|passphrase|pass)|(secret|api-?key|access-?key)|(token)|(key))[ \\t]{1,8}|"
    "sshpass[ \\t]+-p[ \\t]*)|"
    "(?:use|using|with|via|enter|type)[ \\t]+(?:the[ \\t]+)?(?:password|passphrase|passcode)[ \\t]+|"
    "(?:set|changed?|reset|updated?)[ \\t]+(?:(?:the|my|your|its|a)[ \\t]+)?(?:[a-z]{1,20}[ \\t]+){0,2}"
    "(?:password|passphrase|passcode)[ \\t]+to[ \\t]+|"
    "login[ \\t]+[^ \\t\\r\\n]{1,64}[ \\t]+password[ \\t]+)[^ \\t\\r\\n-]|(?:密码|口令)[ \\t]{0,2}[A-Za-z0-9]"
)
USER = (
    "(?:curl[^\\n]{0,200}[ \\t](?:-u|--user)[ \\t=]*[\"']?|--(?:proxy-)?user[ \\t=][\"']?)"
    "[A-Za-z0-9._@-]{1,64}:[^ \\t\\r\\n\"':]{4}"
)

_openers = [(kind, finder(compiled(expression))) for kind, expression in OPENERS.items()]
_flag = finder(compiled(FLAG))
_user = finder(compiled(USER))

PREFILTERS: tuple[str, ...] = (*OPENERS.values(), FLAG, USER)


def spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Byte ranges of secret values after a key word; `data` is UTF-8 (lone surrogates passed through)."""
    for kind, find in _openers:
        yield from _typed(data, kind, find)
    yield from _flags(data)
    yield from _users(data)


def _typed(data: bytes, kind: values.Kind, find: Find) -> Iterator[tuple[int, int]]:
    at = refused = 0
    size = len(data)
    while (found := find(data, at, size))[0] != NOWHERE:
        word, mark, _, say, gap = found[1:6]
        if not _key_stands(data, kind, word, mark):
            at = word[1]
            continue
        value = take(data, gap[1])
        if _judge(data, kind, value, word, mark, say, gap):
            at = max(value.last(data), gap[1] + 1)
            yield value.start, at
        else:
            refused += 1
            # The word itself may stand in the value: `password: token=…`; in a flood of candidates it is passed over.
            at = max(gap[1] + 1, value.end) if refused > ENOUGH else max(gap[1], word[1])


def _key_stands(data: bytes, kind: values.Kind, word: tuple[int, int], mark: tuple[int, int]) -> bool:
    """Left edge of the key: short ambiguous words must be words of their own (`_key`, `-key`, `Key`, not `monkey`)."""
    start = word[0]
    before = data[start - 1 : start]
    if mark != NOWHERE and data[mark[0] : mark[1]] == b">" and before not in (b"<", b"/"):
        return False
    if not before.isalpha():
        return True
    key = data[word[0] : word[1]]
    if kind in ("weak", "token") or key.lower() in (b"pwd", b"secret"):
        escaped = data[start - 2 : start] in (b"\\n", b"\\t", b"\\r")
        return escaped or (key[:1].isupper() and not before.isupper())
    return True


def _judge(
    data: bytes,
    kind: values.Kind,
    value: Value,
    word: tuple[int, int],
    mark: tuple[int, int],
    say: tuple[int, int],
    gap: tuple[int, int],
) -> bool:
    if not value.quoted and b"\n" in data[gap[0] : gap[1]]:
        return False
    if say != NOWHERE:
        if value.quoted:
            return values.quoted_secret(value.text, kind) and (kind == "password" or values.chosen(value.text))
        return len(value.text) >= (6 if kind == "password" else 8) and values.chosen(value.text)
    if value.quoted:
        return values.quoted_secret(value.text, kind)
    equals = mark != NOWHERE and data[mark[0] : mark[1]] in (b"=", "＝".encode())
    env = equals and gap[0] == gap[1] and data[word[0] : word[1]].isupper()
    return values.bare_secret(value.text, kind, env=env)


def _flags(data: bytes) -> Iterator[tuple[int, int]]:
    at = refused = 0
    while (found := _flag(data, at, len(data)))[0] != NOWHERE:
        whole, flag, _, secret, token, weak = found[:6]
        at = first_byte(data, whole[1])
        if flag != NOWHERE and data[whole[0] - 1 : whole[0]].isalnum():  # `two-token lookahead`
            at += 1
            continue
        value = take(data, at)
        if flag == NOWHERE:
            ok = values.chosen(value.text)
        else:
            groups: dict[values.Kind, tuple[int, int]] = {"secret": secret, "token": token, "weak": weak}
            kind: values.Kind = next((k for k, span in groups.items() if span != NOWHERE), "password")
            double = data[whole[0] : whole[0] + 2].lower() in (b"--", b"ss")
            ok = values.bare_secret(value.text, kind, env=double)
        refused += not ok
        if ok:
            at = max(value.last(data), at + 1)
            yield value.start, at
        else:
            at = max(value.end, at + 1) if refused > ENOUGH else at + 1


def _users(data: bytes) -> Iterator[tuple[int, int]]:
    """`curl -u user:password`."""
    at = 0
    while (found := _user(data, at, len(data)))[0] != NOWHERE:
        value = bare(data, data.rindex(b":", found[0][0], found[0][1]) + 1)
        at = max(found[0][1], value.end)
        if not values.not_secret(value.text):
            at = value.last(data)
            yield value.start, at
