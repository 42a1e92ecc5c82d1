"""Files in multipart forms: streamed to the inbox at the upload addresses, from those who may; nothing is kept anywhere else.

Django takes files at every address, in any size, before a view or even the login is asked. This handler is the only one, so a
stranger's file, or one sent to another form, is read past and not stored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from dshweb.sessionlog.services import inbox
from dshweb.sessionlog.services.inbox import Incoming, Refused

ADDRESSES = ("/upload/", "/api/v1/logs")
FIELD = "file"


class ReceivedFile(UploadedFile):
    """A file that is on disk in the inbox. Closed with the request; what nobody accepted by then goes."""

    def __init__(self, incoming: Incoming, name: str) -> None:
        super().__init__(None, name, size=incoming.size)
        self.incoming = incoming

    def close(self) -> None:
        self.incoming.discard()


class ReceiveLogs(FileUploadHandler):
    """`request.refused_files` lists (name, Refused) of those that were not taken."""

    chunk_size = 256 << 10

    def handle_raw_input(
        self, input_data: Any, META: dict[str, Any], content_length: int, boundary: Any, encoding: str | None = None
    ) -> None:
        request: Any = self.request
        caller = getattr(request, "caller", None)
        self.incoming: Incoming | None = None
        self.taken: list[Incoming] = []
        self.refused: list[tuple[str, Refused]] = []
        request.refused_files = self.refused
        self.may = (
            request.path_info.rstrip("/") in [address.rstrip("/") for address in ADDRESSES]
            and caller is not None
            and any(caller.may_ingest(team) for team in caller.team_ids)
        )
        self.expected = content_length

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if not self.may or self.field_name != FIELD:
            raise SkipFile
        self.incoming = self._guarded(self._begin)

    def _begin(self) -> Incoming:
        """Room is asked for here, not at the form's beginning: only a file can be refused and the form still be read."""
        inbox.need_room(self.expected - sum(one.size for one in self.taken))
        incoming = Incoming()
        self.taken.append(incoming)
        return incoming

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        incoming = self.incoming
        if incoming is not None:
            self._guarded(lambda: incoming.write(raw_data))

    def _guarded(self, act: Any) -> Any:
        try:
            return act()
        except Refused as reason:
            self.refused.append((str(self.file_name), reason))
            self.incoming = None
            raise SkipFile from None

    def file_complete(self, file_size: int) -> ReceivedFile | None:
        incoming, self.incoming = self.incoming, None
        return None if incoming is None else ReceivedFile(incoming, str(self.file_name))

    def upload_complete(self) -> None:
        """A body that ended early looks like a whole one to the parser: its last file would be taken for all there is."""
        if cut_off(self.request):
            self.refused.append(("", inbox.cut_off()))
            self.upload_interrupted()

    def upload_interrupted(self) -> None:
        for incoming in self.taken:
            incoming.discard()


def cut_off(request: Any) -> bool:
    """Whether fewer bytes came than the request said."""
    stream = getattr(request, "_stream", None)
    return getattr(stream, "limit", 0) > getattr(stream, "_pos", 0)


# of the threads that serve pages in a process (dshweb.supervisor: four), how many may be busy with bodies of uploads
AT_ONCE = 2
PATIENCE_SECONDS = 2
_slots = threading.BoundedSemaphore(AT_ONCE)


class UploadsAtOnce:
    """Keeps threads free for pages: a body is read by the thread that serves it, for as long as its sender takes, or hangs.

    Whoever finds no place within two seconds is asked to come again: senders and the upload page do. A stranger's file is not
    even read.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        page, api = ADDRESSES
        if request.method not in ("POST", "PUT") or not request.path_info.startswith((page, api)):
            return self.get_response(request)
        if request.path_info.startswith(page) and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not _slots.acquire(timeout=PATIENCE_SECONDS):
            message = _("Too many uploads at once; nothing was kept. Try again in some seconds.")
            body = {"code": "logs/busy", "message": message}
            return JsonResponse(body, status=503, headers={"Retry-After": str(PATIENCE_SECONDS)})
        try:
            return self.get_response(request)
        finally:
            _slots.release()
