"""The process behind `manage.py serve`: web server and worker side by side, both or neither.

It is this small on purpose (no Django, granian's own main process in it): it lives as long as the product runs.
`serve` prepares the data folder and then becomes this program. Neither side is restarted silently: when one ends,
that is said and the other is stopped.
"""

from __future__ import annotations

import argparse
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

STOP_SECONDS = 25
ENDS = (signal.SIGINT, signal.SIGTERM)
MANAGE = Path(__file__).resolve().parent.parent / "manage.py"


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


class Both:
    """The web server in this process (and its workers), the task worker as a child."""

    def __init__(self, host: str, port: int, workers: int, note: str) -> None:
        from granian.constants import Interfaces
        from granian.log import LogLevels
        from granian.server import Server

        self.host, self.port, self.note = host, port, note
        self.failed = False
        self._hangup_stops = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
        self.ending = threading.Event()
        self.worker: subprocess.Popen[bytes] | None = None
        self.server = Server(
            "dshweb.wsgi:application",
            address=host,
            port=port,
            interface=Interfaces.WSGI,
            workers=workers,
            blocking_threads=4,
            runtime_blocking_threads=2,
            workers_kill_timeout=10,
            websockets=False,
            log_level=LogLevels.warning,
        )

    def run(self) -> int:
        """Serve until SIGINT or SIGTERM (0) or until one side ends by itself (1)."""
        self.server.on_startup(self._start_worker)
        os.register_at_fork(before=hold_signals, after_in_parent=release_signals, after_in_child=end_at_once)
        threading.Thread(target=self._announce, daemon=True).start()
        try:
            self.server.serve()
        except SystemExit as error:  # granian's way to say that a web worker ended
            if error.code and not self.failed:
                say("A web process ended by itself; stopping the worker.")
            self.failed = self.failed or bool(error.code)
        except (OSError, RuntimeError) as error:
            say(f"Cannot serve on {shown(self.host)}:{self.port}: {error}")
            self.failed = True
        finally:
            self.ending.set()
            self._stop_worker()
        say("Stopped.")
        return int(self.failed)

    def _start_worker(self) -> None:
        # granian would start its processes anew; a closed terminal means stop (unless started with nohup)
        signal.signal(signal.SIGHUP, self.server.signal_handler_interrupt if self._hangup_stops else signal.SIG_IGN)
        # a session of its own: Ctrl-C in a terminal reaches this process, which then stops the worker in order
        self.worker = subprocess.Popen(  # noqa: S603
            [sys.executable, str(MANAGE), "worker", "--with-parent"], stdin=subprocess.DEVNULL, start_new_session=True
        )
        threading.Thread(target=self._watch_worker, args=(self.worker,), daemon=True).start()

    def _watch_worker(self, worker: subprocess.Popen[bytes]) -> None:
        code = worker.wait()
        if not self.ending.is_set() and not self.server.interrupt_signal:
            self.failed = True
            say(f"The worker ended by itself ({ended(code)}); stopping the web server.")
            self.server.signal_handler_interrupt()

    def _stop_worker(self) -> None:
        if self.worker is None or self.worker.poll() is not None:
            return
        self.worker.terminate()
        try:
            self.worker.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"The worker did not end within {STOP_SECONDS} s; killed. Its task is taken up at the next start.")
            self.worker.kill()
            self.worker.wait()

    def _announce(self) -> None:
        """Say where it is once it answers there."""
        while not self.ending.is_set():
            if answers(self.host, self.port):
                say(self.note)
                return
            time.sleep(0.1)


def hold_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)


def release_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def end_before_it_serves() -> None:
    """From here on SIGINT and SIGTERM end this process on the spot, with nothing to say and nothing to undo.

    Not by an exception: raised while the interpreter runs a callback (a weak reference's, SQLite's) it would be
    swallowed, and the server would start although it had been told to end.
    """
    for number in ENDS:
        signal.signal(number, lambda *_: os._exit(0))


def end_at_once() -> None:
    """For a forked web worker: until it serves it would have inherited handlers that do nothing in it.

    In a session of its own, for Ctrl-C in a terminal is this process's to answer: a web worker that is told to end twice
    at once, by the terminal and by granian, hangs until it is killed.
    """
    os.setsid()
    for number in ENDS:
        signal.signal(number, signal.SIG_DFL)
    release_signals()


def shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def ended(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"


def answers(host: str, port: int) -> bool:
    """Whether `/healthz` answers. A wildcard address is asked on loopback."""
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    connection = http.client.HTTPConnection(target, port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": "localhost"})
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def free_port(host: str, port: int) -> tuple[str, int]:
    """The numeric address and the port to bind; port 0 becomes a free one.

    Raises OSError when the port is taken. Asked without SO_REUSEPORT, which granian uses: two servers started on one
    port would otherwise silently share it.
    """
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        bound = probe.getsockname()
    return str(bound[0]), int(bound[1])


def main() -> int:
    """`serve` held back the signals that end it while it became this program; from here on they end it in order."""
    end_before_it_serves()
    release_signals()
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--note-fd", type=int, required=True, help="what to say when it answers, read from this pipe")
    options = parser.parse_args()
    # glibc would keep a memory arena per thread in each web process
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    with os.fdopen(options.note_fd) as stream:
        note = stream.read()
    return Both(options.host, options.port, options.workers, note).run()


if __name__ == "__main__":
    sys.exit(main())
