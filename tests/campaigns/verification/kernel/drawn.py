"""Random scenarios: rates, round-trip times, queues and losses of access links."""

import numpy as np
import pandas as pd

MPTCP = ("mptcp_bulk", "mptcp_finite", "mptcp_outage")
"""Kinds with two paths and a subflow over each; in some scenarios the second one is a backup."""
KINDS = ("bulk", "finite", "tuned", "messages", "outage", "pair", "edges", *MPTCP)
"""Kinds of scenarios. `tuned`: as `finite`, with receive window autotuning; `messages`: one message after the
other with pauses; `edges`: short transfers of the four kinds in `EDGES`, in turn."""
EDGES = ("handshake", "queue", "acks", "short")
"""Values of column `kind`. `handshake`: an outage of 0.2 to 4 s that begins within two round trips;
`queue`: a queue of 1 to 4 packets; `acks`: 5 to 60 % of the ACKs are lost; `short`: 3 to 100 packets, 2 to
20 % lost."""
CONTROLS = ("reno", "cubic", "bbr")
RANDOM = {
    "bulk": (0.5, (1e-4, 1e-3, 3e-3, 1e-2, 3e-2)),
    "finite": (0.6, (1e-3, 3e-3, 1e-2, 3e-2)),
    "tuned": (0.3, (1e-3, 1e-2)),
    "messages": (0.3, (1e-3, 1e-2)),
    "outage": (0.3, (1e-3, 1e-2)),
    "pair": (0.3, (1e-4, 1e-3, 1e-2)),
    "edges": (0.0, (0.0,)),
    "mptcp_bulk": (0.3, (1e-4, 1e-3, 1e-2)),
    "mptcp_finite": (0.3, (1e-3, 1e-2)),
    "mptcp_outage": (0.3, (1e-3, 1e-2)),
}
"""Share of scenarios with random loss, and its probabilities, by kind."""
SEEDS = {
    "bulk": (3, 5), "finite": (4, 16), "tuned": (4, 16), "messages": (3, 5), "outage": (5, 5), "pair": (4, 4),
    "edges": (8, 24), "mptcp_bulk": (3, 5), "mptcp_finite": (4, 12), "mptcp_outage": (5, 5),
}  # fmt: skip
"""Number of runs of a scenario without and with random losses, by kind."""
DURATION_S = {
    "bulk": 30, "finite": 300, "tuned": 300, "messages": 60, "outage": 40, "pair": 60, "edges": 180,
    "mptcp_bulk": 30, "mptcp_finite": 300, "mptcp_outage": 40,
}  # fmt: skip
"""Duration of a run by kind [s]; upper limit for transfers."""
LONGEST_S = 2
"""Upper limit of the time to send a message at the rate of the link [s]."""


def drawn(kind: str, count: int, *, seed: int) -> pd.DataFrame:
    """Draw `count` scenarios of a kind; return the columns that describe them."""
    rngs = [np.random.default_rng([seed, KINDS.index(kind), k]) for k in range(count)]
    return pd.DataFrame([_one(kind, k, rng) for k, rng in enumerate(rngs)])


