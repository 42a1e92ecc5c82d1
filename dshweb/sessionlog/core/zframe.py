"""The shape of one Zstandard frame (RFC 8878 §3.1), read from its headers without decoding anything.

A frame's length follows from its block headers alone, so frames are found by walking, never by looking for magic
bytes: those may stand in any text (field report FR-038).
"""

from __future__ import annotations

from typing import Final, NamedTuple

MAGIC: Final = b"\x28\xb5\x2f\xfd"
MAX_BLOCK: Final = 128 << 10
SKIPPABLE_FIRST: Final = 0x184D2A50

SHORT: Final = -1  # the bytes end before the frame does
BAD: Final = -2  # these bytes cannot be a frame

_DICT_BYTES: Final = (0, 1, 2, 4)
_SIZE_BYTES: Final = (0, 2, 4, 8)
_WINDOWS: Final = tuple((1 << (10 + (b >> 3))) + (1 << (7 + (b >> 3))) * (b & 7) for b in range(256))


def looks_compressed(head: bytes) -> bool | None:
    """By a file's first bytes: True for a frame, False for plain rows, None when it is neither."""
    if head.startswith(MAGIC) or (len(head) >= 4 and is_skippable(head, 0)):
        return True
    return False if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" else None


class Shape(NamedTuple):
    """What the headers say. `end` is SHORT, BAD or the index after the frame; `walked` the index reached.

    The decoded size lies between `low` (raw and RLE blocks, or a declared content size) and `high` (every compressed
    block full).
    """

    end: int
    walked: int
    low: int = 0
    high: int = 0
    window: int = 0
    checksum: bool = False
    dictionary: int = 0


def is_skippable(buf: bytes, i: int) -> bool:
    """Whether a skippable frame's magic (0x184D2A50 to ...5F, little endian) stands at `i`."""
    return buf[i + 1 : i + 4] == b"\x2a\x4d\x18" and buf[i] & 0xF0 == 0x50


def starts_frame(head: bytes) -> bool:
    """Whether `head` (up to 4 bytes, fewer at the end of a file) may be the start of any frame."""
    if MAGIC.startswith(head[:4]):
        return True
    return head[0] & 0xF0 == 0x50 and b"\x2a\x4d\x18".startswith(head[1:4])


def _header(buf: bytes, i: int, stop: int) -> tuple[int, int, int | None, bool, int]:
    """Of the frame at `i`: first block's index (or SHORT, BAD), window, content size, checksum flag, dictionary."""
    if i + 5 > stop:
        return SHORT, 0, None, False, 0
    desc = buf[i + 4]
    if desc == 4 and i + 6 <= stop:  # as DSH writes them: checksum, no content size, no dictionary
        return i + 6, _WINDOWS[buf[i + 5]], None, True, 0
    if desc & 8:
        return BAD, 0, None, False, 0
    p = i + 5
    single = desc >> 5 & 1
    dict_bytes = _DICT_BYTES[desc & 3]
    size_bytes = _SIZE_BYTES[desc >> 6] or single
    if p + 1 - single + dict_bytes + size_bytes > stop:
        return SHORT, 0, None, False, 0
    window = dictionary = 0
    if not single:
        window = _WINDOWS[buf[p]]
        p += 1
    if dict_bytes:
        dictionary = int.from_bytes(buf[p : p + dict_bytes], "little")
        p += dict_bytes
    content: int | None = None
    if size_bytes:
        content = int.from_bytes(buf[p : p + size_bytes], "little") + (256 if size_bytes == 2 else 0)
        p += size_bytes
        if single:
            window = content
    return p, window, content, desc & 4 != 0, dictionary


def measure(buf: bytes, i: int, stop: int) -> Shape:
    """Walk the frame whose MAGIC stands at `i`, looking no further than `stop`. Linear in blocks, no decoding."""
    p, window, content, checksum, dictionary = _header(buf, i, stop)
    if p < 0:
        return Shape(p, stop if p == SHORT else i + 5)
    block_max = window if window < MAX_BLOCK else MAX_BLOCK
    low = high = 0
    while True:
        if p + 3 > stop:
            return Shape(SHORT, p, low, high, window, checksum, dictionary)
        block = buf[p] | buf[p + 1] << 8 | buf[p + 2] << 16
        size = block >> 3
        kind = block >> 1 & 3
        if size > block_max or kind == 3:
            return Shape(BAD, p, low, high, window, checksum, dictionary)
        if kind == 2:
            high += block_max
            p += 3 + size
        else:
            low += size
            p += 3 + size if kind == 0 else 4
        if block & 1:
            break
    if checksum:
        p += 4
    high += low
    if content is not None:
        if content < low or content > high:
            return Shape(BAD, p, low, high, window, checksum, dictionary)
        low = high = content
    return Shape(p if p <= stop else SHORT, p, low, high, window, checksum, dictionary)
