"""Judging a value: does it look chosen by a person or a generator, or is it a word, a placeholder, code?

Rule: COMPACTION §15 (not digits only, not `true false null none "" <…> ${…} …`; digests, UUIDs and git hashes are not
secrets) and field report FR-113 ("password is X" only when X looks chosen). Plain string tests; every argument is
bounded by the caller, so nothing here depends on the length of the text.
"""

from __future__ import annotations

import base64
import re
from typing import Literal

Kind = Literal["password", "secret", "token", "weak"]

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
_DIGEST = re.compile(r"(?:sha\d{1,3}|md5|blake\w{1,4})[:\-=]", re.I)
_NUMBER = re.compile(
    r"[~≈<>]?[\d.,_:/x×+-]+(?:[kmgKMG]i?[bB]?|ms|s|h|d|m|px|em|%|x|tokens?|chars?|bytes?|bits?|个|位|次|万|千|字节?|条)?(?:/[a-z]{1,3})?"
)
_SEPARATOR = re.compile(r"[-_.:/]+")
_PART = re.compile(r"[A-Za-z]+|[vV]?\d{1,2}|[A-Za-z]+\d{1,2}")
_CODE = re.compile(
    r"[\w$.>:!&*@-]*[\w$](?:\(|\[)|"
    r"[!&*]?\w+(?:\.|->|::|\?\.)[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)\w+)*$|(?:new|await|async|lambda)\b"
)
_CAMEL_TYPE = re.compile(
    r"[A-Za-z]*(?:Str|String|Field|Input|Type|Option|Options|Schema|Error|Hash|Hasher|Encoder|Config|Props|Value|Policy|"
    r"Validator|Manager|Service|Provider|Dto|Model|Request|Response|Box|Text|Secret|Token|Key|Password|Name|Id|Ref|Env|"
    r"Var|Path|File|Url|Bytes|Buffer|Source|Store|Cache|Type|Bool|Int|Callable|Any|None)s?"
)
_TECH = re.compile(
    r"(?:base\d+|sha-?\d+|md5|utf-?\d+|argon2|pbkdf2|bcrypt|scrypt|rsa-?\d*|aes-?\d*|ed25519|x509|x25519|oauth2?|http|"
    r"ecdsa|hs\d{3}|rs\d{3}|es\d{3}|ascii|hex|8-?char|\d+-(?:char|digit|bit|byte|hour|day|min)|v\d)",
    re.I,
)
_BEGINS_PLACEHOLDER = re.compile(r"[<\[{]|[$%][A-Za-z_{(]|(?:your|my|the|some|insert|enter|put|replace)[-_ ]", re.I)
_FILLING = frozenset("*•●.xX_…#-")
_IN_PLACEHOLDER = re.compile(
    r"\$[{(]|\{\{|change[-_]?(?:me|this)|placeholder|redacted|replace[-_]?me|[-_]here|\*\*\*|•••|xxxx|…|\.\.\."
)
_KEY_CHARS = re.compile(r"[A-Za-z0-9+/=_.:~-]+")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")
_HAN_PASSWORD = re.compile(r"[\u4e00-\u9fff]{1,8}[!-~]{4,40}")
_ASCII_RUN = re.compile(r"[!-~]+")
_WORDS = frozenset(
    """
    true false null none nil undefined nan empty blank unset default required optional string str text bytes
    number integer boolean bool object array any unknown never void secret password passwd token key apikey
    credential credentials wrong correct incorrect invalid valid expired missing changed protected encrypted
    hashed rejected accepted disabled enabled hidden visible masked redacted unchanged identical different
    available unavailable confirmed failed failing success successful stored saved loaded generated provided
    configured rotated revoked leaked exposed secure insecure mandatory forgotten supported unsupported deprecated
    authentication authorization authenticated bearer basic digest negotiate username hostname database localhost
    production development staging testing sensitive plaintext cleartext environment variable variables constant
    function method return returns important necessary confidential personal private public session cookie header
    headers manager keychain keyring rotation strength length policy reset resetting recovery prompt input inherit
    interactive stdin something anything nothing everything whatever somewhere
    """.split()  # noqa: SIM905 - one word a line would hide the module
)


def has_digit(value: str) -> bool:
    """Whether an ASCII digit occurs."""
    return any("0" <= c <= "9" for c in value)


def mixed(value: str) -> bool:
    """Letters and digits both: what generators and careful people make."""
    return has_digit(value) and any(c.isascii() and c.isalpha() for c in value)


def key_like(value: str) -> bool:
    """A generated key rather than hyphenated words (`sk-learn-based-pipeline`): some part is long or mixed."""
    parts = re.split(r"[-_.]", value)
    if any(len(p) >= 8 and (has_digit(p) or (p.upper() == p and p.lower() != p)) for p in parts):
        return True
    if any(len(p) >= 12 and any(c.isupper() for c in p[1:]) for p in parts):
        return True
    return any(len(p) >= 16 for p in parts)


