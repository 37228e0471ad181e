"""Work in other threads while the main one waits, so that Ctrl-C is heard.

Python hears signals in its main thread, between two steps of its own: a kernel is one step, however long it
takes, and so is LLVM at work.  Nothing can stop either, but nobody needs to wait for them: they run in daemon
threads.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

WAIT_S = 0.2
"""Seconds between two looks at what else the main thread has to do, where waiting cannot be interrupted."""


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def aside(work: Callable[[], T]) -> T:
    """What `work()` returns or raises; KeyboardInterrupt in the main thread leaves it behind."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    return next(each(lambda _: work(), [0], threads=1))


def each(work: Callable[[Any], T], items: Iterable[Any], *, threads: int) -> Iterator[T]:
    """What `work(item)` returns for every item, in the order in which they are done, on so many threads.

    The first error is raised here.  Whatever ends the iteration, no further item is begun, and those under
    way are left behind.
    """
    todo: SimpleQueue[Any] = SimpleQueue()
    done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
    for item in items:
        todo.put(item)
    count = todo.qsize()

    def serve() -> None:
        while not todo.empty():
            try:
                item = todo.get_nowait()
            except Empty:
                return
            try:
                done.put((work(item), None))
            except BaseException as error:
                done.put((None, error))
                return

    for _ in range(min(threads, count)):
        threading.Thread(target=serve, daemon=True, name="netcarlo").start()
    try:
        for _ in range(count):
            result, error = _next(done)
            if error is not None:
                raise error
            yield result  # type: ignore[misc]
    finally:
        while not todo.empty():
            try:
                todo.get_nowait()
            except Empty:
                break


def _next(done: SimpleQueue[T]) -> T:
    while True:
        try:
            return done.get(timeout=WAIT_S)
        except Empty:
            continue
