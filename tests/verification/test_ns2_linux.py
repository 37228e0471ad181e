"""Sender linux26 compared with ns-2's, both losing the same packets."""

import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, Hop, Out, Rows
from tests.twins import run
from tests.twins.network import Network
from tests.twins.path.scenarios import MS, SECOND, empty_row, fill

pytestmark = pytest.mark.full

SCRIPT = """
lassign $argv control sink rate delay queue size window ssthresh end losses
set ns [new Simulator]
foreach i {0 1 2} {set n($i) [$ns node]}
$ns duplex-link $n(0) $n(1) ${rate}kb ${delay}us DropTail
$ns duplex-link $n(1) $n(2) 10Gb 0ms DropTail
$ns queue-limit $n(0) $n(1) $queue
foreach {from to} {1 0 1 2 2 1} {$ns queue-limit $n($from) $n($to) 100000}
set tcp [new Agent/TCP/Linux]
$tcp set timestamps_ true
$tcp set window_ $window
$tcp set packetSize_ $size
set receiver [new Agent/$sink]
$ns attach-agent $n(0) $tcp
$ns attach-agent $n(2) $receiver
$ns connect $tcp $receiver
set errors [new ErrorModel/List]
$errors droplist $losses
$errors drop-target [new Agent/Null]
$ns link-lossmodel $errors $n(1) $n(2)
$ns at 0 "$tcp select_ca $control"
if {$ssthresh > 0} {$ns at 0 "$tcp set_ca_param $control initial_ssthresh $ssthresh"}
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 1.5 "$ftp start"
proc finish {} {
    global tcp
    foreach name {ndatapack_ nrexmitpack_ nrexmit_ ncwndcuts_ ack_} {puts "= [$tcp set $name]"}
    exit 0
}
$ns at $end finish
$ns run
"""
START = 3 * SECOND // 2
"""Start time: CUBIC measures no delay in the first second of uptime; there ns-2's clock begins at 0."""
END = 10
SCENARIOS = 6


def scenario(rng: np.random.Generator, control: str) -> dict[str, Any]:
    """Return a scenario with rates in kbit/s, delays in microseconds and `losses` behind the queue, by
    packet number."""
    rate, delay = int(10 ** rng.uniform(3.0, 4.0)), int(10 ** rng.uniform(3.5, 5.0))
    path = rate * 2 * delay / 8e6
    queue = max(5, round(path * rng.uniform(0.1, 2.0)))
    ssthresh = int((path + queue) * rng.uniform(0.2, 0.8)) if control in ("bic", "cubic") else 0
    losses = np.flatnonzero(rng.random(30_000) < 10 ** rng.uniform(-4.0, -1.7))
    return {
        "rate": rate, "delay": delay, "queue": queue, "size": 950,
        "window": int(rng.choice([4000, rng.integers(10, 100)])), "ssthresh": ssthresh,
        "delayed": bool(rng.integers(0, 2)), "losses": losses.tolist()[:99] or [50],
    }  # fmt: skip


def row(values: dict[str, Any]) -> Rows:
    row = empty_row()
    slow, fast = (values["rate"], values["delay"], values["queue"]), (10_000_000, 0, 0)
    for hop, (rate, delay, queue) in enumerate((slow, fast)):
        byte_time = round(8e9 * 2**BYTE_TIME_BITS / (rate * 1000))
        columns = [byte_time, delay * 1000, queue, 0, byte_time, delay * 1000, 0, 0, 1]
        row.hops[0, 0, hop, : Hop.PRESENT + 1] = columns
    fill(row, {
        "START": START, "END": END * SECOND, "LIMIT": ENDLESS, "WINDOW": values["window"],
        "INITIAL_SSTHRESH": values["ssthresh"] or values["window"], "DATA": values["size"], "HEADER": 50,
        "ACK": 40, "SACK_BLOCK": 8, "HANDSHAKE": 40, "INITIAL_WINDOW": 2, "TICK": MS, "MIN_RTO": 200 * MS,
        "MAX_RTO": 120 * SECOND, "INITIAL_RTO": 3 * SECOND, "DUPACKS": 4, "SAMPLE": SECOND,
        "ACK_EVERY": 1 + values["delayed"], "ACK_DELAY": 100 * MS,
    })  # fmt: skip
    return row


@pytest.mark.needs("ns")
@pytest.mark.parametrize("control", ["reno", "bic", "cubic", "westwood"])
def test_counts_are_those_of_ns2(control: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of sent, retransmitted and acknowledged packets, timeouts and reductions are equal."""
    (tmp_path / "run.tcl").write_text(SCRIPT)
    rng = np.random.default_rng(4)
    differing = []
    for _ in range(SCENARIOS):
        values = scenario(rng, control)
        receiver = "TCPSink/Sack1" + "/DelAck" * values["delayed"]
        path = [values[name] for name in ("rate", "delay", "queue", "size", "window", "ssthresh")]
        losses = " ".join(map(str, values["losses"]))
        command = ["ns", "run.tcl", control, receiver, *map(str, [*path, END]), losses]
        printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        expected = [int(line[1:]) for line in printed.splitlines() if line.startswith("=")]
        monkeypatch.setattr(run, "Network", losing(values["losses"]))
        ours = run.simulate("tcp_linux26" if control == "reno" else f"tcp_linux26_{control}", row(values))
        sent = ours[Out.SENT] + ours[Out.HANDSHAKES]
        counts = [sent, *ours[[Out.RETRANSMITTED, Out.TIMEOUTS, Out.CWND_CUTS, Out.ACKED]]]
        if counts != expected:
            differing.append(f"{values}: {counts}, ns-2 {expected}")
    assert not differing, "\n".join(differing)


def losing(numbers: list[int]) -> type[Network]:
    """Return networks whose second hop loses these of the data packets that reach it, counted from 0."""
    gaps = [after - before - 1 for before, after in itertools.pairwise([-1, *numbers])]

    class Losing(Network):
        def gaps(self, path: int, hop: int, direction: int) -> Iterator[int] | None:
            return itertools.chain(gaps, itertools.repeat(1 << 62)) if (hop, direction) == (1, 0) else None

    return Losing
