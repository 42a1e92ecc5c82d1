"""A team's own patterns: what an admin row holds, and what we refuse before it is stored (field report FR-115)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import re2

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_PROBES = (b"", b"a", b"a b", b"0", b"\n", b"-", "中".encode(), b"a.b, c!")
LONGEST = 1000
LARGEST = 50_000  # RE2 program size: a{1000}b{1000} and the like would cost every text


class PatternError(ValueError):
    """A pattern we refuse. `where` names the pattern or the place in it, `what` says what is wrong with it."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


@dataclass(frozen=True, slots=True)
class Pattern:
    """A team's own pattern: RE2 syntax; `group` (0 = the whole match) is what gets masked, the rest is kept."""

    name: str
    expression: str
    group: int = 0


def compile_pattern(expression: str, group: int = 0) -> re2._Regexp:
    """The compiled pattern, for text as UTF-8 bytes. Raises PatternError(where, what).

    Refused: what RE2 cannot do (look-around, back references), patterns that match the empty string, over 1000
    characters, and groups that are not there.
    """
    if not expression.strip():
        raise PatternError("expression", "is empty")
    if len(expression) > LONGEST:
        raise PatternError("expression", f"is longer than {LONGEST} characters")
    if "\\C" in expression:
        raise PatternError("\\C", "matches half a character")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(expression.encode("utf-8", "replace"), options)
    except re2.error as error:
        detail = error.args[0] if error.args else ""
        text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        what, _, place = text.partition(": ")
        raise PatternError(place or "expression", what or "is not RE2 syntax") from None
    if not 0 <= group <= compiled.groups:
        raise PatternError("group", f"there is no group {group}; the expression has {compiled.groups}")
    if compiled.programsize > LARGEST:
        raise PatternError("expression", "is too large once its repetitions are written out")
    if any(m.start() == m.end() for probe in _PROBES for m in compiled.finditer(probe)):
        raise PatternError("expression", "matches the empty string")
    return compiled


def compile_team(pattern: Pattern) -> re2._Regexp:
    """`compile_pattern` for a named pattern; the name becomes the class in `[redacted:<class>]`."""
    if not _NAME.fullmatch(pattern.name):
        raise PatternError(pattern.name or "name", "must be lower-case letters, digits and hyphens, at most 40")
    try:
        return compile_pattern(pattern.expression, pattern.group)
    except PatternError as error:
        raise PatternError(f"{pattern.name}, {error.where}", error.what) from None
