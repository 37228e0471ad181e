"""Datagram sources at constant rates that can stay synchronised."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Source(NamedTuple):
    """A source with constant gaps and without random silent periods."""

    name: str
    """Name of the source in messages."""
    field: str
    """Field of the jitter of the source."""
    interval: int
    """Interval between datagrams [ns]."""
    start: int
    """Sending time of the first datagram [ns]."""
    end: int
    """End of the source, which sends nothing at or after this time [ns]."""
    queues: frozenset[Any]
    """Queues that the datagrams of the source pass, by any name."""

    def meets(self, other: "Source") -> bool:
        """Return True if datagrams of both sources share a queue with a constant offset between them."""
        together = self.start < other.end and other.start < self.end
        return together and self.interval == other.interval and not self.queues.isdisjoint(other.queues)


def synchronised(sources: Sequence[Source]) -> list[Source]:
    """Return the first source that is synchronised with others, followed by those; empty if there is none."""
    for k, source in enumerate(sources):
        if others := [other for other in sources[k + 1 :] if source.meets(other)]:
            return [source, *others]
    return []
