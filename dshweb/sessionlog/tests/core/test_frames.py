"""The frame walk: structure, damage, hostile input."""

from __future__ import annotations

import io
import struct

import pytest
import zstandard

from dshweb.sessionlog.core.frames import Frame, FrameWalker, read_frame
from dshweb.sessionlog.core.limits import Limits

from .logs import frame

SMALL = Limits(frame_bytes=8 << 20, ratio=10, ratio_floor=64 << 10)


def walk(data: bytes, limits: Limits | None = None) -> list[Frame]:
    frames = list(FrameWalker(io.BytesIO(data), limits or Limits()))
    assert [f.offset for f in frames] == _borders(frames)
    assert sum(f.length for f in frames) == len(data)
    return frames


def _borders(frames: list[Frame]) -> list[int]:
    out, pos = [], 0
    for f in frames:
        out.append(pos)
        pos += f.length
    return out


def header(*, window: int = 0x58, descriptor: int = 0x04) -> bytes:
    return b"\x28\xb5\x2f\xfd" + bytes([descriptor, window])


def block(kind: int, size: int, content: bytes = b"", *, last: bool = False) -> bytes:
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content


def rle_bomb(total: int) -> bytes:
    blocks = total // (128 << 10)
    body = b"".join(block(1, 128 << 10, b"x", last=n == blocks - 1) for n in range(blocks))
    return header(descriptor=0) + body


def test_every_frame_of_many_is_read():
    pieces = [b"frame %d\n" % n for n in range(3759)]
    frames = walk(b"".join(map(frame, pieces)))
    assert [f.data for f in frames] == pieces


def test_frames_larger_than_the_window_are_read():
    piece = bytes(range(256)) * 12_000
    parts = [frame(b"a\n"), frame(piece), frame(b"b\n")]
    stored = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True).compress(piece)
    frames = walk(b"".join(parts) + stored)
    assert [f.data for f in frames] == [b"a\n", piece, b"b\n", piece]


def test_incompressible_frame_across_read_windows():
    import random

    noise = random.Random(1).randbytes(3 << 20)
    frames = walk(frame(b"a\n") + frame(noise) + frame(b"b\n"))
    assert [f.data for f in frames] == [b"a\n", noise, b"b\n"]


def test_skippable_frames_are_passed_over():
    for nibble in (0, 7, 15):
        skip = struct.pack("<II", 0x184D2A50 + nibble, 5) + b"abcde"
        assert [f.kind for f in walk(frame(b"a") + skip + frame(b"b"))] == ["data", "skippable", "data"]


def test_rle_and_empty_frames_decode():
    rle = header(descriptor=0) + block(1, 300, b"x", last=True)
    empty = header(descriptor=0) + block(0, 0, last=True)
    assert [f.data for f in walk(rle + empty + frame(b""))] == [b"x" * 300, b"", b""]


def test_magic_inside_a_frame_is_never_a_frame_start():
    inner = frame(b'{"fake":1}\n')
    outer = header(descriptor=0) + block(0, len(inner), inner, last=True)
    frames = walk(frame(b"a\n") + outer + frame(b"b\n"))
    assert [f.data for f in frames] == [b"a\n", inner, b"b\n"]


@pytest.mark.parametrize("at", [-1, -4])
def test_a_wrong_checksum_gives_no_bytes_and_the_next_frame_is_read(at):
    bad = bytearray(frame(b"hello hello\n"))
    bad[at] ^= 0xFF
    frames = walk(frame(b"a\n") + bytes(bad) + frame(b"b\n"))
    assert [(f.kind, f.code, f.data) for f in frames] == [
        ("data", "", b"a\n"), ("corrupt", "bad_checksum", b""), ("data", "", b"b\n")]  # fmt: skip
    assert frames[1].offset == len(frame(b"a\n"))


def test_any_flipped_byte_in_a_middle_frame_leaves_the_others():
    first, middle, last = frame(b"first\n" * 9), frame(b"middle row of some length\n" * 9), frame(b"last\n" * 9)
    for at in range(len(middle)):
        bad = bytearray(middle)
        bad[at] ^= 0xFF
        frames = walk(first + bytes(bad) + last)
        data = [f.data for f in frames if f.kind == "data"]
        assert data[0] == b"first\n" * 9, at
        assert data[-1] == b"last\n" * 9, at
        damaged = [f for f in frames if f.kind != "data"]
        # Flipping the descriptor's unused bit, or the window, changes nothing that is decoded.
        assert damaged or data[1] == b"middle row of some length\n" * 9, at
        if damaged:
            assert damaged[0].offset == len(first)
            assert damaged[0].code


