"""The transport at the ends of a flow, as an engine drives it."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.bind import Slots, Step
from netcarlo.kernels.base.model import window_of


def no_words(window: Any, ring: Any) -> Any:
    """Return the words of an association that needs none."""
    return 0


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A sender and its receiver."""

    slots: Callable[[Step], Slots] = lambda step: Slots()
    """The slots that they fill in an engine and below it."""
    words: Callable[[Any, Any], Any] = no_words
    """Words of scratch by window and ring."""
    state_words: int = 0
    """Words of scratch of the association without its rings."""
    floats: int = 0
    """Words of float64 memory."""
    window: Callable[[Any], Any] = window_of
    """Most packets in flight over a path of rows with these parameters [n]."""
    hot_words: tuple[tuple[int, int], ...] = ()
    """Words of the association that every packet touches, see `Model.hot_words`."""
    transmission_bits: int = 4
    """Bits of a packet that tell its copies apart."""
    first: int = 0
    """Number of the first data packet: 1 after a handshake, else 0."""
    pauses: bool = False
    """True if the sender may pause and send probe segments."""
    typed_packets: bool = False
    """True if packets carry their type, and the receiver has timers of its own."""
    one_way: bool = False
    """True if nothing is acknowledged or retransmitted: datagrams."""
    arrival_before_departure: bool = True
    """True if a packet that leaves a queue at the time of an arrival is still counted in it, as in ns-2."""
    has_fast_path: bool = False
    """True if the fast path of a path's engine (`path.fast_path`) knows this sender."""
    lookahead: bool = False
    """True if the engine of shared links may process its events early (`shared.lookahead`)."""
    inlined: tuple[ModuleType, ...] = ()
    """Modules whose steps become part of an engine that calls each of them from one place."""
    inlined_with_fast_path: tuple[ModuleType, ...] = ()
    """Further modules of that kind where losses are most of what the fast path leaves to the engine."""
