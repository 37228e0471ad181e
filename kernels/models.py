"""The models by name: which transport one thread simulates."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc import datagrams as adhoc_datagrams
from netcarlo.kernels.adhoc import delays as adhoc_delays
from netcarlo.kernels.adhoc import engine as adhoc
from netcarlo.kernels.adhoc import flow as adhoc_flow
from netcarlo.kernels.adhoc import frames as adhoc_frames
from netcarlo.kernels.base import compile_time, one_flow
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Step, bind, is_lockstep, stacked
from netcarlo.kernels.base.layout import Failover, Messages, Out, P, Queues
from netcarlo.kernels.congestion import aimd, bic, cubic, defaults, linux_reno, linux_westwood, user, westwood
from netcarlo.kernels.fluid import cost as fluid_cost
from netcarlo.kernels.fluid import path as fluid_path
from netcarlo.kernels.fluid import sctp as fluid_sctp
from netcarlo.kernels.fluid import shared as fluid
from netcarlo.kernels.fluid.adhoc import datagrams as fluid_adhoc_datagrams
from netcarlo.kernels.fluid.adhoc import engine as fluid_adhoc
from netcarlo.kernels.fluid.adhoc import sender as fluid_adhoc_sender
from netcarlo.kernels.fluid.adhoc.reactions import Manner
from netcarlo.kernels.fluid.wireless import engine as fluid_wireless
from netcarlo.kernels.linux import association as linux_association
from netcarlo.kernels.linux import autotuning, reordered, timed
from netcarlo.kernels.linux import cubic as linux_cubic
from netcarlo.kernels.linux import messages as linux_messages
from netcarlo.kernels.linux import receiver as linux_receiver
from netcarlo.kernels.linux import recovery as linux_recovery
from netcarlo.kernels.linux import reno as linux_reno_today
from netcarlo.kernels.linux import sack as linux_sack
from netcarlo.kernels.linux import sender as linux_sender
from netcarlo.kernels.linux.bbr import control as bbr
from netcarlo.kernels.linux.bbr3 import control as bbr3
from netcarlo.kernels.linux.copies import STAMP_BITS
from netcarlo.kernels.linux.own import association as own_association
from netcarlo.kernels.linux.own import notes
from netcarlo.kernels.path import cost as path_cost
from netcarlo.kernels.path import datagrams, overtaking, undisturbed, undisturbed_linux
from netcarlo.kernels.path import engine as path
from netcarlo.kernels.path import state as path_state
from netcarlo.kernels.path.mobility import access
from netcarlo.kernels.path.multihomed import engine as multihomed
from netcarlo.kernels.sctp import association as sctp_association
from netcarlo.kernels.shared import cost as shared_cost
from netcarlo.kernels.shared import ends as shared_ends
from netcarlo.kernels.shared import engine as shared
from netcarlo.kernels.shared import hosts as shared_hosts
from netcarlo.kernels.shared import mixture
from netcarlo.kernels.shared import notes as notes_of_shared
from netcarlo.kernels.shared.layout import KINDS, LINUX_RENO
from netcarlo.kernels.shared.layout import outcomes as outcomes_of_shared
from netcarlo.kernels.shared.state import scratch_words as shared_scratch
from netcarlo.kernels.tcp import (
    acks,
    association,
    elfn,
    eln,
    linux26,
    new_probing,
    newreno,
    probing,
    reno,
    sack,
    sender,
    slots,
    tahoe,
    timer,
    vegas,
)
from netcarlo.kernels.tcp import state as tcp_state
from netcarlo.kernels.tcp.copies import COPY_BITS
from netcarlo.kernels.udp import sink
from netcarlo.kernels.wireless import by_kind
from netcarlo.kernels.wireless import cost as wireless_cost
from netcarlo.kernels.wireless import ends as wireless_ends
from netcarlo.kernels.wireless import engine as wireless
from netcarlo.kernels.wireless import host as wireless_host
from netcarlo.kernels.wireless.frame import COPY_SHIFT
from netcarlo.kernels.wireless.state import OWN_WORDS

VARIANTS = {"tahoe": tahoe, "reno": reno, "newreno": newreno, "sack": sack, "vegas": vegas}

PROBING = {"probing": probing, "new_probing": new_probing}
"""Variants that put out probe segments, for every network."""

ADHOC = {"elfn": elfn, "eln": eln}
"""Variants that need what the ad hoc engine alone tells them: broken links, errors."""

CONTROLS = {"bic": bic, "cubic": cubic, "westwood": westwood}
"""Congestion controls, besides the standard one, for every variant but vegas."""

LINUX26 = {"": linux_reno, "bic": bic, "cubic": cubic, "westwood": linux_westwood}
"""The Linux-like sender with its controls."""


LINUX = {"reno": linux_reno_today, "cubic": linux_cubic, "bbr": bbr, "bbr3": bbr3}
"""The sender of today's Linux with its controls, in the order of `shared.layout.LINUX_KINDS`."""