@pytest.mark.parametrize("junk", [b"\0" * 50, b"junk", b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfd" * 40, b"\x28\xb5"])
def test_junk_between_frames_is_accounted_and_skipped(junk):
    frames = walk(frame(b"a\n") + junk + frame(b"b\n"))
    assert [f.data for f in frames if f.kind == "data"] == [b"a\n", b"b\n"]
    assert sum(f.length for f in frames if f.kind != "data") == len(junk)
    assert not any(f.provisional for f in frames)


def test_a_frame_without_checksum_counts_in_the_chain_but_not_behind_junk():
    bare = frame(b"bare\n", checksum=False)
    assert [f.kind for f in walk(frame(b"a\n") + bare)] == ["data", "data"]
    frames = walk(b"junk" + bare + frame(b"b\n"))
    assert [f.data for f in frames if f.kind == "data"] == [b"b\n"]


def test_a_torn_frame_keeps_what_decodes():
    whole = frame(b"row one\nrow two\n")
    for cut in range(1, 5):
        (torn,) = walk(whole[:-cut])
        assert (torn.kind, torn.data, torn.provisional) == ("torn", b"row one\nrow two\n", True)
    for cut in range(5, len(whole)):
        (torn,) = walk(whole[:-cut])
        assert torn.kind == "torn"
        assert torn.code == "torn_tail"


def test_not_zstd_and_empty():
    (junk,) = walk(b"PK\x03\x04 this is no log")
    assert (junk.code, junk.provisional) == ("not_zstd", True)
    assert walk(b"") == []


def test_rle_bomb_is_refused_by_its_headers_alone():
    walker = FrameWalker(io.BytesIO(rle_bomb(1 << 30) + frame(b"good\n")), Limits())
    frames = list(walker)
    assert [(f.kind, f.code) for f in frames] == [("refused", "limit_frame"), ("data", "")]
    assert walker.decoder.decoded_in < 100


def test_compressed_bomb_stops_at_the_limit():
    bomb = frame(b"a bomb\n" * (8 << 20))
    frames = walk(bomb + frame(b"good\n"), SMALL)
    assert [f.code for f in frames] == ["limit_ratio", ""]
    assert [f.code for f in walk(bomb, Limits(frame_bytes=1 << 20))] == ["limit_frame"]


def test_a_declared_size_beyond_the_limit_is_refused():
    data = zstandard.ZstdCompressor().compress(b"\0" * (2 << 20))
    assert [f.code for f in walk(data, SMALL)] == ["limit_ratio"]
    lying = header(descriptor=0xC0 | 0x04) + struct.pack("<Q", 1 << 62) + block(0, 1, b"x", last=True) + b"1234"
    assert [f.kind for f in walk(lying + frame(b"good\n"))] == ["corrupt", "data"]


def test_a_huge_window_is_refused_when_it_could_be_needed():
    body = b"".join(block(1, 128 << 10, b"x") for _ in range(3)) + block(0, 1, b"y", last=True)
    assert [f.code for f in walk(header(window=0xF8, descriptor=0) + body)] == ["limit_window"]


def test_a_frame_that_needs_a_dictionary_is_refused():
    frames = walk(header(descriptor=0x01) + b"\x07" + block(0, 1, b"x", last=True) + frame(b"good\n"))
    assert [(f.kind, f.code) for f in frames] == [("refused", "dictionary"), ("data", "")]


def test_a_frame_too_long_to_hold_is_walked_and_refused():
    limits = Limits(frame_bytes=1 << 20)
    noise = bytes(range(256)) * 512
    blocks = [block(0, len(noise), noise, last=n == 31) for n in range(32)]
    frames = walk(header(descriptor=0) + b"".join(blocks) + frame(b"good\n"), limits)
    assert [(f.kind, f.code) for f in frames] == [("refused", "limit_frame"), ("data", "")]


def work(data: bytes) -> int:
    walker = FrameWalker(io.BytesIO(data), Limits())
    list(walker)
    return walker.decoder.decoded_in + walker.read_bytes + walker.resync_work


@pytest.mark.parametrize(
    "make",
    [
        lambda n: frame(b"a row of text\n" * 20) * n,
        lambda n: (frame(b"a row of text\n") + b"junk") * n,
        lambda n: b"\x28\xb5\x2f\xfd\x04\x58" * 40 * n,
        # every candidate is a long chain of blocks that ends in nothing
        lambda n: (b"\x28\xb5\x2f\xfd\x04\x58" + block(0, 8, b"12345678")) * 40 * n,
        lambda n: (frame(b"a row of text\n" * 20)[:-1] + b"?") * n,
    ],
    ids=["good", "junk between", "magic only", "open chains", "bad checksums"],
)
def test_work_is_linear_in_size(make):
    small, large = make(2_000), make(8_000)
    assert work(large) <= 4.5 * work(small) + (64 << 20)
    assert work(large) <= 40 * len(large) + (64 << 20)


def test_read_frame_by_its_place():
    data = frame(b"a\n") + frame(b"b\n")
    first = len(frame(b"a\n"))
    assert read_frame(io.BytesIO(data), first, len(data) - first) == b"b\n"
    for offset, length in ((0, first - 1), (1, first), (0, first + 1), (len(data), 5)):
        with pytest.raises(ValueError, match="byte"):
            read_frame(io.BytesIO(data), offset, length)
