"""BIC: binary search for the window at the latest loss, and accelerating growth beyond it.

Source: Xu, Harfoush and Rhee, "Binary increase congestion control for fast long-distance networks" (INFOCOM
2004), with the parameters and integer arithmetic of Linux 2.6: the window is in whole packets and grows by
one per `cnt` ACKs; time is in ms.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS

MAX_INCREMENT = 16  # maximum growth [packets per round trip]
LOW_WINDOW = 14  # up to this window [packets] BIC is standard TCP
SMOOTH_PART = 20  # round trips spent in the search range near the old maximum
BICTCP_B = 4  # a step of the binary search covers 1 / BICTCP_B of the distance
BETA, BETA_ONE = 819, 1024  # BETA / BETA_ONE is the share of the window kept after a loss
INITIAL_MAX_CNT = 20  # maximum of ACKs per packet of growth before the first loss
CNT_VALID_MS = 31  # validity of `_CNT` for an unchanged window [ms]

# Words of memory; all are 0 at the start and after a timeout.
_CNT = 0  # ACKs per packet of growth (Linux: `cnt`)
_CWND_CNT = 1  # ACKs since the window grew (Linux: `snd_cwnd_cnt`)
_LAST_MAX_CWND = 2  # window at the latest loss, less with fast convergence [packets]
_LOSS_SEEN = 3  # 1 after a loss
_LAST_CWND = 4  # window for which `_CNT` was computed [packets]
_LAST_TIME = 5  # time at which `_CNT` was computed [ms]
_DELAYED_ACK = 6  # average packets per ACK, in sixteenths beyond 2 packets
_WORDS = 7


def acked(packets: Any, memory: Any) -> None:
    """Update the average number of packets per ACK (Linux: `delayed_ack`)."""
    memory[_DELAYED_ACK] += packets - ((32 + int(memory[_DELAYED_ACK])) >> 4)


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the congestion window after an ACK of new data [packets]."""
    if cwnd <= ssthresh:
        return cwnd + 1.0
    ms = now // MS
    if cwnd != memory[_LAST_CWND] or ms - int(memory[_LAST_TIME]) > CNT_VALID_MS:
        memory[_LAST_CWND] = cwnd
        memory[_LAST_TIME] = ms
        window = int(cwnd)
        every = window
        if window > LOW_WINDOW:
            below = int(memory[_LAST_MAX_CWND]) - window
            step = min(below // BICTCP_B, MAX_INCREMENT)
            if below > -BICTCP_B and step <= 1:  # near the maximum
                every = window * SMOOTH_PART // BICTCP_B
            elif below > 0:  # below the maximum
                every = window // step
            else:  # beyond the maximum, accelerating
                every = max(window * (BICTCP_B - 1) // -below, window // MAX_INCREMENT)
            if memory[_LOSS_SEEN] == 0.0:
                every = min(every, INITIAL_MAX_CNT)
            every = max((every << 4) // (32 + int(memory[_DELAYED_ACK])), 1)
        memory[_CNT] = every
    if memory[_CWND_CNT] < memory[_CNT]:
        memory[_CWND_CNT] += 1.0
        return cwnd
    memory[_CWND_CNT] = 0.0
    return cwnd + 1.0


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the window after a loss at `window` packets [packets]."""
    packets = int(window)
    if timeout:
        for word in range(_WORDS):
            memory[word] = 0.0
    else:
        lower = packets < memory[_LAST_MAX_CWND]  # fast convergence: release capacity to new flows
        memory[_LAST_MAX_CWND] = packets * (BETA_ONE + BETA) // (2 * BETA_ONE) if lower else packets
        memory[_LOSS_SEEN] = 1.0
        memory[_CWND_CNT] = 0.0
    if packets <= LOW_WINDOW:
        return max(float(packets // 2), 2.0)
    return max(float(packets * BETA // BETA_ONE), 2.0)
