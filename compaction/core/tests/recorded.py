"""The recorded sessions with the settings they ran with (`tests/data/settings/recorded.json`, taken from `record.py`)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compaction.core.replay import Check, Replay
from compaction.core.select import PruneConfig, Selection, prunable, select
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.header import Header
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.tests.core.logs import DATA, corpus_logs

SETTINGS = json.loads((DATA / "settings" / "recorded.json").read_text())
PROJECTIONS = json.loads((DATA / "settings" / "projections.json").read_text())
SHARED = DATA.parents[2] / "shared" / "dsh" / "corpus"
BIG = next(iter(SHARED.glob("big/sessions/*/*/session*.jsonl*")), None)
LOGS: list[tuple[str, Path]] = [(scenario, path) for scenario, path, _ in corpus_logs()]


def ran_with(scenario: str) -> dict[str, Any]:
    return SETTINGS.get(scenario) or SETTINGS["default"]


def limits(settings: dict[str, Any], window: int, reserve: int) -> tuple[int, int]:
    """Threshold and retained tail, written out once more from COMPACTION §2, apart from our own policy code."""
    headroom = settings.get("headroomTokens", 65536) or 0
    budget = window - reserve
    threshold = math.floor(min(window * settings.get("thresholdRatio", 0.8), budget - headroom))
    retain = settings["retainTokens"] if "retainTokens" in settings else math.floor(budget * 0.16)
    return threshold, retain


def events_of(path: Path) -> tuple[Header | None, list[Event]]:
    with path.open("rb") as source:
        reader = read_log(source)
        events = [event for batch in reader for event in batch.events]
        return reader.header, events


@dataclass
class Attempted:
    """What stood in the log and what we computed, for one compaction or one prune."""

    seq: int
    stated: tuple[Any, ...]
    computed: tuple[Any, ...]


@dataclass
class Told:
    """A replay with everything that was computed on the way."""

    replay: Replay
    events: list[Event]
    checks: list[tuple[Check, int, int]] = field(default_factory=list)  # with threshold and retain in force
    summaries: list[Attempted] = field(default_factory=list)
    prunes: list[Attempted] = field(default_factory=list)
    ranges: dict[int, Selection] = field(default_factory=dict)  # by seq of compaction/start
    overflowed: bool = False


def tell(scenario: str, path: Path) -> Told:
    settings = ran_with(scenario)["settings"]
    header, events = events_of(path)
    told = Told(Replay(), events)

    def force() -> tuple[int, int]:
        meter = told.replay.meter
        assert meter.window is not None
        assert meter.header is not None
        return limits(settings, meter.window, meter.header.max_tokens or 0)

    told.replay = Replay(lambda _, check: told.checks.append((check, *force())))
    told.replay.start(header)
    for event in events:
        _compare(told, event, force)
        told.replay.feed(event)
    return told


def _compare(told: Told, event: Event, force: Any) -> None:
    surface, body = told.replay.meter.surface, event.body
    if event.type == "assistant/attempt":
        told.overflowed = b"CONTEXT_WINDOW_EXCEEDED" in event.data
    elif event.type == "assistant/message":
        told.overflowed = False
    elif event.type == "compaction/start":
        whole = body["turn"] is None or told.overflowed
        told.ranges[event.seq] = select(list(surface), 0 if whole else force()[1])
    elif event.type in ("compaction/summary", "compaction/prune"):
        stated = (
            body["shadowedRange"]["start"], body["shadowedRange"]["end"], tuple(body["shadowedSeqs"]),
            body["shadowedTokenCount"],
        )  # fmt: skip
        if event.type == "compaction/summary":
            found = told.ranges[max(told.ranges)].range
            assert found is not None, f"{event.seq}: no range selected"
            computed = (found.start, found.end, found.seqs, found.tokens)
            told.summaries.append(Attempted(event.seq, stated, computed))
        else:
            node = prunable(surface, PruneConfig())[0]
            told.prunes.append(Attempted(event.seq, stated, (node.seq, node.seq, (node.seq,), node.tokens)))


def boundaries(told: Told) -> Iterator[list[tuple[Check, int, int]]]:
    """Looks at the pressure, those of one step boundary together."""
    group: list[tuple[Check, int, int]] = []
    for entry in told.checks:
        if group and not entry[0].again:
            yield group
            group = []
        group.append(entry)
    if group:
        yield group
