"""P10: the secret scan against a `re` alternation of the same patterns, on text without secrets, in one run.

Goal (PERFORMANCE.md §7): at least 20 times faster; pairs A B A B, medians. `measure()` returns
{"id", "ours_mb_s", "peer_mb_s", "ratio", "spread", "goal"}; `spread` is (max - min) / median of the pairs' ratios.
"""

from __future__ import annotations

import random
import re
import statistics
import time

from dshweb.text.redact import BLOCKS, Masker
from dshweb.text.redact_patterns import SHAPES


def corpus(size: int, seed: int = 10) -> str:
    """Mixed zh and en text of `size` characters with paths, numbers, UUIDs and code, and no secrets."""
    r = random.Random(seed)
    han = "读取文件会话日志压缩记录核对编号错误重试端口服务缓存索引批次更新测试通过失败原因"
    english = "the service reads queue token usage batch offset path status error key return def"
    words = english.split()
    parts: list[str] = []
    length = 0
    while length < size:
        line = " ".join(r.choice(words) + (str(r.randrange(9999)) if r.random() < 0.1 else "") for _ in range(12))
        line += "".join(r.choice(han) for _ in range(14)) + f"，src/app/{r.choice(words)}.py 共 {r.randrange(9999)} 行"
        if r.random() < 0.1:
            line += f" {r.randrange(16**8):08x}-{r.randrange(16**4):04x}-4000-8000-{r.randrange(16**12):012x}"
        parts.append(line)
        length += len(line) + 1
    return "\n".join(parts)[:size]


def peer() -> re.Pattern[str]:
    """The same patterns as one alternation of the standard `re` module, on text."""
    plain = [re.sub(r"[?]P<[a-z_]+>", "?:", e) for e in (*(s.first for s in SHAPES), *BLOCKS)]
    # `re` takes flags for a group only as (?i:…).
    scoped = [f"(?i:{e[4:]})" if e.startswith("(?i)") else f"(?:{e})" for e in plain]
    return re.compile("|".join(scoped).replace("\\z", "\\Z"))


def measure(size: int = 8_000_000, pairs: int = 5) -> dict[str, float | str]:
    """Runs the pairs; the peer gets a smaller share of the text, since it is so much slower."""
    text = corpus(size)
    part = text[: size // 32]
    masker = Masker()
    alternation = peer()
    masker.mask_text(text[:100_000])
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(pairs):
        start = time.perf_counter()
        masked = masker.mask_text(text)
        ours.append(len(text.encode()) / 1e6 / (time.perf_counter() - start))
        start = time.perf_counter()
        found = alternation.search(part)
        theirs.append(len(part.encode()) / 1e6 / (time.perf_counter() - start))
        assert masked == text
        assert found is None
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    middle = statistics.median(ratios)
    return {
        "id": "P10",
        "ours_mb_s": round(statistics.median(ours), 1),
        "peer_mb_s": round(statistics.median(theirs), 2),
        "ratio": round(middle, 1),
        "spread": round((max(ratios) - min(ratios)) / middle, 2),
        "goal": "ratio >= 20",
    }


if __name__ == "__main__":
    print(measure())
