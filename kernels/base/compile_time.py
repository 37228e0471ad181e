"""Table of the processor time that compiling a model takes the first time.

The unit is processor seconds of a virtual AMD EPYC, measured with `python -m tests.campaigns compile_times`
beside other work. `runtime.compile_speed` scales these times by earlier compilations on the user's machine.
"""

from netcarlo.kernels.base.address import Address

SENDER_S = {
    "path": {"udp": 3.3, "sctp": 8.5, "quic": 9.5, "mptcp": 16.0, "linux": 14.0, "": 8.0},
    "shared": {"udp": 8.0, "sctp": 12.5, "quic": 13.0, "linux": 17.5, "mixed": 21.0, "": 11.0},
    "wireless": {"udp": 7.7, "sctp": 13.2, "quic": 14.0, "linux": 18.2, "mixed": 18.2, "": 11.9},
    "adhoc": {"udp": 11.3, "sctp": 15.0, "quic": 15.5, "linux": 18.7, "": 13.3},
}
"""Compile time by kind of network and sender [s]; the entry "" is for every other TCP."""

FLUID_S = {"path": 4.0, "shared": 4.6, "wireless": 5.4, "adhoc": 8.1}
"""Compile time of a fluid model, by kind of network [s]."""

OPTION = {
    "mobile": 1.25, "aqm": 1.05, "arrivals": 1.0, "varying": 1.0, "messages": 1.15, "autotuning": 1.0,
    "traced": 1.1, "delays": 1.0, "reordering": 1.1, "large": 1.1,
}  # fmt: skip
"""Factors of the options of an address."""

UNMEASURED_S = 10.0
"""Compile time of a model of a kind of network that is not in these tables [s]."""

MIXED_LINUX = 2.5
"""Factor for heterogeneous flows that include today's Linux."""


def seconds(address: Address) -> float:
    """Return the approximate compile time of the model of this address [s]."""
    if address.fluid:
        found = FLUID_S.get(address.family, UNMEASURED_S)
    else:
        table = SENDER_S.get(address.family, {"": UNMEASURED_S})
        found = table.get(address.sender, table[""])
    if address.sender == "mixed" and address.control == "linux":
        found *= MIXED_LINUX
    for option, factor in OPTION.items():
        found *= factor if getattr(address, option) else 1.0
    return found
