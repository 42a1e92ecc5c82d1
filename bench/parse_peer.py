"""The peer of P9, run by the peers' own interpreter: decode a log frame by frame and parse every line with orjson; prints seconds."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import orjson
import zstandard

from bench.corpora import slices


def main() -> None:
    data = Path(sys.argv[1]).read_bytes()
    cuts = slices(data)
    start = time.perf_counter()
    decompress = zstandard.ZstdDecompressor().decompress
    count = 0
    for at, length in cuts:
        for line in decompress(data[at : at + length], max_output_size=1 << 22).split(b"\n"):
            if line:
                orjson.loads(line)
                count += 1
    print(f'{{"seconds": {time.perf_counter() - start}, "rows": {count}}}')


if __name__ == "__main__":
    main()
