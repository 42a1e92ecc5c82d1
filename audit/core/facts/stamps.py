"""Addresses, versions, ports (AUDIT-REFINEMENTS §2.4). Each scan gets a text with earlier classes masked."""

from __future__ import annotations

import re

from audit.core.facts.chars import EXTENSIONS, is_han, words
from audit.core.facts.model import Fact
from audit.core.facts.reach import Reach

_IP = re.compile(
    r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})(?::([0-9]{1,5})(?![0-9])|/([0-9]{1,2})(?![0-9/]))?"
)
# Where an address or a version may begin: cheap tests before the patterns.
_IP_AHEAD = re.compile(r"(?<![0-9_.\x00])(?=[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9])")
_VERSION_AHEAD = re.compile(r"(?<![0-9_.\x00])(?=[0-9]{1,8}\.[0-9])")
_PORTED = re.compile(r":([0-9]{2,5})(?![0-9A-Za-z_])")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*\Z")
_VERSION = re.compile(
    r"[0-9]{1,8}(?:\.[0-9]{1,8}){1,3}(?:-(?:alpha|beta|rc|pre|dev|next|canary|post)(?:[.-]?[0-9]{1,8}){0,2}|(?:a|b|rc)[0-9]{1,8}(?![0-9A-Za-z]))?"
    r"(?:\+[0-9A-Za-z][0-9A-Za-z.]{0,24}(?<!\.))?"
)
_PORT_WORDS = [(w, re.compile(w + "(?![A-Za-z])")) for w in ("port", "Port", "PORT", "端口")]
_PORT_TAIL = re.compile(
    r"[\"'`*]{0,3}[ \t]{0,3}(?:[:：=]|(?:is|to)[ \t]|为|是|改成|改为|设为|用)?[ \t]{0,3}[\"'`*]{0,3}([0-9]{2,5})(?![0-9A-Za-z_])"
)
_PORT_BEFORE = re.compile(r"([0-9]{4,5})[ \t]?\Z")
_NOT_PORT = words(
    "support import report export transport viewport passport airport rapport sport carport seaport teleport reimport"
)


def addresses(text: str, reach: Reach) -> list[Fact]:
    """IPv4 with `:port` or `/len`, `host.name:port`, `host-1:5432`, `localhost:port`; canon is lower case."""
    facts: list[Fact] = []
    for place in reach.places(_IP_AHEAD.finditer(text)):
        start = place.start()
        m = _IP.match(text, start)
        if m is None:
            continue
        end = m.end()
        if any(int(m.group(i)) > 255 for i in range(1, 5)) or not _edge(text, start, end):
            continue
        if int(m.group(5) or 0) <= 65535 and int(m.group(6) or 0) <= 32:
            facts.append(Fact("ip", m.group(), m.group(), start, end))
    taken = {f.end for f in facts}
    done = 0
    for m in reach.places(_PORTED.finditer(text)):
        end = m.end()
        if end in taken or int(m.group(1)) > 65535:
            continue
        start = m.start()
        while start > done and m.start() - start < 254 and _in_host(text[start - 1]):
            start -= 1
        done = end
        host = text[start : m.start()]
        if _is_host(host, m.group(1)) and not (start and (text[start - 1] in "/_\\:\x00" or text[start - 1] == ".")):
            goes_on = text[end : end + 1] in (":", "/") and text[end + 1 : end + 2].isdigit()
            if not goes_on:
                facts.append(Fact("ip", text[start:end], text[start:end].lower(), start, end))
    return facts


def _in_host(c: str) -> bool:
    return c.isascii() and (c.isalnum() or c in ".-")


def _is_host(host: str, port: str) -> bool:
    if host == "localhost":
        return True
    if _HOST.match(host) is None or host != host.lower() or host[-1] in ".-" or ".." in host:
        return False
    labels = host.split(".")
    if len(labels) > 1:
        last = labels[-1]
        return len(last) > 1 and last.isalpha() and last not in EXTENSIONS
    # One label with a dash (`pg-prod-02:5433`): a host only with a real port; `row-3:12` is not.
    return "-" in host and len(port) >= 4 and int(port) > 1023 and any(c.isalpha() for c in host.split("-")[0])


def versions(text: str, reach: Reach) -> list[Fact]:
    """`v` and 2–4 parts, or 3–4 parts, optional pre-release; canon without `v`, lower case."""
    facts: list[Fact] = []
    for place in reach.places(_VERSION_AHEAD.finditer(text)):
        start = place.start()
        m = _VERSION.match(text, start)
        if m is None:
            continue
        end = m.end()
        v = start > 0 and text[start - 1] in "vV"
        first = start - 1 if v else start
        if m.group().count(".", 0, len(m.group())) < (1 if v else 2) or not _edge(text, first, end):
            continue
        facts.append(Fact("version", text[first:end], m.group().lower(), first, end))
    return facts


def _edge(text: str, start: int, end: int) -> bool:
    """No letter, digit, `_` or dot before; none behind, nor a dot with a letter or digit."""
    if start > 0:
        c = text[start - 1]
        if (c.isalnum() and not is_han(c)) or c in "_.\x00":
            return False
        if c == "-" and start > 1 and text[start - 2] in "0123456789":
            return False
    if end >= len(text):
        return True
    c = text[end]
    if (c.isalnum() and not is_han(c)) or c in "_\x00":
        return False
    return not (c == "." and text[end + 1 : end + 2].isalnum() and text[end + 1 : end + 2].isascii())


def ports(text: str, reach: Reach) -> list[Fact]:
    """Digits after a word that ends in `port` or `端口`, or 4–5 digits before it; canon is the digits."""
    facts: list[Fact] = []
    done = -1
    words = [m for word, pattern in _PORT_WORDS if word in text for m in reach.places(pattern.finditer(text))]
    words.sort(key=lambda m: m.start())
    for m in words:
        start, end = m.span()
        if m.group()[0] in "pP":
            word = start
            while word > 0 and start - word < 40 and text[word - 1].isascii() and (text[word - 1].isalpha()):
                word -= 1
            if text[word:end].lower() in _NOT_PORT:
                continue
        elif text[end : end + 1] == "号":
            end += 1
        tail = _PORT_TAIL.match(text, end)
        span = tail.span(1) if tail else None
        if span and not _is_port(text, *span):
            span = None
        if span is None:
            before = _PORT_BEFORE.search(text, max(done, start - 6, 0), start)
            if before and int(before.group(1)) <= 65535 and _edge(text, before.start(1), before.end(1)):
                following = text[end : end + 1]
                if not (following.isascii() and following.isalnum()):
                    span = before.span(1)
        if span and span[0] > done:
            done = span[1]
            facts.append(Fact("port", text[span[0] : span[1]], text[span[0] : span[1]], span[0], span[1]))
    return facts


def _is_port(text: str, start: int, end: int) -> bool:
    """At most 65535, and not the first part of an address or a decimal."""
    return int(text[start:end]) <= 65535 and not (text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit())
