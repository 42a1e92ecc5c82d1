"""What holds for every request and answer: who calls, how large a body may be, which headers an answer carries."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from dshweb.access.callers import caller_for_user

Next = Callable[[HttpRequest], HttpResponse]

# Powers of a browser that no page of ours needs; copying from a page is the one that is used.
PERMISSIONS = ", ".join(
    [f"{name}=()" for name in (
        "accelerometer", "camera", "clipboard-read", "display-capture", "geolocation", "gyroscope", "magnetometer",
        "microphone", "midi", "payment", "publickey-credentials-get", "screen-wake-lock", "serial", "usb",
    )] + ["clipboard-write=(self)", "fullscreen=(self)"]
)  # fmt: skip


class SecurityHeaders:
    """Headers that Django has no setting for, on everything that is answered: pages, API, static files, errors."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        answer.headers.setdefault("Permissions-Policy", PERMISSIONS)
        answer.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return answer


class Private:
    """Nothing that a view answers is kept by a proxy, nor shown from a browser's store without asking us again.

    A view that says more (`no-store`) or knows better keeps its word. Static files do not come by here.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        answer.headers.setdefault("Cache-Control", "private, no-cache")
        return answer


class BodyLimit:
    """Refuses a large body by its length, before anything reads it: forms are small, and only uploads are not.

    Django writes the files of a form to disk before it looks for the form's CSRF token. So what is larger than a form
    gets on only to the addresses that take logs (`settings.LARGE_BODIES`, which have limits of their own), and only
    from who is logged in or sends a token (the API looks at it before the body). A body without a length is read as
    empty by Django; who takes such bodies counts them itself.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not (length.isascii() and length.isdigit()) or (
            int(length[:19]) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE and not self._takes_more(request)
        ):
            return render(request, "413.html", status=413)
        return self.get_response(request)

    def _takes_more(self, request: HttpRequest) -> bool:
        if not request.path_info.startswith(settings.LARGE_BODIES):
            return False
        of_the_api = request.path_info.startswith("/api/")
        return request.user.is_authenticated or (of_the_api and "Authorization" in request.headers)


_strangers = threading.BoundedSemaphore(1)
STRANGER_SECONDS = 1.0


class StrangersInTurn:
    """Reads one stranger's form at a time in each process.

    A form is read by the thread that serves it, for as long as its sender takes or hangs: without this, as many stalled
    logins as there are threads would stop every page. The API refuses strangers before it reads (dshweb.api.auth).
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (
            request.method in ("GET", "HEAD", "OPTIONS")
            or request.user.is_authenticated
            or request.path_info.startswith("/api/")
        ):
            return self.get_response(request)
        if not _strangers.acquire(timeout=STRANGER_SECONDS):
            words = _("Too much came at once; nothing was changed. Try again in some seconds.")
            return HttpResponse(words, "text/plain; charset=utf-8", 503, headers={"Retry-After": "2"})
        try:
            return self.get_response(request)
        finally:
            _strangers.release()


class CallerMiddleware:
    """Puts `request.caller` on every request of a logged-in person, lazily: pages that need no rights cost no query."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user = request.user
        if user.is_authenticated:
            request.caller = SimpleLazyObject(lambda: caller_for_user(user))  # type: ignore[attr-defined]
        return self.get_response(request)
