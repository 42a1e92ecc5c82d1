"""A team's literal terms, read from the JSON string of the setting `complianceVocab`. Rule: COMPACTION-AUDIT §2."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable

from audit.core.policy import Vocabulary

INVALID = "vocab_invalid"
_LISTS = ("keep", "drop", "scope")


def parse_vocabulary(json_text: str | None, *, fp_version: int = 1) -> Vocabulary:
    """Read `{"keep":[],"drop":[],"scope":[]}`; empty gives empty lists, broken gives empty lists and `vocab_invalid`.

    Items that are not strings or are blank are ignored, duplicates (after NFC) removed, the given order kept.
    """
    if json_text is None or not json_text.strip():
        return Vocabulary(fp_version=fp_version)
    try:
        value = json.loads(json_text)
    except (ValueError, RecursionError):
        return Vocabulary(fp_version=fp_version, error=INVALID)
    if not isinstance(value, dict) or any(not isinstance(value.get(name, []), list) for name in _LISTS):
        return Vocabulary(fp_version=fp_version, error=INVALID)
    keep, drop, scope = (_terms(value.get(name, [])) for name in _LISTS)
    return Vocabulary(keep, drop, scope, fp_version)


def _terms(items: Iterable[object]) -> tuple[str, ...]:
    kept = (unicodedata.normalize("NFC", item) for item in items if isinstance(item, str) and item.strip())
    return tuple(dict.fromkeys(kept))
