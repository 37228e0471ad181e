"""Turns of requests that take long: a few run at a time, and none whose client has gone."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from netcarlo.live.desk import GoneError

AT_ONCE = 2
"""Files that are made at the same time."""
WAITING = 8
"""Requests that may wait for their turn."""
LOOK_S = 0.05


class BusyError(Exception):
    """Error of a request that is refused because too many wait already."""


def gone(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """Return a function that says whether the client of a WSGI request has closed its connection."""
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


class Turns:
    """Places for requests, handed out one by one."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._places = threading.Semaphore(at_once)
        self._queue = threading.Semaphore(at_once + waiting)

    @contextmanager
    def turn(self, is_gone: Callable[[], bool]) -> Iterator[None]:
        """Hold a place.  Raises BusyError if too many wait, GoneError if the client leaves while it waits."""
        if not self._queue.acquire(blocking=False):
            raise BusyError
        try:
            while not self._places.acquire(timeout=LOOK_S):
                if is_gone():
                    raise GoneError
            try:
                yield
            finally:
                self._places.release()
        finally:
            self._queue.release()


def checking(is_gone: Callable[[], bool]) -> Callable[..., None]:
    """Return a progress callback that raises GoneError once the client has left; it looks now and then."""
    looked = [0.0]

    def check(*_: object) -> None:
        now = time.monotonic()
        if now - looked[0] >= LOOK_S:
            looked[0] = now
            if is_gone():
                raise GoneError

    return check
