"""URLs, mail addresses and data URIs: not facts, and nothing inside them is (COMPACTION-AUDIT §4, "URL mask").

`file:///…` is a path: only its scheme is blanked, so that the path scanners see the rest.
"""

from __future__ import annotations

import re

_STOP = re.compile(r"[\s\"'`<>\x00\u2018-\u201f\u3000-\u3004\u3008-\u3020\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f|]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,19}\Z")
_OTHER = re.compile(r"mailto:|data:[a-z]+/[a-z0-9.+-]+[;,]")
# `git@host:owner/repo.git`, but not `user@host:/srv/app` and not `me@host:~/x`.
_SCP = re.compile(r"@[A-Za-z0-9][A-Za-z0-9.-]{0,60}:(?=[A-Za-z0-9_.])")


def url_spans(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(spans of URLs, spans of `file://` prefixes) in `text`; ends are exclusive, offsets are code points of `text`."""
    urls: list[tuple[int, int]] = []
    files: list[tuple[int, int]] = []
    at = text.find("://")
    while at >= 0:
        scheme = _SCHEME.search(text, max(0, at - 20), at)
        if scheme is None:
            at = text.find("://", at + 3)
            continue
        if scheme.group()[-4:].lower() == "file" and text.startswith("/", at + 3):
            files.append((at - 4, at + 3))
            at = text.find("://", at + 4)
            continue
        end = _end(text, at + 3)
        urls.append((scheme.start(), end))
        at = text.find("://", end)
    if "mailto:" in text or "data:" in text:
        urls.extend(_spans(text, _OTHER))
    if "@" in text:
        urls.extend(_spans(text, _SCP))
    return urls, files


def _spans(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    done = 0
    for m in pattern.finditer(text):
        if m.start() >= done and (pattern is not _SCP or _is_scp(text, m)):
            done = _end(text, m.end())
            spans.append((m.start(), done))
    return spans


def _is_scp(text: str, m: re.Match[str]) -> bool:
    """Something stands before the `@`, and what follows the colon is a path, not a port."""
    before = text[m.start() - 1] if m.start() else " "
    stop = _STOP.search(text, m.end(), m.end() + 300)
    end = stop.start() if stop else m.end() + 300
    return before.isalnum() and "/" in text[m.end() : end] and not text[m.end()].isdigit()


def _end(text: str, at: int) -> int:
    m = _STOP.search(text, at)
    return m.start() if m else len(text)
