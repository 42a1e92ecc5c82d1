"""Secrets that are a block or sit inside an address: private keys (PEM, PuTTY), passwords in URLs, cookies.

Rule: COMPACTION §15 (private-key: up to the matching END line, or the end of the text; line breaks may be escaped) and
field/inputs/secrets (only the password of a URL goes, user, host and path stay).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from . import redact_values as values
from .redact_spans import NOWHERE, compiled, finder

_BEGIN = "-----? ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10} ?-----?"
_PUTTY = "Private-Lines: ?[0-9]{1,4}"
_URL = "[A-Za-z][A-Za-z0-9+.-]{0,40}://[^\\s/?#@:\"'`<>\\\\]{0,200}:[^\\s/\"'`<>\\\\@]{1,200}@"
_COOKIE = "(?i)(?:set-)?cookie[\"']?[ \\t]*[:=][ \\t]*[\"']?[A-Za-z0-9_.-]{1,60}=[^\\s;,\"'\\\\]{8}"

_begin = re2.compile(_BEGIN.encode())
_end = re2.compile(b"-----? ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10} ?-----?")
# What follows a real header: a line break, plain or escaped any number of times, or the body on the same line.
_body = re2.compile(b"[ \\t]*(?:\\\\*(?:\\r|\\n|[rn])|[A-Za-z0-9+/]{16})")
_putty = finder(compiled(_PUTTY))
_putty_lines = finder(compiled(r"(?:\s{1,4}[A-Za-z0-9+/=]{1,76})+"), here=True)
_url = re2.compile(_URL.encode())
_url_rest = re2.compile(b"[^\\s/\"'`<>\\\\]*@")
_NAMES = frozenset(("password", "passwd", "pass", "pwd"))
_VARIABLE = re.compile(r"[A-Z]+(?:_[A-Z]+)+|\[[a-z]+\]?")
_cookie = re2.compile(_COOKIE.encode())
_cookie_rest = re2.compile(b"[^\\r\\n\"'\\\\]*")

# For the first look: no counted part that may begin at any letter, which would multiply the automaton's states.
PREFILTERS: tuple[str, ...] = (_BEGIN, _PUTTY, "://[^\\s/?#@:\"'`<>\\\\]*:[^\\s/\"'`<>\\\\@]+@", _COOKIE)


def private_keys(data: bytes) -> Iterator[tuple[int, int]]:
    """Whole blocks. A header that is only named (followed by a quote, a stop, prose) is left alone."""
    at = 0
    ended = False  # no END after this place: looked for once, so many headers stay linear
    while (m := _begin.search(data, at)) is not None:
        at = m.end()
        if _body.match(data, at) is None:
            continue
        end = None if ended else _end.search(data, at)
        if end is None:
            ended = True
            yield m.start(), len(data)
            return
        yield m.start(), end.end()
        at = end.end()
    at = 0
    while (found := _putty(data, at, len(data))[0]) != NOWHERE:
        at = found[1]
        body = _putty_lines(data, at, len(data))[0]
        if body != NOWHERE:
            yield body
            at = body[1]


def url_passwords(data: bytes) -> Iterator[tuple[int, int]]:
    """The password of `scheme://user:password@host`; one with `@` in it goes up to the last `@` before the host."""
    for m in _url.finditer(data):
        start = data.index(b":", data.index(b"://", m.start()) + 3) + 1
        end = m.end() - 1
        longer = _url_rest.match(data, m.end(), min(len(data), m.end() + 200))
        if longer is not None:
            end = longer.end() - 1
        text = data[start:end].decode("utf-8", "replace")
        if not values.is_placeholder(text) and text.lower() not in _NAMES and not _VARIABLE.fullmatch(text):
            yield start, end


def cookies(data: bytes) -> Iterator[tuple[int, int]]:
    """Everything after the first `name=` of a cookie header line."""
    for m in _cookie.finditer(data):
        start = m.end() - 8
        end = _cookie_rest.match(data, start).end()
        if values.key_like(data[start : min(end, start + 256)].decode("utf-8", "replace")):
            yield start, end
