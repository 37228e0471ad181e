"""Cache of results: when it is full, the least recently used ones are dropped first."""

from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

MOST = 200
"""Maximum number of entries."""
MOST_BYTES = 256 << 20
"""Maximum size of all entries [bytes]."""
ALWAYS_KEPT = 2
"""Number of entries that stay whatever their size: those of the two variants on the page."""

Value = TypeVar("Value")


class LruCache(Generic[Value]):
    """Mapping by name, bounded in entries and in bytes."""

    def __init__(
        self,
        size: Callable[[Value], int] = lambda value: 0,
        *,
        most: int = MOST,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._size, self._most, self._bytes = size, most, most_bytes
        self._entries: OrderedDict[str, Value] = OrderedDict()
        self._change = RLock()

    def get(self, name: str) -> Value | None:
        """Return an entry, or None. The entry counts as used."""
        with self._change:
            if name in self._entries:
                self._entries.move_to_end(name)
            return self._entries.get(name)

    def get_or_make(self, name: str, make: Callable[[], Value]) -> Value:
        """Return an entry, after making it where there is none, and drop the oldest entries beyond the
        bounds."""
        with self._change:
            found = self._entries.get(name)
            if found is None:
                found = self._entries[name] = make()
            self._entries.move_to_end(name)
            self.trim()
            return found

    def trim(self) -> None:
        """Drop the entries beyond the bounds; entries grow after they are made."""
        with self._change:
            sizes = {name: self._size(value) for name, value in self._entries.items()}
            total = sum(sizes.values())
            while len(self._entries) > ALWAYS_KEPT and (
                len(self._entries) > self._most or total > self._bytes
            ):
                name, _ = self._entries.popitem(last=False)
                total -= sizes[name]

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes(self) -> int:
        """Size of all entries [bytes]."""
        with self._change:
            return sum(self._size(value) for value in self._entries.values())
