"""State of BBR version 3, with the names of draft-ietf-ccwg-bbr; fixed-point numbers as in `bbr.state`."""

from enum import IntEnum, auto

from netcarlo.kernels.linux import pacing

UNBOUNDED = 1 << 40
"""Bandwidth, volume or time that is unbounded or unknown."""
BETA, LOSS_THRESH, HEADROOM = 70, 2, 15
"""Percentages: bandwidth and volume kept after losses (BBR.Beta), lost packets above which too many are in
flight (BBR.LossThresh), and the share of the long-term bound left to other flows (BBR.Headroom)."""


class Mode(IntEnum):
    """State of BBR, in the order of the draft's table (BBR.state)."""

    STARTUP = 0
    DRAIN = 1
    PROBE_BW_DOWN = 2
    PROBE_BW_CRUISE = 3
    PROBE_BW_REFILL = 4
    PROBE_BW_UP = 5
    PROBE_RTT = 6


class AckPhase(IntEnum):
    """Phase of probing to which the arriving ACKs belong (BBR.ack_phase)."""

    INIT = 0
    REFILLING = 1
    PROBE_STARTING = 2
    PROBE_FEEDBACK = 3
    PROBE_STOPPING = 4


class State(IntEnum):
    """State words of BBR, following those of pacing; bandwidths and volumes are in packets."""

    MODE = pacing.FREE
    """State of the state machine (`Mode`; BBR.state)."""
    ROUND_COUNT = auto()
    """Packet-timed round trips completed."""
    ROUND_START = auto()
    """1 while processing the first ACK of a round, else 0."""
    NEXT_ROUND_DELIVERED = auto()
    """Value of DELIVERED that ends the current round."""
    MAX_BW = auto()
    """Maximum bandwidth of the current probing cycle."""
    LAST_MAX_BW = auto()
    """Maximum bandwidth of the previous probing cycle."""
    BW = auto()
    """Bandwidth that the model currently allows."""
    BW_LATEST = auto()
    """Maximum bandwidth of the latest loss round."""
    BW_SHORTTERM = auto()
    """Short-term upper bound of the bandwidth."""
    INFLIGHT_LATEST = auto()
    """Maximum volume delivered in the latest loss round."""
    INFLIGHT_SHORTTERM = auto()
    """Short-term upper bound of the packets in flight."""
    INFLIGHT_LONGTERM = auto()
    """Long-term upper bound of the packets in flight."""
    LOSS_ROUND_START = auto()
    """1 while processing the first ACK of a loss round, else 0."""
    LOSS_ROUND_DELIVERED = auto()
    """Value of DELIVERED that ends the current loss round."""
    LOSS_IN_ROUND = auto()
    """1 if packets were found lost in the current loss round."""
    LOSS_EVENTS_IN_ROUND = auto()
    """ACKs of the current loss round that reported losses."""
    RECOVERY_DELIVERED = auto()
    """Value of DELIVERED when the recovery began."""
    FULL_BW = auto()
    """Bandwidth when it last grew by at least 25 %."""
    FULL_BW_COUNT = auto()
    """Consecutive rounds in which the bandwidth grew by less than 25 %."""
    FULL_BW_NOW = auto()
    """1 if the bandwidth has stopped growing in the current phase of probing."""
    FULL_BW_REACHED = auto()
    """1 if the pipe was full once, which ends STARTUP."""
    DRAIN_START_ROUND = auto()
    """Value of ROUND_COUNT when DRAIN began."""
    ACK_PHASE = auto()
    """Phase of probing of the arriving ACKs (`AckPhase`)."""
    CYCLE_STAMP = auto()
    """Time at which the probing cycle began [us]."""
    BW_PROBE_WAIT = auto()
    """Time until bandwidth is probed again [us]."""
    ROUNDS_SINCE_PROBE = auto()
    """Rounds since bandwidth was last probed."""
    PROBE_UP_ACKED_PER_INC = auto()
    """Packets acknowledged per packet of growth of INFLIGHT_LONGTERM (BBR.probe_up_cnt)."""
    PROBE_UP_ACKED = auto()
    """Packets acknowledged since INFLIGHT_LONGTERM last grew (BBR.bw_probe_up_acks)."""
    PROBE_UP_ROUNDS = auto()
    """Rounds of the current growth of INFLIGHT_LONGTERM (BBR.bw_probe_up_rounds)."""
    IS_PROBE_SAMPLE = auto()
    """1 if the arriving ACKs are of packets sent while probing."""
    PROBE_TOO_HIGH = auto()
    """1 if the latest probe caused too many losses."""
    PROBE_PRECAUTIONARY = auto()
    """1 if the latest probe ended at the long-term bound without excessive losses."""
    MIN_RTT = auto()
    """Minimum RTT of the last 10 s [us]."""
    MIN_RTT_STAMP = auto()
    """Time at which MIN_RTT was measured [us]."""
    PROBE_RTT_MIN = auto()
    """Minimum RTT of the last 5 s [us]."""
    PROBE_RTT_MIN_STAMP = auto()
    """Time at which PROBE_RTT_MIN was measured [us]."""
    PROBE_RTT_EXPIRED = auto()
    """1 if PROBE_RTT_MIN has expired."""
    PROBE_RTT_DONE_STAMP = auto()
    """Earliest end of PROBE_RTT [us]; 0 while too many packets are in flight."""
    PROBE_RTT_ROUND_DONE = auto()
    """1 if a round has passed in PROBE_RTT."""
    IDLE_RESTART = auto()
    """1 if packets left after an idle time and none has been delivered since."""
    EXTRA_ACKED_INTERVAL_START = auto()
    """Time at which the current interval of ACK aggregation began [us]."""
    EXTRA_ACKED_DELIVERED = auto()
    """Packets acknowledged in the current interval of ACK aggregation."""
    PRIOR_CWND = auto()
    """Window before a recovery or before PROBE_RTT [packets]."""
    PREV_CA_STATE = auto()
    """Congestion state at the previous ACK (`linux.state.CaState`)."""
    UNDO_STATE = auto()
    """State that an undo restores (`Mode`); NONE if there is none."""
    UNDO_BW_SHORTTERM = auto()
    """Value of BW_SHORTTERM before the losses of this round."""
    UNDO_INFLIGHT_SHORTTERM = auto()
    """Value of INFLIGHT_SHORTTERM before the losses of this round."""
    UNDO_INFLIGHT_LONGTERM = auto()
    """Value of INFLIGHT_LONGTERM before the losses of this round."""
    HAS_SEEN_RTT = auto()
    """1 if the initial pacing rate is based on a measured RTT."""
    DRAWS = auto()
    """Random numbers drawn."""
    STREAM = auto()
    """Random stream of the flow."""
    # Delivery rate sample.
    TX_IN_FLIGHT = auto()
    """Packets in flight when the packet of the sample was sent (RS.tx_in_flight)."""
    LOST = auto()
    """Packets found lost since the packet of the sample was sent (RS.lost)."""


EXTRA_ACKED = int(State.LOST) + 1
"""First of six words: the most packets acknowledged beyond the bandwidth, and the next candidates with their
rounds."""
END = EXTRA_ACKED + 6
"""First word after those of BBR."""
