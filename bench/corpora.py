"""The logs that the benchmarks run on, made from seeds and kept in a cache folder outside the checkout.

Shapes and sizes: L12 (2,500 frames, 33,111 events, 15.5 MB), L12C (the same with 10 compactions), L100 (20,000 frames,
264,986 events, 125.5 MB), D20 (a DSH home with 20 sessions, 103,900 events in 10,390 frames, 60.1 MB: brackets of turns
and steps, messages and tools, as the goal's own words and figures have it), D20S (as many events and bytes with every
streamed chunk as a row, like the recorded v0 log). Frames are as DSH writes them: the header alone in the first, then one
batch each; content checksum, no content size, window 2 MiB.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import zstandard

from bench.sessions import Rows, Session

VERSION = "3"  # part of the cache's name: raise it when the bytes change


@dataclass(frozen=True)
class Corpus:
    """`path` is the log, or the DSH home. Sizes in bytes, without the folder's other files."""

    name: str
    path: Path
    sessions: int
    frames: int
    events: int
    plain: int
    compressed: int
    compactions: int = 0


@dataclass(frozen=True)
class Shape:
    sessions: int
    frames: int
    events: int
    size: int
    compactions: int = 0
    streamed: bool = True


SHAPES = {
    "L12": Shape(1, 2_500, 33_111, 15_500_000),
    "L12C": Shape(1, 2_500, 33_111, 15_500_000, compactions=10),
    "L100": Shape(1, 20_000, 264_986, 125_500_000),
    "D20": Shape(20, 10_390, 103_900, 61_100_000, streamed=False),
    "D20S": Shape(20, 10_390, 103_900, 61_100_000),
}


def cache() -> Path:
    """The cache folder: $DSHWEB_BENCH_DIR, else a fixed name in the temporary folder."""
    return Path(os.environ.get("DSHWEB_BENCH_DIR") or Path(tempfile.gettempdir()) / f"dshweb-bench-{os.getuid()}")


def corpus(name: str) -> Corpus:
    """The corpus `name`, made now if it is not in the cache."""
    folder = cache() / f"{name}-{VERSION}"
    note = folder / "corpus.json"
    if not note.exists():
        # in a process of its own: what the bench measures of its children must not start from the bench's own pages
        subprocess.run(
            [sys.executable, "-m", "bench.corpora", name], check=True, cwd=Path(__file__).resolve().parents[1]
        )
    data = json.loads(note.read_text())
    return Corpus(**{**data, "path": folder / data["path"]})


def make(name: str) -> None:
    """Writes the corpus into the cache: all of it or nothing."""
    folder = cache() / f"{name}-{VERSION}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
    made = _make(name, work)
    (work / "corpus.json").write_text(json.dumps({**asdict(made), "path": str(made.path.relative_to(work))}))
    shutil.rmtree(folder, ignore_errors=True)
    work.rename(folder)


def _make(name: str, folder: Path) -> Corpus:
    shape = SHAPES[name]
    home = folder / "home"
    frames = events = plain = compressed = compactions = 0
    log = home
    for number in range(shape.sessions):
        session = Session(
            f"{name} {number}",
            events=shape.events // shape.sessions,
            size=shape.size // shape.sessions,
            compactions=shape.compactions,
            streamed=shape.streamed,
        )
        rows = session.make()
        # an odd number of frames over all sessions is dealt out one here, one there
        count = shape.frames * (number + 1) // shape.sessions - shape.frames * number // shape.sessions
        batches = cut(rows, count, random.Random(f"{name} {number} frames"))
        target = home / "sessions" / "--srv-demo-app--" / session.id
        target.mkdir(parents=True, mode=0o700)
        (target / "session.lock").touch()
        log = target / "session.jsonl.zstd"
        with log.open("wb") as stream:
            for batch in batches:
                stream.write(frame(batch))
        frames += len(batches)
        events += len(rows.rows)
        plain += sum(map(len, batches))
        compressed += log.stat().st_size
        compactions += rows.compactions
    path = log if shape.sessions == 1 else home
    return Corpus(name, path, shape.sessions, frames, events, plain, compressed, compactions)


def cut(rows: Rows, frames: int, rng: random.Random) -> list[bytes]:
    """Exactly `frames` batches: the header, then whole rows, cut where DSH flushes while there are such places."""
    last = len(rows.rows)
    places = sorted({place for place in rows.flushes if 0 < place < last})
    wanted = frames - 2
    if len(places) < wanted:
        others = sorted(set(range(1, last)) - set(places))
        places += rng.sample(others, wanted - len(places))
    edges = [0, *sorted(rng.sample(places, wanted)), last]
    batches = [b"".join(row + b"\n" for row in rows.rows[a:b]) for a, b in itertools.pairwise(edges)]
    return [rows.header + b"\n", *batches]


def frame(data: bytes) -> bytes:
    """One frame as DSH writes it: checksummed, size not in the header, window 2 MiB."""
    parameters = zstandard.ZstdCompressionParameters.from_level(
        3, window_log=21, write_checksum=True, write_content_size=False, write_dict_id=False
    )
    press = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return press.compress(data) + press.flush()


def slices(data: bytes) -> list[tuple[int, int]]:
    """(offset, length) of each frame of an intact log, by its structure alone. Given to the peers for free."""
    found = []
    at = 0
    while at < len(data):
        start, flags = at, data[at + 4]
        single, size_flag, checksum, dictionary = flags & 0x20, flags >> 6, flags & 4, flags & 3
        at += 5 + (0 if single else 1) + (0, 1, 2, 4)[dictionary] + ((1 if single else 0), 2, 4, 8)[size_flag]
        while True:
            block = int.from_bytes(data[at : at + 3], "little")
            at += 3 + (1 if (block >> 1) & 3 == 1 else block >> 3)
            if block & 1:
                break
        at += 4 if checksum else 0
        found.append((start, at - start))
    return found


if __name__ == "__main__":
    make(sys.argv[1])
