"""The queue without a server: one file a message in the data folder, as a kombu transport.

kombu's own filesystem transport shows a message before it is written whole, moves taken ones to the system's
temporary folder and lists the folder anew for each message. Here a message appears by rename, is taken by rename (of
any number of workers one gets it) and the listing is used up before the next is made.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual
from kombu.utils.json import dumps, loads

SCHEME = "folder"
LONGEST_WAIT = 0.5  # seconds
_number = itertools.count()


class Channel(virtual.Channel):
    """Messages of `queue` are the files `<folder>/<queue>/<time>-<process>-<number>.msg`, oldest first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._listed: dict[str, list[Path]] = {}

    def _folder(self, queue: str) -> Path:
        folder = Path(self.connection.client.transport_options["folder"]) / queue.replace(os.sep, "_")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _messages(self, queue: str) -> list[Path]:
        return sorted(self._folder(queue).glob("*.msg"))

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        name = f"{time.time_ns():020d}-{os.getpid()}-{next(_number)}"
        draft = self._folder(queue) / f"{name}.draft"
        draft.write_text(dumps(message), encoding="utf-8")
        draft.rename(draft.with_suffix(".msg"))

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        listed = self._listed.get(queue) or self._messages(queue)
        self._listed[queue] = listed
        while listed:
            path = listed.pop(0)
            mine = path.with_suffix(f".taken-{os.getpid()}")
            try:
                path.rename(mine)
                text = mine.read_text(encoding="utf-8")
                mine.unlink()
                return loads(text)
            except (OSError, ValueError):
                continue  # another worker took it, or it is no message; its task row is found by `reclaim`
        raise Empty

    def _size(self, queue: str) -> int:
        return len(self._messages(queue))

    def _purge(self, queue: str) -> int:
        messages = self._messages(queue)
        for path in messages:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        return len(messages)


class Transport(virtual.Transport):
    Channel = Channel
    driver_type = driver_name = SCHEME
    implements = virtual.Transport.implements.extend(asynchronous=False, exchange_type=frozenset({"direct"}))
    # bindings live in the process: every publisher and worker declares the one queue before it uses it
    global_state = virtual.BrokerState()

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.state = self.global_state

    def drain_events(self, connection: Any, timeout: float | None = None, **more: Any) -> Any:
        """Celery waits two seconds for a message and is deaf to being told to end meanwhile."""
        return super().drain_events(connection, timeout=timeout and min(timeout, LONGEST_WAIT), **more)

    def driver_version(self) -> str:
        return "1"


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
