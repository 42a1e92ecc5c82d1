"""Text for the generated logs: English and Chinese words by Zipf, facts among them (paths, numbers, UUIDs, URLs).

Everything comes from one `random.Random`, so a seed gives the same bytes on every machine.
"""

from __future__ import annotations

import itertools
import random

STEMS = """
offset queue index cursor storage budget checkpoint schema retries timeout latency samples follower replica
exporter manifest header worker batch cache service snapshot archive commit backoff metrics partition policy
token record leader restore validates writes reads stream frame ledger bracket session surface shadow prune
merge shard lease route probe gauge counter trace span adapter gateway buffer parser cookie upload tenant
quota signal window segment column vector kernel socket thread future
""".split()  # noqa: SIM905
TAILS = (
    "",
    "s",
    "-id",
    "_count",
    "Map",
    "List",
    "_total",
    "Error",
    "er",
    "-v2",
    "_at",
    "Key",
    "Path",
    "Set",
    "_ms",
    "ing",
)
SMALL = """
the and of to in is it for on with that from by as this was be are at or an not has which when but
""".split()  # noqa: SIM905
UNITS = ("ms", "s", "MiB", "GiB", "KiB", "MB", "GB", "%", "px", "rows", "tokens", "次", "个", "毫秒", "条")
ENDINGS = ("py", "ts", "go", "rs", "json", "md", "yaml", "toml", "sql", "txt", "log", "html")


def _zipf(count: int) -> list[float]:
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))


class Text:
    """A source of words, phrases and facts. `facts` keeps what was given out since it was last emptied."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        words = [stem + tail for stem in STEMS for tail in TAILS]
        rng.shuffle(words)
        self._english = SMALL + words
        self._english_weights = _zipf(len(self._english))
        self._chinese = [chr(0x4E00 + point) for point in rng.sample(range(6000), 3500)]
        self._chinese_weights = _zipf(len(self._chinese))
        self._phrases = [self._phrase() for _ in range(12_000)]
        self.facts: list[str] = []

    def _phrase(self) -> str:
        if self.rng.random() < 0.2:
            marks = self.rng.choices(self._chinese, cum_weights=self._chinese_weights, k=self.rng.randint(8, 28))
            return "".join(marks) + self.rng.choice(",。;:")
        return " ".join(self.rng.choices(self._english, cum_weights=self._english_weights, k=self.rng.randint(5, 14)))

    def phrase(self) -> str:
        return self._phrases[int(self.rng.random() * 12_000)]

    def uuid(self) -> str:
        digits = f"{self.rng.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def path(self) -> str:
        pick = self.rng.choice
        return f"/srv/demo-app/{pick(STEMS)}/{pick(STEMS)}_{self.rng.randrange(400)}.{pick(ENDINGS)}"

    def number(self) -> str:
        whole = self.rng.randrange(2, 20_000)
        return f"{whole / 10 if whole % 3 == 0 else whole} {self.rng.choice(UNITS)}"

    def fact(self) -> str:
        kind = self.rng.random()
        if kind < 0.4:
            made = self.path()
        elif kind < 0.75:
            made = self.number()
        elif kind < 0.9:
            made = self.uuid()
        elif kind < 0.95:
            made = f"https://{self.rng.choice(STEMS)}.example.org/{self.rng.choice(STEMS)}/{self.rng.randrange(9999)}"
        else:
            made = f"{self.rng.getrandbits(160):040x}"
        self.facts.append(made)
        return made

    def sentence(self) -> str:
        return f"{self.phrase()} {self.fact()} {self.phrase()}" if self.rng.random() < 0.4 else self.phrase()

    def prose(self, size: int) -> str:
        """About `size` characters, one sentence a line."""
        parts: list[str] = []
        left = size
        while left > 0:
            part = self.sentence()
            parts.append(part)
            left -= len(part) + 1
        return "\n".join(parts)

    def listing(self, size: int) -> str:
        """About `size` characters of numbered lines, as a read or a search gives them; a fact in every fourth line."""
        parts: list[str] = []
        left, line = size, 0
        while left > 0:
            line += 1
            part = f"{line}: {self.phrase()} {self.fact()}" if line % 4 == 1 else f"{line}: {self.phrase()}"
            parts.append(part)
            left -= len(part) + 1
        return "\n".join(parts)