INLINED = sender, acks, timer, linux_sender, linux_receiver
"""Modules of the TCP whose steps become part of an engine that calls each of them from one place."""

RECOVERING = linux_recovery, linux_sack
"""The same where losses are the most that stretches leave to an engine."""


@dataclass(frozen=True)
class Model:
    """A simulation of one row, to be compiled for a target.

    `make(step)` returns `simulate(parameters, constants, first, second, losses, scratch, memory,
    out, trace) -> int`, compiled by `step` (`base.bind`); the arguments are one row's views of the five
    arrays of its rows (`base.rows`), int64 scratch and float64 memory as large as `scratch(rows)` tells,
    int64 of the length that `outcomes(rows)` tells and float64[T, len(Trace)], without rows when there is
    nothing to trace.  It returns the number of trace rows.
    """

    address: Address
    make: Callable[[Step], Any]
    scratch: Callable[[Any], tuple[int, int]]
    outcomes: Callable[[Any], int] = lambda rows: len(Out)
    dimensions: tuple[int, ...] = (2, 2, 4, 5, 2)
    """Of the five arrays of the rows."""
    window: Callable[[Any], Any] = lambda parameters: parameters[:, P.WINDOW]
    """The most packets in flight of rows with these parameters, by their windows [n]."""
    cost: Callable[[Any], Any] = lambda rows: rows.parameters[:, P.END].astype(float)
    """How long each of these rows takes, about, beside the others, float64[n]: see `base.cost`.  Unless the
    numbers of a row tell more: as long as it is observed."""
    apart: bool = False
    """No function writes words through one of its arguments and reads them through another: parts of
    scratch that two arguments have are different ones.  Compilers may keep words in registers then."""
    near: tuple[tuple[int, int], ...] = ()
    """Words of scratch [from, to) that are touched with every packet: a device has them at hand."""
    file: Path | None = None
    """The user's own, which compilers may refuse."""
    traced: "Model | None" = None
    """The same with a trace, where that is a model of its own."""

    @property
    def compile_s(self) -> float:
        """Processor time that compiling takes on the machine of the table, about [s]."""
        return compile_time.seconds(self.address)

    @property
    def name(self) -> str:
        """What it is called in messages and files."""
        if self.file is None:
            return self.address.name
        engine = "" if self.address.family == "path" else f"{self.address.engine}_"
        of = "_mobile" if self.address.mobile else "_aqm" if self.address.managed else ""
        of += ("_messages" if self.address.messages else "") + ("_tuned" if self.address.tuned else "")
        of += "_traced" if self.address.traced else ""
        return f"{engine}user_{self.file.stem}_{self.address.sender}{of}"


class Ends(NamedTuple):
    """What an engine drives at the ends of a flow."""

    slots: dict[str, Any]
    """What they fill in the engine and below it."""
    words: Callable[[Any, Any], Any] = lambda window, ring: 0
    """Of scratch, by window and ring."""
    floats: int = 0
    """Of float64 memory."""
    window: Callable[[Any], Any] = lambda parameters: parameters[:, P.WINDOW]
    """The most packets in flight over paths of rows with these parameters, by their windows [n]."""
    near: tuple[tuple[int, int], ...] = ()
    """Words that every packet touches, see `Model.near`; as `words` counts."""
    undisturbed: Any = None
    """The module that knows stretches of a path which nothing disturbs, where there is one."""


