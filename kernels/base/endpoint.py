"""Endpoint: the transport at both ends of a flow, as an engine uses it."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.bind import Slots, Step
from netcarlo.kernels.base.model import window_of
from netcarlo.kernels.base.parameters import Block


def no_words(window: Any, ring: Any) -> Any:
    """Return the words of an association that needs none."""
    return 0


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Sender and receiver of a flow."""

    blocks: tuple[Block, ...]
    """Blocks of parameters that the endpoint reads (`base.parameters`)."""
    slots: Callable[[Step], Slots] = lambda step: Slots()
    """Slots of the endpoint, for an engine and the modules below it."""
    words: Callable[[Any, Any], Any] = no_words
    """Words of scratch by window [packets] and ring."""
    state_words: int = 0
    """Words of scratch of the association without its rings."""
    floats: int = 0
    """Words of float64 memory."""
    window: Callable[[Any], Any] = window_of
    """Maximum packets in flight over a path of rows with these parameters [n]."""
    hot_words: tuple[tuple[int, int], ...] = ()
    """Ranges of words of the association that every packet accesses, see `Model.hot_words`."""
    transmission_bits: int = 4
    """Bits of a packet for the id of its transmission."""
    first: int = 0
    """Number of the first data packet: 1 after a handshake, else 0."""
    pauses: bool = False
    """True if the sender may pause and send probe segments."""
    typed_packets: bool = False
    """True if packets carry their type, and the receiver has timers of its own."""
    one_way: bool = False
    """True if nothing is acknowledged or retransmitted (UDP)."""
    arrival_before_departure: bool = True
    """True if a packet that departs at the time of an arrival is still in the queue, as in ns-2."""
    has_fast_path: bool = False
    """True if the engine of paths has a fast path for this sender (`path.fast_path`)."""
    lookahead: bool = False
    """True if the engine of shared links may process its events early (`shared.lookahead`)."""
    inlined: tuple[ModuleType, ...] = ()
    """Modules whose functions become part of an engine, which calls each of them from one place."""
    inlined_with_fast_path: tuple[ModuleType, ...] = ()
    """Further such modules, for use beside a fast path, which leaves mostly losses to the engine."""
