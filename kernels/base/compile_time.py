"""Processor time that compiling a model takes the first time: the only place where it is written down.

Measured on an idle core with `python -m tests.benchmarks.compile_times`.  Machines differ: `runtime.pace`
scales these times by what compilations on the user's machine took.
"""

from netcarlo.kernels.base.address import Address

SENDER_S = {
    "path": {"udp": 3.0, "sctp": 7.0, "linux": 13.0, "": 7.0},
    "shared": {"udp": 8.0, "sctp": 14.0, "linux": 22.0, "mixed": 26.0, "": 14.0},
    "wireless": {"udp": 8.0, "sctp": 13.0, "linux": 22.0, "mixed": 30.0, "": 12.0},
    "adhoc": {"udp": 10.0, "sctp": 16.0, "linux": 24.0, "": 14.0},
}
"""Seconds by kind of network and sender; the entry "" is for every other TCP."""

FLUID_S = {"path": 7.0, "shared": 6.0, "wireless": 8.0, "adhoc": 9.0}
"""Seconds of a fluid, by kind of network."""

OPTION = {
    "mobile": 1.5, "managed": 1.3, "arrivals": 1.2, "varying": 1.2, "messages": 1.2, "tuned": 1.2,
    "traced": 1.1, "delays": 1.1, "reordering": 1.2,
}  # fmt: skip
"""Factors of the options of an address."""

MIXED_LINUX = 3.0
"""Factor of a mixture that has today's Linux besides the other senders."""


def seconds(address: Address) -> float:
    """Return about how long compiling the model of this address takes [s]."""
    if address.fluid:
        found = FLUID_S[address.family]
    else:
        table = SENDER_S[address.family]
        found = table.get(address.sender, table[""])
    if address.sender == "mixed" and address.control == "linux":
        found *= MIXED_LINUX
    for option, factor in OPTION.items():
        found *= factor if getattr(address, option) else 1.0
    return found