def _tcp(variant: Any, control: Any) -> Ends:
    found = {"association": association} | slots.of_sender(variant, control)
    words = functools.partial(slots.scratch_words, variant)
    near = tcp_state.near(found["variant"].NEAR, acks=found["sack"] or found["marks"])
    calm = None if found["stamps"] else undisturbed
    return Ends(found, words, association.FLOATS, near=near, undisturbed=calm)


SCTP = Ends(
    {"association": sctp_association, "first": 0, "pauses": False, "sack": True},
    sctp_association.scratch_words,
    sctp_association.FLOATS,
    lambda parameters: parameters[:, P.RWND] // (parameters[:, P.DATA] + parameters[:, P.CHUNK_HEADER]),
)


def _linux(control: Any) -> Ends:
    paced = hasattr(control, "connect")
    words = linux_association.paced_scratch_words if paced else linux_association.scratch_words
    found = {
        "association": linux_association, "control": control, "paced": paced,
        "hears": hasattr(control, "lost"), "first": 0, "pauses": False, "sack": True, "stamps": True,
        "widens": False, "tuned": False, "lingers": False,
    }  # fmt: skip
    return Ends(found, words, linux_association.FLOATS, undisturbed=None if paced else undisturbed_linux)


def _own_linux(own: Any) -> Ends:
    """Today's Linux with a user's control, which sets a rate, too."""
    ends = _linux(notes)
    found = ends.slots | {"own": stacked(own.__name__, defaults, own)} | _below_own(linux_association)
    return ends._replace(slots=found, floats=own_association.FLOATS)


def _below_own(base: Any) -> dict[str, Any]:
    """Return the slots of a user's control over an association of today's Linux."""
    return {"association": stacked("own", base, own_association), "base": base}


def _in_order(ends: Ends) -> dict[str, Any]:
    """The slots where nothing is overtaken: what is acknowledged tells all unless there are SACK blocks."""
    return ends.slots | {"plain": not ends.slots["sack"], "delays": False}


def _places(words: int) -> dict[str, Any]:
    """Where parts of a path are in scratch, around an association of so many words."""
    base = {"access_base": path_state.ACCESS, "hops_base": path_state.ASSOCIATION + words}
    return base | {"first_hop_apart": False}


def _kind_of_path(address: Address) -> dict[str, Any]:
    """The slots that say where packets overtake each other, whether hops vary, and how a queue's ties end."""
    mobile, reorders = address.mobile, address.reordering
    found: dict[str, Any] = {"mobile": mobile, "reorders": reorders, "overtakes": mobile or reorders}
    found |= {"flat": False, "lingers": True}  # unless the hosts say otherwise
    return found | {"varying": address.varying or reorders, "way": access if mobile else overtaking}


