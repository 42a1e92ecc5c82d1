"""A screenshot as a PNG with a palette of 256 colours: a third of its size, and on our flat pages no eye sees the difference.

The browser that took it decodes it and counts its colours, so no library of images is needed.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

# the most frequent colours, those that differ by less than an eye sees taken together, and for every pixel the nearest of them
COUNT = """async (shot) => {
  const image = await createImageBitmap(await (await fetch("data:image/png;base64," + shot)).blob());
  const { width, height } = image, canvas = new OffscreenCanvas(width, height), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const raw = new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer), counts = new Map(), taken = new Map();
  for (const one of raw) counts.set(one, (counts.get(one) || 0) + 1);
  const rgb = (one) => [one & 255, (one >> 8) & 255, (one >> 16) & 255];
  for (const [one] of [...counts].sort((a, b) => b[1] - a[1])) {
    const alike = rgb(one).map((part) => part >> 3).join();
    if (!taken.has(alike) && taken.size < 256) taken.set(alike, rgb(one));
  }
  const palette = [...taken.values()];
  const far = (a, b) => (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;
  const index = new Map([...counts.keys()].map((one) => {
    let best = 0;
    palette.forEach((other, n) => { if (far(rgb(one), other) < far(rgb(one), palette[best])) best = n; });
    return [one, best];
  }));
  const parts = [], named = (one) => index.get(one);
  for (let n = 0; n < raw.length; n += 8192) parts.push(String.fromCharCode(...raw.subarray(n, n + 8192).map(named)));
  return [width, height, palette.flat(), btoa(parts.join(""))];
}"""


def reduced(shot: bytes, page: Any) -> bytes:
    """The same PNG with a palette; `page` is an empty one, whose browser decodes it and counts its colours."""
    width, height, palette, rows = page.evaluate(COUNT, base64.b64encode(shot).decode())
    pixels = base64.b64decode(rows)
    lines = b"".join(b"\0" + pixels[at : at + width] for at in range(0, len(pixels), width))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", bytes(palette)), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
