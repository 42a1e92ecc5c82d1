"""Names of logs and folders, and which log of a session's folder to believe.

Rules: SESSION-LOG §1 (names, `~XXXX` escapes, the highest version is the one DSH opens); field report FR-058 (the
highest version may be the older content, so compare and say so).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# `session.jsonl`, `session.v4.jsonl`, both with `.zstd`; the same with a prefix (`a.session.v4.jsonl`); `a.v4.jsonl`.
_NAME: Final = re.compile(
    r"(?:(?P<prefix>.+)\.)?session(?:\.v(?P<v>\d{1,6}))?\.jsonl(?P<z>\.zstd)?|(?P<stem>.+)\.v(?P<w>\d{1,6})\.jsonl(?P<y>\.zstd)?"
)
_ESCAPE: Final = re.compile(r"~([0-9A-F]{4})")


@dataclass(frozen=True, slots=True)
class LogName:
    """A log's file name taken apart. `exact`: it is a name DSH itself gives and opens."""

    name: str
    version: int
    compressed: bool
    exact: bool


def parse_log_name(name: str) -> LogName | None:
    """Format version and compression by a file's name (no folders), None when it is not named like a log."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    version = match["v"] or match["w"] or "0"
    compressed = bool(match["z"] or match["y"])
    exact = match["stem"] is None and match["prefix"] is None and (match["v"] is None or not version.startswith("0"))
    return LogName(name, int(version), compressed, exact)


def is_log_name(name: str) -> bool:
    """Whether a file of this name is a session log."""
    return parse_log_name(name) is not None


def decode_name(name: str) -> str:
    """A folder name with its `~XXXX` escapes (UTF-16 code units) undone; a lone surrogate becomes U+FFFD."""
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)), name)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def project_label(folder: str) -> str | None:
    """What a project folder (`--srv-demo-app--`) says about its working directory; None for `_no-cwd` and others.

    A label only: separators were folded into `-`, so the header's `cwd` is the truth.
    """
    if len(folder) < 4 or not (folder.startswith("--") and folder.endswith("--")):
        return None
    return decode_name(folder[2:-2])


@dataclass(frozen=True, slots=True)
class Generation:
    """One log of a folder: by its name, and by what was read of it. Unknown is None."""

    name: LogName
    header_version: int | None
    last_seq: int | None
    last_time: int | None
    events: int

    @property
    def mismatch(self) -> bool:
        """Whether name and header disagree about the format version."""
        return self.header_version is not None and self.header_version != self.name.version


@dataclass(frozen=True, slots=True)
class Choice:
    """Which log is newest by content, which one DSH would open, and codes of what is worth a warning.

    `newer_is_older`: the one DSH would open is not the newest. `version_mismatch:<name>`: name and header disagree.
    """

    newest: Generation | None
    opened: Generation | None
    warnings: tuple[str, ...]


def choose(logs: Sequence[Generation]) -> Choice:
    """Choose among the logs of one session folder. Content counts by last time, then last seq, then events."""
    if not logs:
        return Choice(None, None, ())

    def content(log: Generation) -> tuple[int, int, int, int]:
        time = -1 if log.last_time is None else log.last_time
        return time, -1 if log.last_seq is None else log.last_seq, log.events, log.name.version

    newest = max(logs, key=content)
    exact = [log for log in logs if log.name.exact]
    opened = max(exact, key=lambda log: (log.name.version, log.name.compressed)) if exact else None
    warnings = [f"version_mismatch:{log.name.name}" for log in logs if log.mismatch]
    if opened is not None and content(opened)[:3] < content(newest)[:3]:
        warnings.insert(0, "newer_is_older")
    return Choice(newest, opened, tuple(warnings))
