"""Sources of datagrams at a constant rate, as far as their datagrams can stay in step."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Source(NamedTuple):
    """A source without jitter and without random times of silence."""

    name: str
    """What to call it."""
    field: str
    """The field of its jitter."""
    interval: int
    """From one datagram to the next [ns]."""
    start: int
    """When it sends its first datagram [ns]."""
    end: int
    """It sends nothing at or after [ns]."""
    queues: frozenset[Any]
    """The queues that its datagrams pass, by any name."""

    def meets(self, other: "Source") -> bool:
        """Whether datagrams of both come to one queue, with the same offset in each interval."""
        together = self.start < other.end and other.start < self.end
        return together and self.interval == other.interval and not self.queues.isdisjoint(other.queues)


def in_step(sources: Sequence[Source]) -> list[Source]:
    """The first source that meets others, and those; empty if none meet."""
    for k, source in enumerate(sources):
        if others := [other for other in sources[k + 1 :] if source.meets(other)]:
            return [source, *others]
    return []


def jitter_of(key: str, flows: Sequence[tuple[str, Any]], flow: Any) -> str:
    """The field of the jitter of a flow of datagrams; `flows` are the records of a network by name."""
    if flow.udp is None:
        return "transport.jitter"
    return next(f"{key}.{name}.udp.jitter" for name, record in flows if record is flow)
