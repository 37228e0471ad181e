"""What BBR v3 remembers: names of draft-ietf-ccwg-bbr; fixed point as in `bbr.words`."""

from enum import IntEnum, auto

from netcarlo.kernels.linux import pacing

UNBOUNDED = 1 << 40
"""A bandwidth, a volume or a time that is not bounded, or not known."""
BETA, LOSS_THRESH, HEADROOM = 70, 2, 15
"""In percent: what is kept after losses, that are too many, what is left to others."""


class Mode(IntEnum):
    """In the order of the draft's table."""

    STARTUP = 0
    DRAIN = 1
    PROBE_BW_DOWN = 2
    PROBE_BW_CRUISE = 3
    PROBE_BW_REFILL = 4
    PROBE_BW_UP = 5
    PROBE_RTT = 6


class AckPhase(IntEnum):
    """What the ACKs that come in tell of."""

    INIT = 0
    REFILLING = 1
    PROBE_STARTING = 2
    PROBE_FEEDBACK = 3
    PROBE_STOPPING = 4


class State(IntEnum):
    """Own words, behind those of pacing."""

    MODE = pacing.FREE
    ROUND_COUNT = auto()
    ROUND_START = auto()
    NEXT_ROUND_DELIVERED = auto()
    MAX_BW = auto()  # of the present cycle,
    LAST_MAX_BW = auto()  # and of the one before
    BW = auto()
    BW_LATEST = auto()
    BW_SHORTTERM = auto()
    INFLIGHT_LATEST = auto()
    INFLIGHT_SHORTTERM = auto()
    INFLIGHT_LONGTERM = auto()
    LOSS_ROUND_START = auto()
    LOSS_ROUND_DELIVERED = auto()
    LOSS_IN_ROUND = auto()
    LOSS_EVENTS_IN_ROUND = auto()  # ACKs of this round that told of losses
    RECOVERY_DELIVERED = auto()  # delivered when the recovery began
    FULL_BW = auto()
    FULL_BW_COUNT = auto()
    FULL_BW_NOW = auto()
    FULL_BW_REACHED = auto()
    DRAIN_START_ROUND = auto()
    ACK_PHASE = auto()
    CYCLE_STAMP = auto()  # [us]
    BW_PROBE_WAIT = auto()  # [us]
    ROUNDS_SINCE_PROBE = auto()
    PROBE_UP_ACKED_PER_INC = auto()
    PROBE_UP_ACKED = auto()
    PROBE_UP_ROUNDS = auto()
    IS_PROBE_SAMPLE = auto()
    PROBE_TOO_HIGH = auto()
    PROBE_PRECAUTIONARY = auto()
    MIN_RTT = auto()  # [us]
    MIN_RTT_STAMP = auto()
    PROBE_RTT_MIN = auto()
    PROBE_RTT_MIN_STAMP = auto()
    PROBE_RTT_EXPIRED = auto()
    PROBE_RTT_DONE_STAMP = auto()  # 0: too much is in flight yet
    PROBE_RTT_ROUND_DONE = auto()
    IDLE_RESTART = auto()
    EXTRA_ACKED_INTERVAL_START = auto()  # [us]
    EXTRA_ACKED_DELIVERED = auto()
    PRIOR_CWND = auto()
    PREV_CA_STATE = auto()  # of loss recovery, at the ACK before
    UNDO_STATE = auto()  # -1: none
    UNDO_BW_SHORTTERM = auto()
    UNDO_INFLIGHT_SHORTTERM = auto()
    UNDO_INFLIGHT_LONGTERM = auto()
    HAS_SEEN_RTT = auto()
    DRAWS = auto()
    STREAM = auto()
    # Of the sample.
    TX_IN_FLIGHT = auto()
    LOST = auto()


EXTRA_ACKED = int(State.LOST) + 1
"""The most packets acknowledged beyond the bandwidth, and the next candidates: six words."""
END = EXTRA_ACKED + 6
