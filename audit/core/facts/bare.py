"""Bare file names: `README.md`, `tool-1.4.2.zip` – closed extension list, no product names (COMPACTION-AUDIT §4)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from audit.core.facts.chars import (
    ATTRIBUTES,
    BARE_NOT,
    DOTFILES,
    EXTENSIONS,
    HAN,
    PRODUCTS,
    is_delim,
    is_han,
    is_word,
    words,
)
from audit.core.facts.model import Fact

_EXT = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,11})")
_NAME = re.compile(rf"[A-Za-z0-9_.{HAN}]")
_LEADING_HAN = re.compile(rf"[{HAN}]+")
_MASK_AFTER = re.compile(r"(?::[0-9]{1,7}){1,2}(?![0-9])|#L[0-9]+(?:-L?[0-9]+)?|\([0-9]+(?:, ?[0-9]+)?\)")
_ATTRIBUTE_LIKE = words("json log db conf cfg key doc txt html css sql xml csv md")


@dataclass(slots=True)
class Found:
    """What a path scan has found so far in `text`."""

    text: str
    facts: list[Fact] = field(default_factory=list)
    masks: list[tuple[int, int]] = field(default_factory=list)

    def add(self, cls: str, start: int, end: int, canon: str, mask_end: int) -> None:
        """Note a fact and the span that later classes must not see."""
        self.facts.append(Fact(cls, self.text[start:end], canon, start, end))
        self.masks.append((start, mask_end))


def bare_names(out: Found, start: int, stop: int, run_start: int) -> None:
    """All bare names in start..stop of `out.text`; `run_start` is where the run of path characters begins."""
    text = out.text
    done = start
    for m in _EXT.finditer(text, start, stop):
        end = m.end()
        ext = m.group(1).lower()
        if m.start() < done or not _ends_here(text, end, stop):
            continue
        if m.group() not in DOTFILES and (ext not in EXTENSIONS or ext in BARE_NOT):
            continue
        at = m.start()
        while at > done and _in_name(text[at - 1]):
            at -= 1
        name_start, done = at, end
        at = _without_prefix(text, at, m.start())
        if _is_name(text, at, m.start(), end, ext, stop) and _before_ok(text, at, name_start, run_start, end):
            suffix = _MASK_AFTER.match(text, end)
            out.add("file_path", at, end, text[at:end], suffix.end() if suffix else end)


def _in_name(c: str) -> bool:
    return c.isalnum() or c in "_.-+"


def _ends_here(text: str, end: int, stop: int) -> bool:
    """The extension is complete: no letter, digit, `_`, `-` or further `.part` behind it."""
    if end >= len(text):
        return True
    c = text[end]
    if c == "." and end + 1 < len(text):
        return not (text[end + 1].isascii() and (text[end + 1].isalnum() or text[end + 1] == "_"))
    if c == "-":
        return end + 1 >= stop or not text[end + 1].isalnum()
    if c in "/\\":
        return end >= stop
    return not (is_word(c) and c != "\x00")


def _without_prefix(text: str, at: int, dot: int) -> int:
    """Where the name begins once leading signs and glued Han are cut (a name all in Han keeps it)."""
    while at < dot and text[at] in "-+":
        at += 1
    han = _LEADING_HAN.match(text, at, dot)
    if han is not None and han.end() < dot:
        at = han.end()
        while at < dot and text[at] in "-+":
            at += 1
    return at


def _is_name(text: str, at: int, dot: int, end: int, ext: str, stop: int) -> bool:
    name = text[at:dot]
    if name == "":
        return text[dot:end] in DOTFILES
    if not any(c.isalnum() or c == "_" for c in name) or (".." in name) or (name.isdigit() and len(name) < 2):
        return False
    if f"{name}.{ext}".lower() in PRODUCTS:
        return False
    head = name.partition(".")[0].lower()
    if head in ATTRIBUTES:
        exts = ATTRIBUTES[head]
        if exts is None or ext in exts:
            return False
    following = text[end : end + 2]
    if following[:1] == "(":  # a call, unless a position or a remark follows
        c = following[1:]
        return c.isdigit() or c.isspace() or (c != "" and is_han(c))
    return not (following[:1] == "[" and ext in _ATTRIBUTE_LIKE)


def _before_ok(text: str, at: int, name_start: int, run_start: int, end: int) -> bool:
    """What may stand in front of the name."""
    if at == 0 or at > name_start:
        return True
    c = text[at - 1]
    if c == "*":
        return text.startswith("*", end)
    if is_delim(c):
        return c not in "?\x00"
    return c in "=([{&!~@^#+/\\|" or is_han(c)
