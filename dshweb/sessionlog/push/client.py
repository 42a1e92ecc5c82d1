"""One server, over HTTP: asks for sizes, sends pieces, and tells what can be mended by waiting from what cannot.

The token goes to the given server only: no redirect is ever followed. Proxies come from the environment (`HTTPS_PROXY`,
`NO_PROXY` …), certificates from the system (`SSL_CERT_FILE` …).
"""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError, LocationParseError, SSLError
from urllib3.util import Timeout, make_headers

CONNECT_SECONDS, READ_SECONDS = 10, 120
LONGEST_WAIT = 300.0
BUSY = (408, 425, 429)
MOVED = (301, 302, 303, 307, 308)


class Stop(Exception):
    """Nothing can be sent to this server as things are. The message says why, and what to do."""


class Later(Exception):
    """The same may work in a while; `wait` is how many seconds the server asked for, if it did."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Refused(Exception):
    """The server does not take this log. Others may go through."""


class Deleted(Exception):
    """The log was deleted on the server and is not wanted until somebody asks for it there."""


class Smaller(Exception):
    """Something on the way takes no piece of this size."""


class Elsewhere(Exception):
    """The piece does not fit: the server has `size` bytes of the log; `different` ones where we said what ours are."""

    def __init__(self, message: str, size: int, *, different: bool) -> None:
        super().__init__(message)
        self.size, self.different = size, different


@dataclass(frozen=True)
class There:
    """What the server has: `size` bytes, and the SHA-256 of the first `first` of them where it was asked for."""

    size: int
    first: int | None = None
    sha256: str | None = None


class Client:
    """`server` is its address, with a path when it does not stand at the root. Raises Stop for one that is none."""

    def __init__(self, server: str, token: str, team: str | None = None) -> None:
        try:
            self.parts = urlsplit(server.rstrip("/"))
            _port = self.parts.port
        except ValueError:
            raise Stop(f"--server {server!r} is no address; give one such as https://dshweb.example.org") from None
        if self.parts.scheme not in ("http", "https") or not self.parts.hostname or self.parts.query:
            raise Stop(f"--server {server!r} is no address; give one such as https://dshweb.example.org")
        if self.parts.username or self.parts.password:
            raise Stop("--server may not hold a name or a password; the token is what is sent")
        self.base = server.rstrip("/") + "/api/v1/logs/"
        self.team = team
        self._pool = _pool(self.parts.scheme, self.parts.hostname)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "User-Agent": "dshweb-push"}

    @property
    def unprotected(self) -> bool:
        """Whether token and logs would travel readable for others."""
        return self.parts.scheme == "http" and self.parts.hostname not in ("localhost", "127.0.0.1", "::1")

    def look(self, folder: str, name: str, first: int | None = None) -> There:
        answer = self._call("GET", folder, name, {"first": first})
        found = There(answer.get("size", -1), answer.get("first"), answer.get("sha256"))
        if not isinstance(found.size, int) or found.size < 0:
            raise Stop(f"{self._server} does not answer as a dshweb server of this version does")
        return found

    def put(self, folder: str, name: str, piece: bytes, *, offset: int, before: str, cut: bool = False) -> int:
        """Sends a piece; how much of the log is there then. Raises Elsewhere when it does not fit there."""
        query = {"offset": offset, "before": before if offset else None, "cut": "1" if cut else None}
        answer = self._call("PUT", folder, name, query, piece)
        size = answer.get("size")
        if size != offset + len(piece):
            raise Stop(f"{self._server} does not answer as a dshweb server of this version does")
        return int(size)

    @property
    def _server(self) -> str:
        return f"{self.parts.scheme}://{self.parts.netloc}"

    def _call(
        self, method: str, folder: str, name: str, query: dict[str, Any], body: bytes | None = None
    ) -> dict[str, Any]:
        given = {key: value for key, value in {**query, "team": self.team}.items() if value is not None}
        url = f"{self.base}{quote(folder, safe='')}/{quote(name, safe='')}?{urlencode(given)}"
        headers = self._headers | ({"Content-Type": "application/octet-stream"} if body is not None else {})
        timeout = Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        try:
            answer = self._pool.request(
                method, url, body=body, headers=headers, redirect=False, retries=False, timeout=timeout
            )
        except LocationParseError as error:
            raise Stop(f"{self._server}: {error}") from None
        except SSLError as error:
            raise _unsafe(self._server, error) from None
        except (HTTPError, OSError) as error:
            raise Later(f"{self._server} cannot be reached: {_words(error)}") from None
        return self._read(answer)

    def _read(self, answer: urllib3.BaseHTTPResponse) -> dict[str, Any]:
        status, problem = answer.status, _json(answer.data)
        message = str(problem.get("message") or f"the answer is {status}")
        if status == 200 and problem:
            return problem
        if status in MOVED:
            raise Stop(
                f"{self._server} redirects to {answer.headers.get('Location', '?')}; give that address as --server"
            )
        if status == 401:
            raise Stop(f"{self._server} does not accept the token: it is unknown, expired or revoked")
        if status == 403:
            raise Stop(f"{self._server} refuses: {message}")
        if status == 404:
            raise Stop(f"{self._server}{self.parts.path}: no dshweb there, or the team is not one of the token's")
        if status in BUSY or status >= 500 or problem.get("code") == "logs/cut-off":
            raise Later(f"{self._server}: {message}", _wait(answer.headers.get("Retry-After")))
        if status == 409 and isinstance(problem.get("detail"), dict):
            raise Elsewhere(
                message, int(problem["detail"].get("size", 0)), different=problem.get("code") == "logs/different"
            )
        if status == 410:
            raise Deleted(message)
        if status == 413 and (not problem or problem.get("code") == "logs/piece-too-large"):
            raise Smaller(f"{self._server}: no piece of this size is taken")
        if status in (400, 411, 413, 414, 422) and problem.get("code"):
            raise Refused(message)
        raise Stop(f"{self._server} does not answer as a dshweb server does ({status})")


def _pool(scheme: str, host: str) -> urllib3.PoolManager:
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return urllib3.PoolManager(maxsize=2)
    address = proxy if "://" in proxy else f"http://{proxy}"
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https"):
        raise Stop(f"the proxy of the environment ({parts.scheme}) is of a kind that is not supported; set NO_PROXY")
    login = f"{parts.username}:{parts.password or ''}" if parts.username else None
    plain = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    headers = make_headers(proxy_basic_auth=login) if login else None
    return urllib3.ProxyManager(plain, maxsize=2, proxy_headers=headers)


def _unsafe(server: str, error: SSLError) -> Exception:
    """A connection cut while it was being made secure is worth another try; a certificate that is wrong stays wrong."""
    cause = error.args[0] if error.args else error
    if isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError) or "EOF" in str(cause):
        return Later(f"{server} cannot be reached: the connection broke off")
    return Stop(f"{server} cannot be trusted: {_words(cause)}")


def _words(error: object) -> str:
    """What went wrong in an error of urllib3, which begins with the name of an object or hides the cause in itself."""
    inner = [arg for arg in getattr(error, "args", ()) if isinstance(arg, Exception)]
    text = str(inner[-1] if inner else error)
    for name in (">: ", "): "):
        text = text.rpartition(name)[2] or text
    return text or type(error).__name__


def _json(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _wait(text: str | None) -> float | None:
    """Seconds of a `Retry-After`; a date counts from the server's own clock, which we do not know: half a minute."""
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_WAIT)
    try:
        parsedate_to_datetime(text)
    except ValueError:
        return None
    return 30.0
