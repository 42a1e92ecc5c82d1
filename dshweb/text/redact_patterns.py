"""Secrets known by their shape: the built-in list of token patterns.

Rule: COMPACTION §15, the field reports (part 9) and the published key formats of providers. A `Shape` is a head, a
class of following bytes and their least number; the match goes on as long as the class does, so no pattern needs an
open repetition and a refused candidate costs a bounded number of bytes. Edges are checked in Python, because RE2 has
no look-around and an escaped line break (`\\nsk-…` inside JSON text) must count as an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import redact_values as values
from .redact_spans import NOWHERE, Find, compiled, finder, union

WORD = "A-Za-z0-9"
NAME = r"A-Za-z0-9_\-"
B64 = r"A-Za-z0-9+/=_\-"


@dataclass(frozen=True, slots=True)
class Shape:
    """One token shape. `head` (RE2) is kept when `keep`, else masked too; `check` sees the text after the head.

    `look` replaces a head that may begin anywhere (a counted class) in the first look.
    """

    name: str
    head: str
    tail: str
    least: int
    keep: bool = False
    check: Callable[[str], bool] | None = None
    look: str = ""

    @property
    def expression(self) -> str:
        """The shape as one RE2 expression: the head and the least tail there must be."""
        return f"(?:{self.head})[{self.tail}]{{{self.least}}}"

    @property
    def first(self) -> str:
        """For the first look: matches at least whatever `expression` does, with fewer states (`look` is its head)."""
        return f"(?:{self.look or self.head})[{self.tail}]{{{min(self.least, 20)}}}"


SHAPES: tuple[Shape, ...] = (
    Shape("github", "gh[pousr]_", WORD, 20),
    Shape("github", "github_pat_", "A-Za-z0-9_", 22),
    Shape("gitlab", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-", NAME + ".", 16),
    Shape("openai-like", "sk-", NAME, 16, check=values.key_like),
    Shape("stripe", "[srp]k_(?:live|test|prod)_", WORD, 10),
    Shape("stripe", "whsec_", B64, 16),
    Shape("slack", "xox[abceoprsd](?:[.-][a-z])?-", NAME, 10),
    Shape("slack", "xapp-", NAME, 10, check=values.has_digit),
    Shape(
        "slack",
        "(?i:https?://hooks[.]slack(?:-gov)?[.]com/(?:services|workflows|triggers)/)",
        NAME + "/",
        10,
        keep=True,
    ),
    Shape("aws", "(?:AKIA|ABIA|ACCA|A3T[A-Z0-9])", "A-Z0-9", 16),
    Shape("aws", "ASIA", "A-Z0-9", 16, check=values.has_digit),
    Shape("aws", "(?i:X-Amz-(?:Signature|Credential|Security-Token)(?:=|%3D))", B64 + "%", 16, keep=True),
    Shape("google", "AIza", NAME, 30),
    Shape("google", r"ya29[.]", NAME + ".", 16),
    Shape("google", "GOCSPX-", NAME, 16),
    Shape("google", "1//0", NAME, 30),
    Shape("azure", "(?i:AccountKey|SharedAccessKey|SharedSecretValue)=", B64, 12, keep=True),
    Shape("azure", "[?&;](?i:sig)=", B64 + "%", 20, keep=True),
    Shape("azure", "[A-Za-z0-9_~.]{3}[0-9]Q~", NAME + ".~", 30, look="[0-9]Q~"),
    Shape("alibaba", "LTAI", WORD, 12, check=values.has_digit),
    Shape("tencent", "AKID", WORD, 13),
    Shape("volcengine", "AK(?:LT|TP)", WORD + r"=_\-", 20, check=values.has_digit),
    Shape("baidu", "bce-v3/ALTAK-", NAME + "/", 16),
    Shape("zhipu", "[0-9a-f]{32}[.]", WORD, 12, look="[0-9a-f][.]"),
    Shape("huggingface", "(?:hf_|api_org_)", WORD, 16, check=values.key_like),
    Shape("npm", "npm_", WORD, 20, check=values.key_like),
    Shape("pypi", "pypi-", NAME, 16, check=values.key_like),
    Shape("mem0", "m0-", WORD, 20, check=values.key_like),
    Shape("mem0", "mem0_", WORD, 12, check=values.key_like),
    Shape("sendgrid", "SG[.]", NAME, 16, check=None),
    Shape("telegram", "[0-9]{8,10}:A", NAME, 30, check=values.key_like, look="[0-9]:A"),
    Shape(
        "discord", "(?i:https?://(?:ptb[.]|canary[.])?discord(?:app)?[.]com/api/webhooks/)", NAME + "/", 16, keep=True
    ),
    Shape("webhook", "(?i:open[.](?:feishu[.]cn|larksuite[.]com)/open-apis/bot/(?:v2/)?hook/)", NAME, 12, keep=True),
    Shape("webhook", "(?i:qyapi[.]weixin[.]qq[.]com/cgi-bin/webhook/send[?]key=)", NAME, 12, keep=True),
    Shape("webhook", "(?i:oapi[.]dingtalk[.]com/robot/send[?]access_token=)", NAME, 12, keep=True),
    Shape("groq", "gsk_", WORD, 20),
    Shape("xai", "xai-", NAME, 20, check=values.key_like),
    Shape("perplexity", "pplx-", WORD, 20, check=values.key_like),
    Shape("replicate", "r8_", WORD, 20, check=values.key_like),
    Shape("tavily", "tvly-", NAME, 16, check=values.key_like),
    Shape("firecrawl", "fc-", "0-9a-f", 24),
    Shape("jina", "jina_", NAME, 24, check=values.key_like),
    Shape("digitalocean", "do[opr]_v1_", "a-f0-9", 20),
    Shape("databricks", "dapi", "a-f0-9", 24, check=values.has_digit),
    Shape("docker", "dckr_(?:pat|oat)_", NAME, 16),
    Shape("shopify", "shp(?:at|ca|pa|ss)_", "a-fA-F0-9", 20),
    Shape("square", "sq0(?:atp|csp|idp)-", NAME, 16),
    Shape("linear", "lin_(?:api|oauth)_", WORD, 20),
    Shape("notion", "ntn_", WORD, 20, check=values.key_like),
    Shape("figma", "figd_", NAME, 20),
    Shape("grafana", "gl(?:sa|c)_", B64, 20),
    Shape("vault", "hv[sbr][.]", NAME, 20),
    Shape("age", "AGE-SECRET-KEY-1", "0-9A-Z", 20),
    Shape("mailgun", "key-", "0-9a-f", 32),
    Shape("twilio", "SK", "0-9a-f", 32),
    Shape("supabase", "sb(?:p|_secret)_", NAME, 20, check=values.key_like),
    Shape("sentry", "sntry[su]_", B64, 20),
    Shape("postman", "PMAK-", NAME, 20),
    Shape("atlassian", "AT(?:ATT3x|CTT3x|BB)", B64, 20),
    Shape("terraform", "[A-Za-z0-9]{14}[.]atlasv1[.]", NAME, 20, look="[.]atlasv1[.]"),
    Shape("jwt", "eyJ[A-Za-z0-9_-]{6,200}[.]", NAME + ".", 12),
    Shape("bearer", "(?i:bearer)(?:[ \\t]+|%20|[+])", WORD + r"._~+/=\-", 16, keep=True, check=values.bearer_like),
    Shape(
        "basic-auth",
        r"\"auth\\?\"[ \t]*:[ \t]*\\?\"",
        "A-Za-z0-9+/=",
        12,
        keep=True,
        check=values.basic_credentials,
    ),
    Shape(
        "basic-auth",
        "(?i:authorization[\"']?[ \\t]*[:=：][ \\t]*[\"']?(?:basic|digest|token|apikey)[ \\t]+)",
        B64 + ".:",
        8,
        keep=True,
        check=values.bearer_like,
    ),
)

_COMPILED = [
    (
        s,
        finder(compiled(s.expression, captures=False)),
        finder(compiled(s.head), here=True),
        finder(compiled(f"[{s.tail}]*"), here=True),
    )
    for s in SHAPES
]
_ANY = finder(union(s.first for s in SHAPES))
_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_LOOK = 512  # bytes of a candidate that its check sees


def shape_spans(data: bytes) -> Iterator[tuple[int, str, int, int]]:
    """Rank, class, start and end (bytes) of every token shape in UTF-8 text. Shapes may overlap one another."""
    if _ANY(data, 0, len(data))[0] == NOWHERE:
        return
    for rank, (shape, find, head, tail) in enumerate(_COMPILED, 1):
        for start, end in _find(data, shape, find, head, tail):
            yield rank, shape.name, start, end


def _find(data: bytes, shape: Shape, find: Find, head: Find, tail: Find) -> Iterator[tuple[int, int]]:
    at = 0
    size = len(data)
    while (found := find(data, at, size)[0]) != NOWHERE:
        start, least = found
        if not _edge(data, start):
            at = start + 1
            continue
        inner = head(data, start, size)[0][1] if shape.keep or shape.check else start
        if shape.check is not None:
            seen = tail(data, least, min(size, inner + _LOOK))[0][1]
            if not shape.check(data[inner:seen].decode("ascii", "replace")):
                at = max(start + 1, seen)
                continue
        end = tail(data, least, size)[0][1]
        while end > least and data[end - 1] in b"._-":
            end -= 1
        yield (inner if shape.keep else start), end
        at = end


def _edge(data: bytes, at: int) -> bool:
    """Whether a token may begin here: no ASCII word character before, or an escape (`\\n`, `\\u0022`, `%3D`)."""
    if at == 0 or data[at - 1] not in _WORD or data[at] not in _WORD:
        return True
    before = data[max(0, at - 6) : at]
    if before.endswith((b"\\n", b"\\t", b"\\r")):
        return True
    if before[-3:-2] == b"%" and set(before[-2:]) <= _HEX:
        return True
    return before.startswith(b"\\u") and set(before[2:]) <= _HEX
