"""CUBIC: the window is a cubic function of the time since the latest loss.

Source: Ha, Rhee and Xu, "CUBIC: a new TCP-friendly high-speed TCP variant" (ACM SIGOPS Operating Systems
Review 42(5), 2008) and RFC 8312, with the parameters and integer arithmetic of Linux 2.6.2x: no HyStart; the
window is in whole packets and grows by one per `cnt` ACKs; time is in ms and in 1/1024 s.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS

BETA, BETA_ONE = 819, 1024  # BETA / BETA_ONE is the share of the window kept after a loss
CUBE_RTT_SCALE = 410  # C = 410 / 1024 packets / s^3
CUBE_FACTOR = (1 << 40) // CUBE_RTT_SCALE  # K^3 [(s / 1024)^3] per packet below the maximum
CUBE_ROOT_BITS = 18  # bits of K [s / 1024], which is shorter than 256 s
MAX_OFFSET = 1 << CUBE_ROOT_BITS  # limit of |t - K| [s / 1024], so that the cube fits in 63 bits
BETA_SCALE = 23  # standard TCP with this BETA grows by a packet per 23/8 windows of ACKs
MAX_INCREMENT = 16  # maximum growth beyond the old maximum [packets per 0.1 s]
INITIAL_MAX_CNT = 50  # ACKs per packet of growth before the first loss
CNT_VALID_MS = 31  # validity of `_CNT` for an unchanged window [ms]
RTT_IGNORE_MS = 1000  # time after a loss in which RTT samples do not update `_DELAY_MIN` [ms]

# Words of memory; all are 0 at the start and after a timeout.
_CNT = 0  # ACKs per packet of growth (Linux: `cnt`)
_CWND_CNT = 1  # ACKs since the window grew (Linux: `snd_cwnd_cnt`)
_LAST_MAX_CWND = 2  # window at the latest loss, less with fast convergence [packets]
_LOSS_SEEN = 3  # 1 after a loss
_LAST_CWND = 4  # window for which `_CNT` was computed [packets]
_LAST_TIME = 5  # time at which `_CNT` was computed [ms]
_DELAYED_ACK = 6  # average packets per ACK, in sixteenths beyond 2 packets
_EPOCH_START = 7  # start of growth after a loss [ms]; 0: not yet
_ORIGIN_POINT = 8  # plateau of the cubic function [packets]
_K = 9  # time from the epoch to the plateau [s / 1024]
_DELAY_MIN = 10  # minimum RTT [ms / 8]; 0: unknown
_ACK_CNT = 11  # ACKs not yet counted in `_TCP_CWND`
_TCP_CWND = 12  # window of standard TCP in the same epoch [packets]
_WORDS = 13


def acked(packets: Any, memory: Any) -> None:
    """Update the average number of packets per ACK (Linux: `delayed_ack`)."""
    memory[_DELAYED_ACK] += packets - ((32 + int(memory[_DELAYED_ACK])) >> 4)


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the congestion window after an ACK of new data [packets]."""
    ms = now // MS + 1
    epoch = int(memory[_EPOCH_START])
    least = int(memory[_DELAY_MIN])
    if rtt > 0 and (epoch == 0 or ms - epoch >= RTT_IGNORE_MS):
        sample = max(rtt // MS * 8, 1)
        if least == 0 or sample < least:
            least = sample
            memory[_DELAY_MIN] = least
    if cwnd <= ssthresh:
        return cwnd + 1.0
    memory[_ACK_CNT] += 1.0
    if cwnd != memory[_LAST_CWND] or ms - int(memory[_LAST_TIME]) > CNT_VALID_MS:
        memory[_LAST_CWND] = cwnd
        memory[_LAST_TIME] = ms
        window = int(cwnd)
        if epoch == 0:
            epoch = ms
            memory[_EPOCH_START] = ms
            memory[_ACK_CNT] = 1.0
            memory[_TCP_CWND] = cwnd
            cube = max(int(memory[_LAST_MAX_CWND]) - window, 0) * CUBE_FACTOR
            root = 0
            for bit in range(CUBE_ROOT_BITS):
                more = root + (MAX_OFFSET >> (bit + 1))
                if more * more * more <= cube:
                    root = more
            memory[_K] = root
            memory[_ORIGIN_POINT] = max(memory[_LAST_MAX_CWND], cwnd)
        past = ((ms + (least >> 3) - epoch) << 10) // 1000 - int(memory[_K])
        away = min(abs(past), MAX_OFFSET)
        rise = (CUBE_RTT_SCALE * away * away * away) >> 40
        missing = int(memory[_ORIGIN_POINT]) + (rise if past >= 0 else -rise) - window
        every = window // missing if missing > 0 else 100 * window
        if past >= 0 and least > 0:
            every = max(every, window * 8000 // (10 * MAX_INCREMENT * least))
        if memory[_LOSS_SEEN] == 0.0:
            every = INITIAL_MAX_CNT
        acks = int(memory[_ACK_CNT])
        share = window * BETA_SCALE >> 3
        steps = (acks - 1) // share
        memory[_ACK_CNT] = acks - steps * share
        memory[_TCP_CWND] += steps
        behind = int(memory[_TCP_CWND]) - window
        if behind > 0:
            every = min(every, window // behind)
        memory[_CNT] = max((every << 4) // (32 + int(memory[_DELAYED_ACK])), 1)
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
        memory[_EPOCH_START] = 0.0
    return max(float(packets * BETA // BETA_ONE), 2.0)
