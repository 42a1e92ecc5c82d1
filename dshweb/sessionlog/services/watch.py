"""Follows folders: what is written there is brought in within a second or so.

Notifications (watchfiles) say where to look; a walk every WATCH_POLL_SECONDS finds what they miss (network drives, folders that appear
later, full queues). Both only compare stat values with those last seen, so a notification too many costs nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

from watchfiles import watch

from dshweb.sessionlog.services.discover import find_logs
from dshweb.sessionlog.services.files import Stat

log = logging.getLogger(__name__)

DEBOUNCE_MS = 150


class Folders:
    """Logs below some paths, and what they looked like when last asked."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = list(paths)
        self._seen: dict[Path, Stat] = {}

    def there(self) -> bool:
        """Whether every path is."""
        return all(path.exists() for path in self.paths)

    def changed(self) -> list[Path]:
        """Logs that are new or look different since the last call; a path that is not there (any more) has none."""
        found: list[Path] = []
        for path in self.paths:
            try:
                found.extend(find_logs(path).logs)
            except FileNotFoundError:
                continue
        news = []
        for path in found:
            try:
                stat = Stat.of(path)
            except OSError:
                continue
            if self._seen.get(path) != stat:
                self._seen[path] = stat
                news.append(path)
        return news


def follow(
    paths: Sequence[Path], on_change: Callable[[list[Path]], None], *, poll_seconds: int, stop: Event,
    then: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Calls `on_change` with the logs that changed until `stop` is set. Starts with nothing seen: the first call names all.

    `then` is called at each wake-up, whether something changed or not.
    """
    folders = Folders(paths)
    for _wake_up in _wake_ups(paths, poll_seconds=poll_seconds, stop=stop):
        changed = folders.changed()
        if changed:
            on_change(changed)
        then()


def _wake_ups(paths: Sequence[Path], *, poll_seconds: int, stop: Event) -> Iterator[None]:
    """One item at once, then one for each notification or poll."""
    yield None
    while not stop.is_set():
        there = [path for path in paths if path.exists()]
        if not there:
            stop.wait(poll_seconds)
            yield None
            continue
        try:
            for _changes in watch(
                *there, stop_event=stop, debounce=DEBOUNCE_MS, step=50, rust_timeout=poll_seconds * 1000,
                yield_on_timeout=True, raise_interrupt=True, recursive=True, ignore_permission_denied=True,
            ):  # fmt: skip
                yield None
                if any(path.exists() for path in paths if path not in there):
                    break
        except (
            OSError,
            RuntimeError,
            UnicodeError,
        ) as error:  # e.g. no inotify watches left: polling alone still works
            log.warning("notifications are not available (%s); looking every %s s", error, poll_seconds)
            stop.wait(poll_seconds)
            yield None
