"""One Zstandard frame at a time, decoded within limits with one reused decompressor. Rule: PERFORMANCE §1."""

from __future__ import annotations

from typing import Final

import zstandard

from .limits import Limits
from .zframe import Shape

READ_PIECE: Final = 1 << 20


class RefusedError(Exception):
    """A frame that is not decoded because of a limit."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class Decoder:
    """Decodes single frames within limits. `decoded_in` counts stored bytes handed to the decompressor."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.decoded_in = 0
        self._small = min(limits.frame_bytes, limits.ratio_floor, 1 << 20)
        self._zstd = zstandard.ZstdDecompressor()

    def admit(self, shape: Shape, stored: int) -> None:
        """Raise `RefusedError` when the headers alone show that the frame is out of bounds."""
        limits = self.limits
        if shape.dictionary:
            raise RefusedError("dictionary", f"needs dictionary {shape.dictionary}")
        if shape.window > limits.window_bytes and shape.window > shape.high:
            raise RefusedError("limit_window", f"window of {shape.window} bytes, limit {limits.window_bytes}")
        if shape.low > limits.frame_bytes:
            raise RefusedError("limit_frame", f"decodes to {shape.low} bytes or more, limit {limits.frame_bytes}")
        cap = limits.frame_cap(stored)
        if shape.low > cap:
            raise RefusedError("limit_ratio", f"{stored} bytes decode to {shape.low} or more, limit {cap}")

    def fast(self, buf: bytes, i: int, shape: Shape) -> bytes | None:
        """Decode the frame at `i` of `buf` if it is far below every limit and valid, else None (look closer)."""
        if shape.high > self._small or shape.window > self.limits.window_bytes or shape.dictionary:
            return None
        self.decoded_in += shape.end - i
        try:
            return self._zstd.decompress(buf[i : shape.end], max_output_size=shape.high or 1)
        except zstandard.ZstdError:
            return None

    def whole(self, piece: memoryview, shape: Shape) -> bytes:
        """Decode one complete frame, checksum included. Raises `RefusedError` or `zstandard.ZstdError`."""
        self.admit(shape, len(piece))
        if shape.high <= self.limits.frame_cap(len(piece)):
            self.decoded_in += len(piece)
            return self._zstd.decompress(piece, max_output_size=shape.high or 1)
        return self.prefix(piece)

    def prefix(self, piece: memoryview) -> bytes:
        """Decode as far as the bytes go, never beyond the cap. Same errors as `whole`."""
        cap = self.limits.frame_cap(len(piece))
        self.decoded_in += len(piece)
        out: list[bytes] = []
        total = 0
        with self._zstd.stream_reader(piece, closefd=False) as reader:
            while part := reader.read(READ_PIECE):
                total += len(part)
                if total > cap:
                    code = "limit_frame" if cap == self.limits.frame_bytes else "limit_ratio"
                    raise RefusedError(code, f"{len(piece)} bytes decode to more than {cap}")
                out.append(part)
        return b"".join(out)


def why(error: Exception) -> str:
    """The library's reason without its own prefix."""
    return str(error).rsplit("error: ", 1)[-1]
