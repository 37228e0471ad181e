"""Convergence of the threads of a warp, and accesses to shared memory.

A change of an event loop that makes the lanes of a warp diverge, or that moves scratch out of shared memory,
changes no outcome but makes a model several times slower on a device. Running the PTX in lockstep shows both.
"""

from pathlib import Path

from tests.device.lockstep import LANES, SHARED, TRAFFIC
from tests.device.warps import L2_GB_S, run, scenario

LEAST = {
    "tcp_newreno": 0.65, "fluid": 0.7, "sctp": 0.6, "tcp_linux26_westwood": 0.45, "tcp_sack_cubic": 0.43,
    "shared_newreno": 0.29,
}  # fmt: skip
"""Least share of the issue slots that lanes use, by model, over a path with 0.1 % of loss (networks: the
first random one).  If one lane never reconverges with the others, the share is 0.05.
`docs/results/gpu.md` says why the last three stay below one half."""

MOST_PACKETS = {"tcp_newreno": 25, "tcp_sack": 15}
"""Minimum of the speed that the traffic between L1 and L2 allows with 14 warps at once [Gpacket/s].

The models have 31 and 18; with all their scratch in global memory they would have 10 and 7.
"""


def check(name: str, folder: Path) -> dict[str, float]:
    """Run the PTX of a model in lockstep; return the share of issue slots used, and the bound by traffic.

    Raises AssertionError if one is too small.  Returns nothing for a model without limits.
    """
    return {**used(name, folder), **bounded(name, folder)}


def used(name: str, folder: Path) -> dict[str, float]:
    """Return the share of the issue slots that lanes use."""
    if name not in LEAST:
        return {}
    ran = run(name, scenario(name, 2 * LANES, seconds=2.0, window=64, loss=0.001), folder, resident=2)
    assert ran.equal.all() and ran.packets > 1000, "outcomes in lockstep are not the CPU's"
    assert ran.efficiency > LEAST[name], f"lanes use {ran.efficiency:.2f} of the issue slots"
    return {"lanes": round(ran.efficiency, 3)}


def bounded(name: str, folder: Path) -> dict[str, float]:
    """Return the packets that the traffic between L1 and L2 allows [Gpacket/s]."""
    if name not in MOST_PACKETS:
        return {}
    ran = run(name, scenario(name, 14 * LANES, seconds=1.0, window=64, loss=0.001), folder)
    traffic = dict(zip(TRAFFIC, ran.counts.traffic.sum(axis=0).tolist(), strict=True))
    near = dict(zip(TRAFFIC, ran.counts.traffic[SHARED].tolist(), strict=True))
    assert ran.equal.all(), "outcomes in lockstep are not the CPU's"
    bound = L2_GB_S * ran.packets / (32 * (traffic["l2_reads"] + traffic["l2_writes"]))
    assert bound > MOST_PACKETS[name], f"L2 allows {bound:.0f} Gpacket/s"
    share = (near["loads"] + near["stores"]) / (traffic["loads"] + traffic["stores"])
    assert share > 0.6, f"{share:.0%} of the accesses are to shared memory"
    return {"l2_bound": round(bound, 1)}
