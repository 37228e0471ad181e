"""Fixtures that are expensive to start, shared by the tests of a process."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Generic, TypeVar

T = TypeVar("T")


class Shared(Generic[T]):
    """One thing for all tests that need one. It is started anew only if the last test left it unusable."""

    def __init__(self, start: Callable[[], AbstractContextManager[T]], usable: Callable[[T], bool]) -> None:
        self._start, self._usable = start, usable
        self._open = ExitStack()
        self._found: list[T] = []

    def get(self) -> T:
        """Return what is shared, in a state in which a test can use it."""
        if self._found and not self._usable(self._found[0]):
            self.close()
        if not self._found:
            self._found.append(self._open.enter_context(self._start()))
        return self._found[0]

    def close(self) -> None:
        """End what is shared, if there is anything."""
        self._found.clear()
        self._open.close()
