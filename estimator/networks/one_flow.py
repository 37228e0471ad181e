"""The class of a network's one flow, which its transport names, and what came of its delays."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER, NS, P
from netcarlo.kernels.senders import NUMBERS
from netcarlo.networks import classes
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.transport.classed import asked_by, class_of


def word_of(transport: Any) -> str:
    """The class of the flow: that which it names, or its protocol; empty where nothing is measured."""
    if not asked_by(transport):
        return ""
    if (word := class_of(transport)) is not None:
        return word
    found = str(transport.kind)
    return found if found in NUMBERS else str(transport.protocol)


def datagrams(transport: Any) -> frozenset[str]:
    """Return the class of the flow if it is UDP, see `Network.datagrams`."""
    return frozenset({word_of(transport)} if transport.datagrams else ())


def bounds(transport: Any, draws: Draws) -> Ints:
    """What takes longer is late [n] [ns]; FOREVER without a bound, 0 where nothing is measured."""
    if not asked_by(transport):
        return np.zeros(len(draws.replications), np.int64)
    if transport.late is None:
        return np.full(len(draws.replications), FOREVER)
    return draws.whole("transport.late", transport.late, NS)


def named(
    word: str, table: Ints, parameters: Ints, *, loss: Floats, missing: Ints, goodput: Floats
) -> dict[str, Any]:
    """The outcomes of the class by name, [n] each, of `table` [n, DelayOut.COLUMNS].

    `missing` [n] is how many distinct packets were sent, have not arrived and are not on their way at the
    end; UDP never sends them again.
    """
    never = np.where(parameters[:, P.INTERVAL] > 0, np.maximum(missing, 0), 0)
    bounded = (parameters[:, P.LATE] < FOREVER).any()
    return classes.named(
        {0: word}, table.reshape(-1, 1, DelayOut.COLUMNS), bounded=[0] if bounded else [],
        loss=loss[:, None], never=never[:, None], goodput=goodput[:, None, None],
    )  # fmt: skip
