"""Search tokens of Chinese and Latin text, for indexes that only split at spaces.

Rule: RECALL §3. NFKC, lower case; runs of Han, kana and hangul become overlapping pairs (a run of one is itself); Latin
words and numbers are kept whole and in parts (`run-audit` also as `run` and `audit`).
"""

from __future__ import annotations

import re
import unicodedata

_HAN = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u309f\u30a0-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\uac00-\ud7af\U00020000-\U0003ffff"
)
_CONNECT = "._+#/-"
_RUN = re.compile(f"[{_HAN}]+|[^\\W{_HAN}_]+(?:[{re.escape(_CONNECT)}][^\\W{_HAN}_]+)*")
_PARTS = re.compile(f"[{re.escape(_CONNECT)}]")
_IS_HAN = re.compile(f"[{_HAN}]")


def tokens(text: str) -> list[str]:
    """Tokens in text order, repeats included (ranking counts them)."""
    found: list[str] = []
    for m in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
        run = m.group()
        if _IS_HAN.match(run):
            found += pairs(run)
            continue
        found.append(run)
        parts = _PARTS.split(run)
        if len(parts) > 1:
            found += parts
    return found


def pairs(run: str) -> list[str]:
    """Overlapping pairs of a run of characters; the run itself when it is a single one."""
    return [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]


def spaced(text: str) -> str:
    """The tokens with spaces between, as a full-text index that splits at spaces takes them."""
    return " ".join(tokens(text))
