"""Message catalogues without gettext's programs: `locale/*/LC_MESSAGES/django.po` → `.mo` files in the data folder.

A compiled catalogue is a build product and is not committed, and a machine may have no msgfmt. Only what our own
catalogues use is understood: contexts, plurals, strings over several lines, comments, flags. The format of .mo files is
that of the GNU gettext manual, "The Format of GNU MO Files".
"""

from __future__ import annotations

import ast
import hashlib
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = 0x950412DE
KEYWORDS = ("msgctxt", "msgid_plural", "msgid", "msgstr")


class BadCatalogue(ValueError):
    """A .po file that cannot be read; the message names file and line."""


@dataclass
class Entry:
    """One message. `texts` are its translations, one a plural form; `line` is where it begins."""

    line: int
    fuzzy: bool = False
    context: str | None = None
    id: str = ""
    plural: str | None = None
    texts: dict[int, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        key = self.id if self.plural is None else f"{self.id}\0{self.plural}"
        return key if self.context is None else f"{self.context}\4{key}"

    @property
    def complete(self) -> bool:
        return not self.fuzzy and bool(self.texts) and all(self.texts.values())


def parse(text: str, name: str = "catalogue") -> list[Entry]:
    """Entries of a .po file in order, obsolete ones left out. Raises BadCatalogue."""
    entries: list[Entry] = []
    entry, target, fuzzy = Entry(0), "", False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            fuzzy = (fuzzy and bool(line)) or (line.startswith("#,") and "fuzzy" in line)
            continue
        keyword = next((word for word in KEYWORDS if line.startswith(word) and line[len(word)] in ' ["'), "")
        try:
            if keyword == "msgctxt" or (keyword == "msgid" and target != "msgctxt"):
                entry = Entry(number, fuzzy)
                entries.append(entry)
                fuzzy = False
            head, quote, rest = line.partition('"')
            target = _target(keyword, head) or target
            _add(entry, target, ast.literal_eval(quote + rest))
        except (SyntaxError, ValueError, KeyError) as error:
            raise BadCatalogue(f"{name}, line {number}: {raw!r}") from error
    return entries


def _target(keyword: str, head: str) -> str:
    return f"msgstr[{head.partition('[')[2].partition(']')[0] or 0}]" if keyword == "msgstr" else keyword


def _add(entry: Entry, target: str, text: str) -> None:
    if target == "msgctxt":
        entry.context = (entry.context or "") + text
    elif target == "msgid":
        entry.id += text
    elif target == "msgid_plural":
        entry.plural = (entry.plural or "") + text
    else:
        index = int(target[len("msgstr[") : -1])
        entry.texts[index] = entry.texts.get(index, "") + text


def compiled(entries: list[Entry]) -> bytes:
    """The .mo file. Fuzzy and untranslated messages are left out, so that they show in the source language."""
    used = [entry for entry in entries if entry.complete or not entry.id]  # the header, which names the charset, always
    rows = {entry.key: "\0".join(entry.texts[i] for i in sorted(entry.texts)) for entry in used}
    pairs = sorted((key.encode(), text.encode()) for key, text in rows.items())
    count, data = len(pairs), b""
    table: tuple[list[bytes], list[bytes]] = ([], [])
    start = 28 + 16 * count
    for part in (0, 1):
        for pair in pairs:
            table[part].append(struct.pack("<II", len(pair[part]), start + len(data)))
            data += pair[part] + b"\0"
    head = struct.pack("<7I", MAGIC, 0, count, 28, 28 + 8 * count, 0, 28 + 16 * count)
    return head + b"".join(table[0]) + b"".join(table[1]) + data


def compile_all(source: Path, target: Path) -> list[Path]:
    """Compiles every `source/<locale>/LC_MESSAGES/*.po` that changed. Several processes may do it at once."""
    made = []
    for path in sorted(source.glob("*/LC_MESSAGES/*.po")):
        text = path.read_bytes()
        stamp = hashlib.sha256(text).hexdigest()[:16]
        folder = target / path.parent.relative_to(source)
        made_file, mark = folder / f"{path.stem}.mo", folder / f"{path.stem}.from"
        if made_file.exists() and mark.exists() and mark.read_text() == stamp:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        _replace(made_file, compiled(parse(text.decode(), str(path))))
        _replace(mark, stamp.encode())
        made.append(made_file)
    return made


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(data)
    draft.replace(path)