def _one(kind: str, k: int, rng: np.random.Generator) -> dict[str, object]:
    rate = float(f"{_log_uniform(rng, 1e6, 30e6):.3g}")
    delay_ms = round(_log_uniform(rng, 10, 200) / 2, 2)
    products = rate * 2e-3 * delay_ms / 12_000
    least = 0.2 if kind == "pair" else 0.1
    queue = round(np.clip(_log_uniform(rng, least, 4) * products, 8 if kind == "pair" else 5, 1000))
    often, losses = RANDOM[kind]
    loss = float(rng.choice(losses)) if rng.random() < often else 0.0
    row: dict[str, object] = {
        "id": k, "rate_bps": rate, "delay_oneway_ms": delay_ms, "queue_packets": int(queue),
        "packet_error_rate": loss, "duration_s": DURATION_S[kind],
    }  # fmt: skip
    if kind == "pair":
        row["congestion_control_1"], row["congestion_control_2"] = rng.choice(CONTROLS, 2)
        further = rng.uniform(0.3, 3) if rng.random() < 1 / 3 else 0.0
        row["extra_delay_2_ms"] = round(further * delay_ms, 2)
    else:
        row["congestion_control"] = CONTROLS[k % 3]
    if kind in ("bulk", "finite", "tuned"):
        row["ack_error_rate"] = 0.01 if rng.random() < 0.1 else 0.0
    if kind == "bulk":
        clamp = rng.uniform(0.25, 1.6) * (products + queue) * 1448 if rng.random() < 0.1 else 0
        row["window_clamp_bytes"] = int(max(clamp, 8 * 1448)) if clamp else 0
    if kind in MPTCP:
        row |= _second_path(rng, least, often, losses)
        loss = max(loss, float(str(row["packet_error_rate_2"])))
    if kind == "mptcp_finite":
        row["segments"] = round(_log_uniform(rng, 50, 5000))
    if kind in ("finite", "tuned"):
        row["segments"] = round(_log_uniform(rng, 14, 2072))
        row["autotuning"] = int(kind == "tuned")
    if kind == "messages":
        most = min(LONGEST_S * rate / 12_000, 2000)
        row["message_bytes"] = 1448 * round(_log_uniform(rng, 10, most))
        row["pause_s"] = round(_log_uniform(rng, 0.05, 5), 3)
        row["idle_restart"] = int(row["congestion_control"] == "bbr" or rng.random() < 0.5)
    if kind in ("outage", "mptcp_outage"):
        row["down_start_s"] = round(rng.uniform(5, 9), 2)
        row["down_dur_s"] = round(_log_uniform(rng, 0.2, 10), 3)
    if kind == "edges":
        row |= _edge(EDGES[k % len(EDGES)], CONTROLS[k // len(EDGES) % len(CONTROLS)], delay_ms, queue, rng)
        loss = float(str(row["packet_error_rate"]))
    row["n_seeds"] = SEEDS[kind][loss > 0 or row.get("ack_error_rate", 0.0) > 0]
    return row


def _second_path(
    rng: np.random.Generator, least: float, often: float, losses: tuple[float, ...]
) -> dict[str, object]:
    """Return the columns of the second path."""
    rate = float(f"{_log_uniform(rng, 1e6, 30e6):.3g}")
    delay_ms = round(_log_uniform(rng, 10, 200) / 2, 2)
    queue = round(np.clip(_log_uniform(rng, least, 4) * rate * 2e-3 * delay_ms / 12_000, 5, 1000))
    return {
        "rate_2_bps": rate, "delay_2_oneway_ms": delay_ms, "queue_2_packets": int(queue),
        "packet_error_rate_2": float(rng.choice(losses)) if rng.random() < often else 0.0,
        "backup": int(rng.random() < 0.15),
    }  # fmt: skip


def _edge(
    kind: str, control: str, delay_ms: float, queue: float, rng: np.random.Generator
) -> dict[str, object]:
    """Return the columns of a scenario of one of the `EDGES`, except rate and delay."""
    row: dict[str, object] = {
        "kind": kind, "congestion_control": control, "queue_packets": int(max(queue, 10)),
        "packet_error_rate": 0.0, "ack_error_rate": 0.0, "down_start_s": 0.0, "down_dur_s": 0.0,
        "segments": round(_log_uniform(rng, 3, 100)),
    }  # fmt: skip
    if kind == "handshake":
        row["down_start_s"] = round(float(rng.choice([0, rng.uniform(0, 4)])) * delay_ms / 1e3, 4)
        row["down_dur_s"] = round(_log_uniform(rng, 0.2, 4), 3)
        row["packet_error_rate"] = row["ack_error_rate"] = float(rng.choice([0, 0, 0.05]))
    elif kind == "queue":
        row["queue_packets"] = int(rng.integers(1, 5))
        row["segments"] = round(_log_uniform(rng, 20, 300))
    elif kind == "acks":
        row["ack_error_rate"] = round(rng.uniform(0.05, 0.6), 3)
        row["segments"] = round(_log_uniform(rng, 20, 300))
    else:
        row["packet_error_rate"] = round(_log_uniform(rng, 0.02, 0.2), 4)
        row["ack_error_rate"] = float(rng.choice([0, row["packet_error_rate"]]))
    return row


def _log_uniform(rng: np.random.Generator, least: float, most: float) -> float:
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))
