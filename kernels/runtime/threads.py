"""Work on other threads while the main thread waits, so that Ctrl-C is processed.

Python processes signals in its main thread, between two steps of the interpreter. A kernel, or a call of
LLVM, is one such step, however long it takes. Neither can be stopped, so both run in daemon threads, which
need not be awaited.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

WAIT_S = 0.2
"""Poll interval of the main thread on platforms on which waiting cannot be interrupted [s]."""


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def interruptible(work: Callable[[], T]) -> T:
    """Return the result of `work()` or raise its error; KeyboardInterrupt abandons it."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    return started(work)()


def started(work: Callable[[], T]) -> Callable[[], T]:
    """Start `work()` on another thread; return a function that waits for its result or error."""
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
    """Yield `work(item)` of every item in order of completion, on this number of threads.

    The first error is raised. When the iteration ends, no further item is started, and those in progress are
    abandoned.
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
    """Yield the results of several generators in order of completion, each on its own thread.

    The first error is raised. When the iteration ends, each generator is closed at its next result, without
    waiting.
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
    """Yield the items; compute the next one on another thread while the last one is in use."""
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