def _packets(window: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What rows of a path cost, of the most packets in flight."""
    return lambda rows: path_cost.cost(rows, window(rows.parameters))


def _of_failover(rows: Any) -> int:
    two_paths = (rows.parameters[:, P.N_PATHS] > 1).any()
    return Failover.COLUMNS if two_paths else 0


def _of_delays(address: Address) -> int:
    """Columns of outcomes that delays of one flow take, and words of scratch over paths."""
    return one_flow.WORDS if address.delays else 0


def _path(address: Address, ends: Ends, *, queues: bool = False) -> Model:
    def make(step: Step) -> Any:
        words, described = ends.slots["association"].WORDS, ends.slots["association"] is not association
        found: dict[str, Any] = _kind_of_path(address) | _places(words)
        found |= _in_order(ends) | {"described": described, "copied": False, "queues": queues}
        found |= {"messages": address.messages, "delays": address.delays}
        disturbed = found["overtakes"] or found["varying"] or is_lockstep(step)
        calm = None if disturbed else ends.undisturbed
        found |= {"calm": calm is not None, "undisturbed": calm}
        found |= {"first_hop_apart": is_lockstep(step) and not found["overtakes"]}
        more = () if calm is None else RECOVERING
        return bind(path.simulate, step, found, inlined=(*INLINED, *more))

    def scratch(rows: Any) -> tuple[int, int]:
        words = path.scratch_words(rows, ends.words, mobile=address.mobile, reorders=address.reordering)
        return words + _of_delays(address), ends.floats

    cost = _packets(ends.window)
    # Where packets overtake each other many places of the code call for a hop, and none is constant.
    overtakes, words = address.mobile or address.reordering, ends.slots["association"].WORDS
    near = () if overtakes else path_state.near(ends.near, words)
    columns = len(Out) + (len(Queues) if queues else 0) + (Messages.COLUMNS if address.messages else 0)
    columns += _of_delays(address)
    return Model(
        address, make, scratch, lambda rows: columns, window=ends.window, cost=cost,
        apart=True, near=near,
    )  # fmt: skip


def _multihomed(address: Address, ends: Ends) -> Model:
    def make(step: Step) -> Any:
        found = {"hops_base": multihomed.HOPS, "first_hop_apart": False, "queues": False}
        found |= {"delays": address.delays}
        return bind(multihomed.simulate, step, found | _kind_of_path(address))

    def scratch(rows: Any) -> tuple[int, int]:
        words, floats = multihomed.scratch_words(rows)
        return words + _of_delays(address), floats

    columns = len(Out) + _of_delays(address)
    return Model(
        address, make, scratch, lambda rows: columns + _of_failover(rows), window=ends.window,
        cost=_packets(ends.window), apart=True,
    )  # fmt: skip


def _datagrams(address: Address) -> Model:
    def make(step: Step) -> Any:
        found = {"queues": False, "delays": address.delays} | _kind_of_path(address) | _places(0)
        return bind(datagrams.simulate, step, found)

    def scratch(rows: Any) -> tuple[int, int]:
        words, floats = datagrams.scratch_words(rows, mobile=address.mobile, reorders=address.reordering)
        return words + _of_delays(address), floats

    columns = len(Out) + _of_delays(address)
    cost = _packets(lambda parameters: 1)
    return Model(address, make, scratch, lambda rows: columns, cost=cost, apart=True)


WIRELESS: dict[str, Any] = {
    "associated": True, "own_transports": False, "packet_shift": COPY_SHIFT + COPY_BITS,
    "hosts": wireless_host, "ends": wireless_ends,
}  # fmt: skip
"""The slots of the 802.11 engine beside those of the ends of its flows."""


def _asked(address: Address) -> dict[str, Any]:
    """The slots of the 802.11 engine that are filled if somebody asks for it."""
    return {"gauged": address.delays, "failing": address.varying}


def _wireless(address: Address, ends: Ends) -> Model:
    def make(step: Step) -> Any:
        return bind(wireless.simulate, step, WIRELESS | _asked(address) | ends.slots)

    def scratch(rows: Any) -> tuple[int, int]:
        return wireless.scratch_words(rows, ends.words, ends.floats)

    return Model(address, make, scratch, wireless.outcomes, (2, 2, 3, 2, 2), cost=wireless_cost.cost)


def _mixed_wireless(address: Address, own: Ends | None = None) -> Model:
    of_linux = [_timed(ends) for ends in _of_all_linux(address, own)]
    floats = max(association.FLOATS, *(ends.floats for ends in of_linux), 0)

    def make(step: Step) -> Any:
        found: dict[str, Any] = WIRELESS | {"own_transports": True} | _asked(address)
        found["packet_shift"] = COPY_SHIFT + (STAMP_BITS if of_linux else COPY_BITS)
        # Unlike shared links, 802.11 asks how long packets took.
        rest = mixture.of_sender(step) | {"association": association, "delays": True} | found
        if not of_linux:
            return bind(wireless.simulate, step, rest)
        others = {LINUX_RENO + k: ends.slots | found for k, ends in enumerate(of_linux)}
        return bind(wireless.simulate, step, rest | mixture.of_ends(step, others, rest, asked=by_kind.ASKED))

    def words(window: Any, ring: Any) -> Any:
        each = [slots.scratch_words(sack, window, ring), *(ends.words(window, ring) for ends in of_linux)]
        return functools.reduce(np.maximum, each) + OWN_WORDS

    def scratch(rows: Any) -> tuple[int, int]:
        return wireless.scratch_words(rows, words, floats)

    return Model(
        address, make, scratch, wireless.outcomes, (2, 2, 3, 2, 2), cost=wireless_cost.cost,
    )  # fmt: skip


def _adhoc(address: Address, ends: Ends) -> Model:
    def make(step: Step) -> Any:
        found: dict[str, Any] = {"hosts": adhoc_flow, "packet_shift": adhoc_frames.COPY_SHIFT + COPY_BITS}
        return bind(adhoc.simulate, step, found | ends.slots | {"delays": address.delays})

    def scratch(rows: Any) -> tuple[int, int]:
        words, floats = adhoc.scratch_words(rows, ends.words, ends.floats)
        return (words + adhoc_delays.WORDS if address.delays else words), floats

    def outcomes(rows: Any) -> int:
        return adhoc.outcomes(rows) + _of_delays(address)

    return Model(address, make, scratch, outcomes, (2, 2, 3, 4, 2))


def _shared(address: Address, ends: Ends) -> Model:
    def make(step: Step) -> Any:
        ahead = ends.slots["association"] is association and not (ends.slots["stamps"] or is_lockstep(step))
        ahead = ahead and not (address.managed or address.varying or address.traced)
        found = _in_order(ends) | {"hosts": shared_hosts, "ends": shared_ends, "ahead": ahead}
        found |= {"managed": address.managed, "arrivals": False, "varying": address.varying, "flat": True}
        found |= {"delays": address.delays, "traced": address.traced, "reorders": False}
        return bind(shared.simulate, step, found, inlined=INLINED)

    def scratch(rows: Any) -> tuple[int, int]:
        return _with_notes(address, shared_scratch(rows, ends.words, ends.floats))

    return Model(
        address, make, scratch, outcomes_of_shared, (2, 2, 3, 3, 2), cost=shared_cost.cost,
        traced=None if address.traced else _shared(address._replace(traced=True), ends),
    )  # fmt: skip


def _with_notes(address: Address, scratch: tuple[int, int]) -> tuple[int, int]:
    """Scratch of shared links, with room for the notes of a trace."""
    words, floats = scratch
    return (notes_of_shared.SHARE * words + notes_of_shared.SHARE if address.traced else words), floats


def _of_all_linux(address: Address, own: Ends | None) -> list[Ends]:
    """Return the ends of today's Linux with each of its controls, and with a user's, in the order of the
    kinds of flows."""
    found = [_linux(control) for control in LINUX.values()] if address.control == "linux" else []
    return found if own is None else [*found, own]


def _mixed(address: Address, own: Ends | None = None) -> Model:
    of_linux = _of_all_linux(address, own)
    of_linux = [_timed(ends) if address.delays else ends for ends in of_linux]

    def make(step: Step) -> Any:
        found: dict[str, Any] = {"association": association, "hosts": shared_hosts, "ends": shared_ends}
        more = {"arrivals": address.arrivals, "varying": address.varying}
        more |= {"delays": address.delays, "traced": address.traced, "reorders": False}
        ahead = not (address.managed or address.varying or address.traced or of_linux or is_lockstep(step))
        found |= {"managed": address.managed, "flat": True, "ahead": ahead} | mixture.of_sender(step) | more
        if of_linux:
            theirs = more | {"ahead": False}
            others = {LINUX_RENO + k: _in_order(ends) | theirs for k, ends in enumerate(of_linux)}
            found |= mixture.of_ends(step, others, found, INLINED)
        return bind(shared.simulate, step, found, inlined=INLINED)

    def words(window: Any, ring: Any) -> Any:
        each = [slots.scratch_words(sack, window, ring), *(ends.words(window, ring) for ends in of_linux)]
        return functools.reduce(np.maximum, each)

    floats = max(association.FLOATS, *(ends.floats for ends in of_linux), 0)

    def scratch(rows: Any) -> tuple[int, int]:
        return _with_notes(address, shared_scratch(rows, words, floats))

    return Model(
        address, make, scratch, outcomes_of_shared, (2, 2, 3, 3, 2), cost=shared_cost.cost,
        traced=None if address.traced else _mixed(address._replace(traced=True), own),
    )  # fmt: skip


def _fluid_path(address: Address) -> Model:
    kind = KINDS.index(address.control or address.sender)

    def make(step: Step) -> Any:
        found = {"kind": kind, "mobile": address.mobile, "delays": address.delays}
        return bind(fluid_path.simulate, step, found)

    def scratch(rows: Any) -> tuple[int, int]:
        words, floats = fluid_path.scratch_words(rows, mobile=address.mobile)
        return words + _of_delays(address), floats

    columns = len(Out) + _of_delays(address)
    return Model(address, make, scratch, lambda rows: columns, cost=fluid_cost.of_path)


def _fluid_sctp(address: Address) -> Model:
    def make(step: Step) -> Any:
        return bind(fluid_sctp.simulate, step, {"mobile": address.mobile})

    words = functools.partial(fluid_sctp.scratch_words, mobile=address.mobile)
    def columns(rows: Any) -> int:
        return len(Out) + _of_failover(rows)

    return Model(address, make, words, columns, cost=fluid_cost.of_path)


def _fluid_shared(address: Address) -> Model:
    def make(step: Step) -> Any:
        return bind(fluid.simulate, step, {"delays": address.delays})

    words = functools.partial(fluid.scratch_words, delays=address.delays)
    return Model(
        address, make, words, outcomes_of_shared, (2, 2, 3, 3, 2), cost=fluid_cost.of_shared,
    )  # fmt: skip


def _fluid_wireless(address: Address) -> Model:
    def make(step: Step) -> Any:
        return bind(fluid_wireless.simulate, step)

    return Model(
        address, make, fluid_wireless.scratch_words, wireless.outcomes, (2, 2, 3, 2, 2),
        cost=fluid_cost.of_wireless,
    )  # fmt: skip


def _timed(ends: Ends) -> Ends:
    """Today's Linux, which tells how long its packets take."""
    words = timed.paced_scratch_words if ends.slots["paced"] else timed.scratch_words
    association = stacked("timed", linux_association, timed)
    found = ends.slots | {"packet_shift": COPY_SHIFT + STAMP_BITS}
    found |= _below_own(association) if "own" in ends.slots else {"association": association}
    return ends._replace(slots=found, words=words)


def _reordered(ends: Ends) -> Ends:
    """Today's Linux, whose packets overtake each other."""
    association = stacked("reordered", ends.slots["association"], reordered)
    found = {"association": association, "widens": True}
    return ends._replace(
        slots=ends.slots | found | {"packet_shift": adhoc_frames.COPY_SHIFT + STAMP_BITS}
    )


def _messages(ends: Ends) -> Ends:
    """Today's Linux below an application that writes messages."""
    below, words = ends.slots["association"], ends.words
    found = {"association": stacked("messages", below, linux_messages), "below": below}
    return ends._replace(
        slots=ends.slots | found,
        words=lambda window, ring: words(window, ring) + linux_messages.more_words(ring),
    )


def _tuned(ends: Ends) -> Ends:
    """Today's Linux whose receiver's window grows; there are no stretches that know of that."""
    untuned, words = ends.slots["association"], ends.words
    found = {"association": stacked("tuned", untuned, autotuning), "untuned": untuned, "tuned": True}
    return ends._replace(
        slots=ends.slots | found, undisturbed=None,
        words=lambda window, ring: words(window, ring) + autotuning.ENTRY * ring,
    )  # fmt: skip


def _of_linux(address: Address, ends: Ends) -> Model:
    """Over paths, whose queues it tells, shared links, 802.11, or ad hoc networks."""
    if address.family == "wireless":
        return _wireless(address, _timed(ends))
    if address.family == "adhoc":
        return _adhoc(address, _reordered(_timed(ends) if address.delays else ends))
    if address.family == "shared":
        return _shared(address, _timed(ends) if address.delays else ends)
    if address.reordering:
        ends = ends._replace(slots=ends.slots | {"widens": True})
    ends = _timed(ends) if address.delays else ends
    ends = _tuned(ends) if address.tuned else ends
    ends = _messages(ends) if address.messages else ends
    return _path(address, ends, queues=not address.mobile)


MANNERS = {"probing": "newreno", "new_probing": "sack", "elfn": "newreno", "eln": "newreno"}
"""Senders that pause or are told, and whose windows they have."""


def _fluid_adhoc(address: Address) -> Model:
    kind = KINDS.index(MANNERS.get(address.sender, address.control or address.sender))
    manner = Manner[address.sender.upper() if address.sender in MANNERS else "PLAIN"]
    source = fluid_adhoc_datagrams if address.sender == "udp" else fluid_adhoc_sender

    def make(step: Step) -> Any:
        return bind(fluid_adhoc.simulate, step, {"source": source, "kind": kind, "manner": int(manner)})

    return Model(
        address, make, fluid_adhoc.scratch_words, adhoc.outcomes, (2, 2, 3, 4, 2),
    )  # fmt: skip


FAMILIES: dict[str, Callable[[Address, Ends], Model]] = {
    "path": _path,
    "wireless": _wireless,
    "adhoc": _adhoc,
    "shared": _shared,
}
"""How a model is made of what stands at the ends of its flows, in each kind of network."""

DATAGRAMS: dict[str, Ends] = {
    "wireless": Ends({"associated": False, "association": None}),
    "adhoc": Ends({"hosts": adhoc_datagrams}, lambda window, ring: sink.scratch_words(ring)),
}
"""Where the engines of TCP take UDP for ends of another kind."""


PATH = Address("path", "")
WAYS: tuple[dict[str, Any], ...] = ({}, {"mobile": True}, {"varying": True}, {"reordering": True})
"""Kinds of paths: to a fixed host, to a mobile one, whose hops vary, on which packets overtake each other;"""
PATHS = tuple(PATH._replace(delays=delays, **way) for delays in (False, True) for way in WAYS)
"""each without and with delays of data."""
LINKS: tuple[dict[str, Any], ...] = tuple(
    {"managed": managed, "varying": varying, "delays": delays}
    for managed, varying, delays in product((False, True), repeat=3)
)
"""Of shared networks: the fields of an address that may be either."""


CELLS: tuple[dict[str, Any], ...] = tuple(
    {"varying": varying, "delays": delays} for varying, delays in product((False, True), repeat=2)
)
"""Of 802.11 networks: the fields of an address that may be either."""
MANETS = tuple(Address("adhoc", "", delays=delays) for delays in (False, True))
"""Ad hoc networks."""
RADIO = *(Address("wireless", "")._replace(**asked) for asked in CELLS), *MANETS
"""Radio networks."""


def _tcps() -> Iterator[Model]:
    """The models of a TCP with a congestion control, in each network that has it."""
    for tcp, variant in {**VARIANTS, **PROBING, **ADHOC, "linux26": linux26}.items():
        controls = LINUX26 if tcp == "linux26" else {"": aimd, **CONTROLS}
        for name, control in controls.items():
            if tcp == "vegas" and name:
                continue
            ends = _tcp(variant, control)
            for family in ("adhoc",) if tcp in ADHOC else FAMILIES:
                yield FAMILIES[family](Address(family, tcp, name), ends)
                if family == "shared":
                    for links in LINKS[1:]:
                        yield _shared(Address(family, tcp, name)._replace(**links), ends)
                if family == "wireless":
                    for asked in CELLS[1:]:
                        yield _wireless(Address(family, tcp, name)._replace(**asked), ends)
                if family == "adhoc":
                    yield _adhoc(Address(family, tcp, name, delays=True), ends)
            for address in () if tcp in ADHOC else PATHS[1:]:
                yield _path(address._replace(sender=tcp, control=name), ends)


def _others() -> Iterator[Model]:
    for control, module in LINUX.items():
        for path_kind, writes, tuned in product(PATHS, (False, True), (False, True)):
            address = path_kind._replace(sender="linux", control=control, messages=writes, tuned=tuned)
            if not ((address.mobile and tuned) or (address.reordering and (writes or tuned))):
                yield _of_linux(address, _linux(module))
        for address in RADIO:
            yield _of_linux(address._replace(sender="linux", control=control), _linux(module))
        for links in LINKS:
            yield _of_linux(Address("shared", "linux", control)._replace(**links), _linux(module))
    for address in PATHS:
        one = _path if address.mobile or address.reordering else _multihomed
        yield one(address._replace(sender="sctp"), SCTP)
        yield _datagrams(address._replace(sender="udp"))
    for address in RADIO:
        yield FAMILIES[address.family](address._replace(sender="sctp"), SCTP)
        yield FAMILIES[address.family](address._replace(sender="udp"), DATAGRAMS[address.family])
    for linux, asked in product(("", "linux"), CELLS):
        yield _mixed_wireless(Address("wireless", "mixed", linux)._replace(**asked))
    for links in LINKS:
        yield _shared(Address("shared", "sctp")._replace(**links), SCTP)
        for linux, arrivals in product(("", "linux"), (False, True)):
            yield _mixed(Address("shared", "mixed", linux, arrivals=arrivals)._replace(**links))
    for mobile in (False, True):
        yield _fluid_sctp(Address("path", "sctp", mobile=mobile, fluid=True))
    for number in mixture.PARTS:
        for mobile, delays in ((False, False), (True, False), (False, True)):
            yield _fluid_path(Address("path", *_kind(number), mobile=mobile, fluid=True, delays=delays))
    for delays in (False, True):
        yield _fluid_shared(Address("shared", "mixed", fluid=True, delays=delays))
    yield _fluid_wireless(Address("wireless", "mixed", fluid=True))
    for kind in KINDS:
        sender, control = ("sack", kind) if kind in CONTROLS else (kind, "")
        yield _fluid_adhoc(Address("adhoc", sender, control, fluid=True))
    for sender in MANNERS:
        yield _fluid_adhoc(Address("adhoc", sender, fluid=True))


def _kind(number: int) -> tuple[str, str]:
    """Sender and congestion control of a kind of flow."""
    name = KINDS[number]
    return ("sack", name) if name in CONTROLS else (name, "")


MODELS = {model.name: model for model in (*_tcps(), *_others())}
NAMES = (
    *(f"tcp_{variant}{host}" for host in ("", "_mobile") for variant in VARIANTS),
    *("sctp", "sctp_mobile", "tcp_sack_bic", "tcp_sack_cubic", "tcp_sack_westwood", "tcp_linux26_westwood"),
    *("tcp_linux_reno", "tcp_linux_cubic", "tcp_linux_bbr", "tcp_linux_bbr3"),
    *("tcp_linux_cubic_messages", "tcp_linux_cubic_tuned", "tcp_newreno_delays"),
    *("wifi_udp", "wifi_sack", "wifi_sctp", "manet_newreno", "manet_sctp", "shared_mixed", "shared_sctp"),
    *("wifi_linux_bbr", "manet_linux_bbr", "shared_linux_bbr", "wifi_mixed", "wifi_sack_varying_delays"),
    "manet_newreno_delays",
    *("shared_newreno_aqm", "shared_newreno_varying", "shared_newreno_delays", "shared_mixed_arrivals"),
    *("fluid", "fluid_newreno", "fluid_sctp", "fluid_newreno_mobile", "fluid_sctp_mobile", "fluid_wifi"),
    "fluid_manet_newreno",
)
"""Those that tests compile for every target: of each engine with another congestion control, a few."""

_BY_ADDRESS = {model.address: model for model in MODELS.values()}


def model(name: str) -> Model:
    """The built-in model of this name, one of `MODELS`."""
    return MODELS[name]


def at(address: Address) -> Model:
    """The built-in model that is meant."""
    return _BY_ADDRESS[address]


def user_model(path: Path, content: bytes, address: Address) -> Model:
    """A model of TCP with the congestion control of a user's file with this content, see `user`.

    `address.sender` is its loss recovery; its `control` says nothing.  Raises ValueError, or what the file
    itself raises, when it cannot serve.
    """
    return _user_model(path, address if address.sender == "mixed" else address._replace(control=""), content)


@functools.cache
def _user_model(path: Path, address: Address, content: bytes) -> Model:
    if address.sender in ("linux", "mixed"):
        own = _own_linux(user.load(path, content, paced=True))
        mixed = {"shared": _mixed, "wireless": _mixed_wireless}
        model = mixed[address.family](address, own) if address.sender == "mixed" else _of_linux(address, own)
    else:
        variant = {**VARIANTS, **PROBING, **ADHOC, "linux26": linux26}[address.sender]
        model = FAMILIES[address.family](address, _tcp(variant, user.load(path, content)))
    traced = None if model.traced is None else replace(model.traced, file=path)
    return replace(model, file=path, traced=traced)
