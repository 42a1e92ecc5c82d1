"""P10: the secret scan, measured by `bench.p10_redact` beside the patterns' own module."""

from __future__ import annotations

from bench.measure import Row
from bench.p10_redact import measure


def p10() -> list[Row]:
    found = measure()
    return [
        Row(
            "P10",
            "secret scan of text without secrets, faster than one `re` alternation of the same patterns",
            f"{found['ours_mb_s']:.0f} MB/s",
            f"{found['peer_mb_s']:.1f} MB/s",
            float(found["ratio"]),
            20,
            60,
            at_least=True,
            spread=float(found["spread"]),
        )
    ]
