"""Network of one lossy line: its description, and the functions of a network."""

from collections.abc import Callable

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.toy.engine import Line, ToyOut, ToyRows
from netcarlo.networks.family import Fidelity, Named, Network
from netcarlo.networks.outcome import MORE, SHARE, Outcome, same
from netcarlo.networks.output import Output
from netcarlo.networks.run import Run, constants, parameters
from netcarlo.networks.traffic import datagrams, mean
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Delay, Probability, bounds


def luck(out: Output) -> Floats:
    """Return the share of packets that were not lost."""
    return np.asarray(1 - out[ToyOut.LOST] / np.maximum(out[ToyOut.SENT], 1))


def goodput_bps(out: Output) -> Floats:
    """Return the payload that arrived, divided by the time from start to end [bit/s]."""
    p = out.p
    return np.asarray(8.0 * out[ToyOut.ARRIVED] * p[:, RowP.DATA] / (p[:, RowP.END] - p[:, RowP.START]) * NS)


class ToyNetwork(Network):
    """Line with this `delay` that loses a datagram with the probability `loss`."""

    key = "toy"
    family = "toy"
    outcomes = (
        Outcome("luck", luck, MORE, "share of the datagrams that were not lost", SHARE),
        same("sent", ToyOut.SENT),
        same("received", ToyOut.ARRIVED),
        same("drops_random", ToyOut.LOST),
        same("goodput_bps", goodput_bps),
    )
    no_warm_up = "remove it"
    untraced = "toy networks"

    delay: Delay
    loss: Probability

    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Check that the line has a delay."""
        if bounds(self.delay)[0] <= 0:
            raise InputError("toy.delay can be 0; raise it")

    def phrase(self, run: Run) -> str:
        """Return the transport over the line."""
        return f"{run.transport.traffic} over a line"

    def address(self, run: Run, *, fluid: bool) -> Address:
        """Return the address of the only model."""
        return Address("toy", "udp")

    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """Return the reason why there is no fluid model."""
        return "it is no stream" if fidelity == "fluid" else ""

    def formula(self, run: Run, rows: ToyRows) -> Named:
        """Return the share of packets that is not lost."""
        survive = rows.losses[:, 0] / (2.0**32 - rows.losses[:, 0])
        return {"luck": survive[rows.lines[:, 0, Line.LOSS]]}

    def population(self, run: Run) -> tuple[str, str]:
        """Return no population: none was measured."""
        return self.key, run.transport.protocol

    def rows(self, run: Run, draws: Draws) -> ToyRows:
        """Return the rows of the line."""
        table = parameters(run, draws)
        lines = np.zeros((len(table), 1, Line.COLUMNS), np.int64)
        rate = draws.floats("transport.rate", run.transport.rate)  # type: ignore[union-attr]
        lines[:, 0, Line.INTERVAL] = np.rint(8e9 * table[:, RowP.DATA] / rate)
        lines[:, 0, Line.DELAY] = draws.whole("toy.delay", self.delay, NS)
        losses, row = np.unique(draws.floats("toy.loss", self.loss), return_inverse=True)
        lines[:, 0, Line.LOSS] = row
        nothing = np.zeros((len(table), 1), np.int64)
        return ToyRows(table, constants(run, draws), lines, nothing, thresholds(losses))

    def row_bytes(self) -> int:
        """Return the memory of one row and of its outcomes [byte]."""
        return 8 * (Line.COLUMNS + ToyOut.COLUMNS)

    def features(self, run: Run, draws: Draws, rows_of: Callable[[], ToyRows]) -> dict[str, Floats]:
        """Return the parameters of the line."""
        delay_s, one = draws.floats("toy.delay", self.delay), np.ones(len(draws.replications))
        return {
            "n_hops": one, "bottleneck_bps": np.inf * one, "base_rtt_s": 2 * delay_s,
            "path_loss": draws.floats("toy.loss", self.loss), "bdp_packets": np.inf * one,
        }  # fmt: skip

    def packets(self, run: Run, fidelity: Fidelity) -> float:
        """Return the offered packets."""
        return datagrams(run.transport, mean(run.duration))

    def sent(self, integers: Ints, rows: ToyRows) -> int:
        """Return the packets sent by the only stream."""
        return int(integers[:, ToyOut.SENT].sum())
