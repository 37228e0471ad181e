"""Compile time of models by kind of network, sender and option, compared with `kernels.base.compile_time`.

    python -m tests.campaigns compile_times [NAME ...]

Prints the processor time of a first compilation [s], each in its own process with an empty cache, beside
the time in the table. Several models on several cores take less wall time; a busy machine takes longer.
"""

import os
import subprocess
import sys
import tempfile

from tests.campaigns import parser

NAMES = (
    "tcp_newreno", "tcp_sack", "tcp_vegas", "tcp_sack_cubic", "tcp_newreno_mobile",
    "tcp_newreno_varying", "tcp_newreno_delays", "tcp_linux_cubic", "tcp_linux_bbr", "tcp_linux_bbr3",
    "tcp_linux_cubic_messages", "tcp_linux_cubic_tuned", "tcp_linux_cubic_delays",
    "tcp_linux_cubic_varying", "tcp_linux_cubic_mobile", "tcp_newreno_reordering", "sctp",
    "sctp_mobile", "udp", "udp_mobile", "shared_newreno", "shared_newreno_aqm",
    "shared_newreno_varying", "shared_newreno_delays", "shared_sctp", "shared_linux_cubic",
    "shared_linux_bbr", "shared_mixed", "shared_mixed_arrivals", "shared_mixed_linux", "wifi_udp",
    "wifi_newreno", "wifi_sctp", "wifi_linux_cubic", "wifi_linux_bbr", "wifi_mixed",
    "wifi_sack_varying_delays", "manet_udp", "manet_newreno", "manet_newreno_delays",
    "manet_linux_cubic", "manet_linux_bbr", "manet_sctp", "fluid", "fluid_newreno",
    "fluid_newreno_mobile", "fluid_sctp", "fluid_sctp_mobile", "fluid_wifi", "fluid_manet_newreno",
)  # fmt: skip
"""Models of each kind of network, sender and option, and of combinations."""

PROGRAM = """
import sys, time
from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile
model = models.model(sys.argv[1])
start = time.process_time()
compile.cpu_loop(model)
print(time.process_time() - start, model.compile_s)
"""


def measure(name: str) -> tuple[float, float]:
    """Return the processor time of compiling a model [s], measured and according to the table."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, name],
            env={**os.environ, "NETCARLO_CACHE": folder},
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    took, told = done.stdout.split()
    return float(took), float(told)


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("names", nargs="*", metavar="NAME")
    named = arguments.parse_args().names
    print(f"{'model':30s} {'took [s]':>9s} {'table [s]':>9s}")
    for name in named or NAMES:
        took, told = measure(name)
        print(f"{name:30s} {took:9.1f} {told:9.1f}", flush=True)
