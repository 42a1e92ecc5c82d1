"""A first look at JSON text as it stands in a row: whether masking could change anything in it, without decoding it.

Says "no" only when `redact_json.worth_a_look` of the decoded value would say so too; the other way round it may err. A
pattern of the first look has no anchors, so what it finds in a string it also finds in the text that holds the string,
once the escapes are undone. `\\u…`, `\\b` and `\\f` are not undone here: such text is left to the exact look.
"""

from __future__ import annotations

from typing import Final

# Ends of member names that `redact_json.key_kind` knows, each with up to two digits, and the colon behind the name.
_NAMES: Final = (
    "key|token|secret|credentials?|auth|authorization|pass|pw|pwd|passwd|pass[_-]?word|passphrase|passcode|"
    "密码|口令|密钥|秘钥|私钥|令牌|授权码|凭证"
)
# A value named by its neighbour, a flag of a command in a list, records of a stream.
LOOKS: Final[tuple[str, ...]] = (
    rf"(?i:{_NAMES})\p{{Nd}}{{0,2}}\"[ \t\r\n]*:",
    r"\"(?:value|dt)\"[ \t\r\n]*:",
    r"\"--",
    r"-(?:chunks|delta)\"",
)


def unescaped(raw: bytes) -> bytes | None:
    """JSON text with the common escapes of its strings undone; None when it has others."""
    if b"\\" not in raw:
        return raw
    pairs = b"\\\\" in raw
    if pairs:
        if b"\0" in raw:  # no JSON text: whoever decodes it says so
            return None
        raw = raw.replace(b"\\\\", b"\0")  # from the left, so a pair is never cut
    raw = raw.replace(b"\\n", b"\n").replace(b'\\"', b'"')
    if b"\\" in raw:
        raw = raw.replace(b"\\t", b"\t").replace(b"\\r", b"\r").replace(b"\\/", b"/")
        if b"\\" in raw:
            return None
    return raw.replace(b"\0", b"\\") if pairs else raw
