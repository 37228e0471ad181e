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


def interruptible(work: Callable[[], T]) -> T:
    """What `work()` returns or raises; KeyboardInterrupt in the main thread leaves it behind."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    return started(work)()


def started(work: Callable[[], T]) -> Callable[[], T]:
    """Begin `work()` on another thread; what is returned waits for what it returns or raises."""
    done: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def serve() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:
            done.put((None, error))

    def wait() -> T:
        result, error = _next(done)
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    threading.Thread(target=serve, daemon=True, name="netcarlo").start()
    return wait


def map_unordered(work: Callable[[Any], T], items: Iterable[Any], *, threads: int) -> Iterator[T]:
    """What `work(item)` returns for every item, in the order in which they are done, on so many threads.

    The first error is raised here.  Whatever ends the iteration, no further item is begun, and those under
    way are left behind.
    """
    todo: SimpleQueue[Any] = SimpleQueue()
    for item in items:
        todo.put(item)

    def serve() -> Iterator[T]:
        while True:
            try:
                item = todo.get_nowait()
            except Empty:
                return
            yield work(item)

    yield from merged([serve() for _ in range(min(threads, todo.qsize()))])


def merged(parts: Iterable[Iterator[T]]) -> Iterator[T]:
    """What these generators yield, in the order in which it comes; each runs on a thread of its own.

    The first error is raised here.  Whatever ends the iteration, each of them is closed when it next yields,
    and is not waited for.
    """
    done: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
    over = threading.Event()

    def serve(part: Any) -> None:
        try:
            for result in part:
                done.put((True, result))
                if over.is_set():
                    part.close()
            done.put((False, None))
        except BaseException as error:
            done.put((False, error))

    left = 0
    for part in parts:
        threading.Thread(target=serve, args=(part,), daemon=True, name="netcarlo").start()
        left += 1
    try:
        while left:
            more, result = _next(done)
            if more:
                yield result
            elif result is not None:
                raise result
            else:
                left -= 1
    finally:
        over.set()


def prefetched(items: Iterable[T]) -> Iterator[T]:
    """The same items; the next one is made on another thread while the last one is in use."""
    source, end = iter(items), object()
    wait = started(lambda: next(source, end))
    while (item := wait()) is not end:
        wait = started(lambda: next(source, end))
        yield item  # type: ignore[misc]


def _next(done: SimpleQueue[T]) -> T:
    while True:
        try:
            return done.get(timeout=WAIT_S)
        except Empty:
            continue
