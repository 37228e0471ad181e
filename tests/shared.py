"""Fixtures that are expensive to start, shared by the tests of a process."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Generic, TypeVar

T = TypeVar("T")


class Shared(Generic[T]):
    """Fixture shared by all tests that need it; it is started again only if the last test left it
    unusable."""

    def __init__(self, start: Callable[[], AbstractContextManager[T]], usable: Callable[[T], bool]) -> None:
        self._start, self._usable = start, usable
        self._open = ExitStack()
        self._found: list[T] = []

    def get(self) -> T:
        """Return the shared fixture, in a usable state."""
        if self._found and not self._usable(self._found[0]):
            self.close()
        if not self._found:
            self._found.append(self._open.enter_context(self._start()))
        return self._found[0]

    def close(self) -> None:
        """End the shared fixture, if it was started."""
        self._found.clear()
        self._open.close()
