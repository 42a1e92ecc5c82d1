"""Downloads that are sent while they are being made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.http import StreamingHttpResponse

CSV = "text/csv; charset=utf-8"
JSONL = "application/x-ndjson"


def download(lines: Iterable[str], content_type: str, file_name: str) -> StreamingHttpResponse:
    """`lines` are gathered to pieces worth sending; nobody keeps them on the way."""
    response = StreamingHttpResponse(_pieces(lines), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    response["Cache-Control"] = "no-store"
    return response


def _pieces(lines: Iterable[str]) -> Iterator[bytes]:
    least = 1 << 12  # the first piece goes early
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line.encode("utf-8", "backslashreplace"))
        size += len(gathered[-1])
        if size >= least:
            yield b"".join(gathered)
            gathered, size, least = [], 0, 1 << 16
    if gathered:
        yield b"".join(gathered)
