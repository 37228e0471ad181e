"""Limit on concurrent slow requests. A request whose client has disconnected is not served."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from netcarlo.live.scheduler import AbandonedError

AT_ONCE = 2
"""Maximum number of requests that run at the same time."""
WAITING = 8
"""Maximum number of requests in the queue."""
LOOK_S = 0.05
"""Time between two tests for a closed connection [s]."""


class BusyError(Exception):
    """Error of a request that is refused because the queue is full."""


def client_gone(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """Return a function that returns True once the client of a WSGI request has closed its connection."""
    connection: socket.socket | None = environ.get("werkzeug.socket")

    def asked() -> bool:
        if connection is None:
            return False
        try:
            return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    return asked


class RequestLimiter:
    """Limit on the number of requests that run at the same time, with a bounded queue."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._places = threading.Semaphore(at_once)
        self._queue = threading.Semaphore(at_once + waiting)

    @contextmanager
    def admit(self, is_gone: Callable[[], bool]) -> Iterator[None]:
        """Run the body within the limit.

        Raises BusyError if the queue is full, AbandonedError if the client disconnects while it waits.
        """
        if not self._queue.acquire(blocking=False):
            raise BusyError
        try:
            while not self._places.acquire(timeout=LOOK_S):
                if is_gone():
                    raise AbandonedError
            try:
                yield
            finally:
                self._places.release()
        finally:
            self._queue.release()


def disconnection_check(is_gone: Callable[[], bool]) -> Callable[..., None]:
    """Return a progress callback that raises AbandonedError once the client has disconnected.

    It tests the connection at most every `LOOK_S` seconds.
    """
    looked = [0.0]

    def check(*_: object) -> None:
        now = time.monotonic()
        if now - looked[0] >= LOOK_S:
            looked[0] = now
            if is_gone():
                raise AbandonedError

    return check
