"""Masking stays linear: a megabyte of the worst text for each pattern, in CPU time (the machine is shared)."""

from __future__ import annotations

import time

import pytest

from dshweb.text.redact import Masker
from dshweb.text.redact_patterns import SHAPES

MASKER = Masker()
MB = 1_000_000
HEADS = {
    "github": ["ghp_", "github_pat_"], "openai-like": ["sk-"], "stripe": ["sk_live_"], "slack": ["xoxb-"], "gitlab": ["glpat-"],
    "jwt": ["eyJ", "eyJaaaaaa."], "zhipu": ["0123456789abcdef"], "terraform": ["aaaaaaaaaaaaaa.atlasv1."],
    "telegram": ["00000000:A"], "bearer": ["bearer "], "azure": ["aaa1Q~", "?sig=", "AccountKey="],
}  # fmt: skip
WORST = [
    "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----`", "-----BEGIN ", "Private-Lines: 1\n", "a://b:", "://", "a:b@",
    "cookie: a=", "password", "password=", 'password="', "password='", "token=「", "token: ", "key:", '"key":"', "密码是", "密码是「",
    "密码：", "password is ", "password for a ", "--password ", "--a-", "-token ", "curl ", "curl -u a:", "--user a:", "sshpass -p ",
    'name="password" value="', 'password\\\\\\\\"', "api_key=x,", "key=a;b=", "\\", '\\"', "[redacted:aws]", "[redacted:",
    "ｔｏｋｅｎ：", "ＡＡ", "sk-sk-", "ask-", "password=a:", "password: str = ", "token = token = ", "password (", "set the password to ",
    "a", "0", "-", "=", "/", " ", "\n", "\0", "中", '"', "abcdef0123456789", "secret secret", "key_key", "pwd to ",
]  # fmt: skip
HEADED = [h for s in SHAPES for h in HEADS.get(s.name, [s.head.replace("[.]", ".")])]


def _fast_enough(text: str) -> bool:
    """CPU time of one of three tries under the limit: other processes share the caches of the machine."""
    return any(_seconds(text) < 1 for _ in range(3))


def _seconds(text: str) -> float:
    start = time.process_time()
    MASKER.mask_text(text)
    return time.process_time() - start


@pytest.mark.parametrize("unit", [*WORST, *dict.fromkeys(HEADED)])
def test_a_megabyte_of_the_worst_takes_less_than_a_second(unit: str) -> None:
    text = (unit * (MB // len(unit.encode()) + 1))[:MB]
    assert _fast_enough(text)


@pytest.mark.parametrize("start", WORST)
def test_a_candidate_followed_by_a_megabyte_takes_less_than_a_second(start: str) -> None:
    assert _fast_enough(start + "a1B" * (MB // 3))
