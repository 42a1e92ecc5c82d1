"""UUIDs, hexadecimal hashes and tickets (COMPACTION-AUDIT §4 uuid, AUDIT-REFINEMENTS §2.4)."""

from __future__ import annotations

import re

from audit.core.facts.chars import is_han, words
from audit.core.facts.model import Fact
from audit.core.facts.reach import Reach

_UUID = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")
# The dashes lead: a scan for a literal is many times faster than one for hexadecimal characters.
_UUID_TAIL = re.compile(r"-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")
_CHAIN_BEFORE = re.compile(r"[0-9A-Fa-f]{4}-\Z")
_CHAIN_AFTER = re.compile(r"-[0-9A-Fa-f]{4}")
_HASH = re.compile(
    r"(?<![0-9A-Za-z_#\x00])(?=[0-9]*+[A-Fa-f])(?=[A-Fa-f]*+[0-9])(?:[0-9a-f]{7,64}+|[0-9A-F]{7,64}+)(?![0-9A-Za-z_\x00])"
)
# A mask (`1FFFFFFF`, `00ff00ff`) is no hash: its few characters repeat.
HASH_CHARS = 4
_FLOAT = re.compile(r"[0-9]+[eE][0-9]+\Z")
_TICKET = re.compile(r"[A-Z][A-Z0-9]{0,15}(?:-[0-9]{1,12}){1,3}")
_CVE = re.compile(r"CVE-[0-9]{4}-[0-9]{4,12}")
_ISSUE = re.compile(r"#[0-9]+")
# Names of standards and models that look like tickets.
NOT_TICKETS = words(
    "UTF ISO SHA MD GPT RFC HTTP HTTPS AES RSA DES BASE COVID IPV TLS SSL ECMA IEEE GB UCS CP LATIN BM CRC USB RS PEP EC"
    " XXH BLAKE HMAC DDR LLAMA QWEN CLAUDE PYTHON WINDOWS V"
)


def uuids(text: str, reach: Reach) -> list[Fact]:
    """UUIDs that are not glued to letters or digits nor part of a longer dashed chain; canon is lower case."""
    facts: list[Fact] = []
    for tail in reach.places(_UUID_TAIL.finditer(text)):
        m = _UUID.match(text, tail.start() - 8) if tail.start() >= 8 else None
        if m is None:
            continue
        start, end = m.span()
        if _glued(text, start, end):
            continue
        if _CHAIN_AFTER.match(text, end) or _CHAIN_BEFORE.search(text, max(0, start - 5), start):
            continue
        facts.append(Fact("uuid", m.group(), m.group().lower(), start, end))
    return facts


def hashes(text: str, reach: Reach) -> list[Fact]:
    """7 to 64 hexadecimal characters of one case with a digit and a letter; canon is lower case."""
    return [
        Fact("hex_hash", m.group(), m.group().lower(), m.start(), m.end())
        for m in reach.places(_HASH.finditer(text))
        if not _FLOAT.match(m.group()) and len(set(m.group())) >= HASH_CHARS and not _glued(text, m.start(), m.end())
    ]


def tickets(text: str, reach: Reach) -> list[Fact]:
    """`OPS-4821`, `CVE-2026-1234`, and `#812` after white space or an opening bracket; canon is upper case."""
    facts: list[Fact] = []
    for m in reach.places(_CVE.finditer(text)) if "CVE-" in text else ():
        if not _glued(text, m.start(), m.end()):
            facts.append(Fact("ticket", m.group(), m.group(), m.start(), m.end()))
    for m in reach.places(_TICKET.finditer(text)):
        start, end = m.span()
        name = m.group().partition("-")[0]
        if name in NOT_TICKETS or name == "CVE" or _glued(text, start, end):
            continue
        if text[start - 1 : start] in ("-", ".", "/", "\\", "$", "#", "@") and start:
            continue
        after = text[end : end + 2]
        if (after[:1] == "-" and after[1:].isalnum()) or (after[:1] == "." and after[1:].isdigit()):
            continue
        facts.append(Fact("ticket", m.group(), m.group(), start, end))
    for m in reach.places(_ISSUE.finditer(text)):
        start, end = m.span()
        before = text[start - 1] if start else " "
        if (before.isspace() or before in "([{（【「《<") and not _glued(text, end, end) and len(m.group()) < 12:
            facts.append(Fact("ticket", m.group(), m.group(), start, end))
    return facts


def _glued(text: str, start: int, end: int) -> bool:
    """A letter, digit or `_` stands directly before or behind (Han does not glue)."""
    if start < end and start > 0:
        c = text[start - 1]
        if (c.isalnum() and not is_han(c)) or c == "_":
            return True
    if end < len(text):
        c = text[end]
        return (c.isalnum() and not is_han(c)) or c == "_"
    return False
