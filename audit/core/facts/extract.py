"""From a text to its facts (first, simple version)."""

from __future__ import annotations

import re
from collections.abc import Collection

from audit.core.facts.model import EXTENDED_CLASSES, MAX_BLOCK, Fact

_PATTERNS = (
    ("uuid", re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")),
    ("abs_path", re.compile(r"(?:(?<=\s)|^)~?(?:/[\w.@+-]+){2,}", re.MULTILINE)),
    ("file_path", re.compile(r"[\w@+-]+(?:/[\w.@+-]+)*\.(?:py|ts|tsx|js|json|md|yaml|toml|txt|log|csv|html)\b")),
    ("number_unit", re.compile(r"(?<![\w./])[0-9]+(?:\.[0-9]+)? ?(?:ms|s|min|h|KB|MB|GB|%|files|lines|tokens)")),
    ("ticket", re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]+\b")),
    ("version", re.compile(r"\bv?[0-9]+\.[0-9]+\.[0-9]+\b")),
)


def extract(text: str, *, extended: bool = True, markers: Collection[str] = ()) -> list[Fact]:
    """All facts of `text` in order of `start`; never raises. `markers` adds first segments to PATH_MARKERS."""
    found: list[Fact] = []
    for cls, pattern in _PATTERNS:
        if cls in EXTENDED_CLASSES and not extended:
            continue
        for m in pattern.finditer(text[:MAX_BLOCK]):
            canon = m.group().lower() if cls in ("uuid", "ticket") else m.group()
            if not any(f.start < m.end() and m.start() < f.end for f in found):
                found.append(Fact(cls, m.group(), canon, m.start(), m.end()))
    return sorted(found, key=lambda f: (f.start, f.end, f.cls))
