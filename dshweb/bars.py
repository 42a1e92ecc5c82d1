"""Progress in a terminal: a bar where somebody looks, nothing where output goes to a file or a pipe."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from dshweb.text.lines import one_line

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """One line that follows whatever is being worked on. `show(what, done, total)` as often as you like."""

    def __init__(self, stream: TextIO, *, quiet: bool = False, size: bool = True) -> None:
        self._bar: Progress | None = None
        if not quiet and stream.isatty():
            self._bar = _progress(stream, size=size)
            self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Bar:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, what: object, done: int, total: int | None) -> None:
        if self._bar:
            self._bar.update(
                self._task, description=one_line(str(what))[-60:], completed=done, total=total, refresh=True
            )


def _progress(stream: TextIO, *, size: bool) -> Progress:
    # rich takes a while to import, and most runs have nobody who looks
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    amount = DownloadColumn() if size else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), amount, TimeRemainingColumn())
    # without a thread that draws by itself: processes are forked beside the bar (sessionlog.services.crew)
    return Progress(*columns, console=Console(file=stream), transient=True, auto_refresh=False)