def bearer_like(value: str) -> bool:
    """After Bearer/Basic: not an ordinary hyphenated word."""
    return has_digit(value) or key_like(value) or any(c.isupper() for c in value[1:]) or "=" in value


def basic_credentials(value: str) -> bool:
    """Base64 of `user:password`, as in Docker's `"auth"`."""
    try:
        return b":" in base64.b64decode(value[: len(value) // 4 * 4], validate=True)
    except ValueError:
        return False


def is_placeholder(value: str) -> bool:
    """`<your-key>`, `${TOKEN}`, stars, dots, `changeme` and our own replacement."""
    if not value or _BEGINS_PLACEHOLDER.match(value) or _FILLING.issuperset(value):
        return True
    low = value.lower()
    return (len(value) > 2 and len(set(low)) == 1) or _IN_PLACEHOLDER.search(low) is not None


def not_secret(value: str) -> bool:
    """True for what is never a secret whatever the key says: numbers, words, placeholders, digests."""
    return (
        is_placeholder(value)
        or _NUMBER.fullmatch(value) is not None
        or _DIGEST.match(value) is not None
        or value.lower().rstrip("?!=:") in _WORDS
        or value.startswith(("http://", "https://", "file://"))
    )


def _is_path(value: str) -> bool:
    if value.startswith(("./", "../", "~/", "/")):
        return "=" not in value and "+" not in value and (value.count("/") >= 2 or "." in value or not has_digit(value))
    return len(value) > 2 and value[1:3] in (":\\", ":/")


def _is_code(value: str) -> bool:
    if _CODE.match(value):
        return not re.search(r"\d{4}", value.split("(")[0])
    return False


def _identifier(value: str) -> bool:
    """Words joined by `_ - . : /`, at most two digits a word: a name, not a key."""
    parts = _SEPARATOR.split(value.strip("?!;@#$&*-_."))
    return len(parts) > 1 and all(_PART.fullmatch(p) for p in parts)


def strong(value: str) -> bool:
    """Good enough for a bare `key`: one run of 16 or more letters and digits, mixed, and no digest or UUID."""
    if len(value) < 16 or not _KEY_CHARS.fullmatch(value) or _UUID.fullmatch(value):
        return False
    if re.fullmatch(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})", value):
        return False
    return any(len(run) >= 16 and mixed(run) for run in re.split(r"[-_./:+=]", value))


def _with_cjk(value: str) -> bool:
    """`示例TOKEN000111222`: a chosen ASCII run, with few Han before it; not a sentence that names a variable."""
    runs = _ASCII_RUN.findall(value)
    if not runs:
        return False
    run = max(runs, key=len)
    before = value.index(run)
    return before <= 6 and len(value) - len(run) <= 10 and len(run) >= 6 and mixed(run) and not _identifier(run)


def chosen(value: str) -> bool:
    """After "is", "是", "为": only what no sentence would go on with (FR-113)."""
    if not_secret(value) or _is_path(value) or _is_code(value) or _identifier(value) or _TECH.match(value):
        return False
    if _UUID.fullmatch(value):
        return False
    if _CJK.search(value):
        return _with_cjk(value)
    if mixed(value):
        return len(value) >= 6
    symbols = sum(c in "!@#$%^&*+=~" for c in value[1:])
    return len(value) >= 8 and symbols >= 1


def quoted_secret(value: str, kind: Kind) -> bool:
    """A value in quotes after `key:` or `key =`."""
    if not_secret(value):
        return False
    if " " in value or "\n" in value or "\t" in value:
        words = value.split()
        return kind == "password" and len(words) <= 4 and mixed(value) and not re.match(r"[A-Z]?[a-z]+ [a-z]+ ", value)
    if kind == "weak":
        return strong(value)
    if _CJK.search(value):
        return _with_cjk(value) or (kind == "password" and _HAN_PASSWORD.fullmatch(value) is not None)
    if _UUID.fullmatch(value):
        return kind != "token"
    if _is_path(value) or (_is_code(value) and "(" in value):
        return False
    if kind == "password":
        return len(value) >= 4 and (not _identifier(value) or value.count("-") >= 3)
    if _identifier(value):
        return False
    return len(value) >= 8 and (mixed(value) or len(value) >= 16)


def bare_secret(value: str, kind: Kind, *, env: bool) -> bool:
    """An unquoted value after `key:` or `key=`; `env` = upper-case key directly followed by `=`, or a command flag."""
    if not_secret(value) or _is_code(value) or _is_path(value):
        return False
    if kind == "weak":
        return strong(value)
    if _CJK.search(value):
        return _with_cjk(value)
    if _UUID.fullmatch(value):
        return kind != "token"
    if _identifier(value) and not (env and has_digit(value) and "_" not in value):
        return False
    if mixed(value):
        return len(value) >= (6 if kind == "password" else 8) and not _TECH.fullmatch(value)
    if len(value) < 8:
        return False
    if env or kind == "password":
        return _CAMEL_TYPE.fullmatch(value) is None or value.upper() == value
    return len(value) >= 16 and value.upper() == value
