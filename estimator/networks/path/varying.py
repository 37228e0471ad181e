"""Time-varying hops: the pairs of both directions, and their location in the rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import FOREVER, Hop, Rows
from netcarlo.kernels.base.varying import Head
from netcarlo.networks import pairs
from netcarlo.networks.pairs import ALL, Direction
from netcarlo.networks.path.description import HopSpec
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws

Tables = tuple[Ints, Ints]
"""Pairs of a hop for the rows [n, k, 2], of data and of acknowledgements; k is 0 if nothing varies."""


def varying_field(hop: HopSpec) -> str:
    """Return the first field that makes the service of a hop vary; empty if there is none."""
    return unlike_fluid(hop) or hop.varies


def unlike_fluid(hop: HopSpec) -> str:
    """Return the first of these fields that fluid models do not know; empty if there is none."""
    of_acks = "ack_jitter" if hop.ack_jitter is not None else ""
    return hop.unlike_fluid or of_acks or ("reverse.trace" if hop.reverse.trace is not None else "")


def reorders(hop: HopSpec) -> bool:
    """Return True if packets can overtake each other on a hop, in either direction."""
    return any(jitter is not None and jitter.reorder for jitter in (hop.jitter, hop.ack_jitter))


def reordered(rows: Rows) -> NDArray[np.bool_]:
    """Return the rows [n] with a hop on which packets can overtake each other."""
    first = rows.hops[..., [Hop.VARIES, Hop.R_VARIES]]
    last = np.minimum(first + Head.PERIOD, rows.outages.shape[3] - 1)
    negative = np.take_along_axis(rows.outages[..., 1], last, axis=3) < 0
    return np.asarray(((first > 0) & negative).any(axis=(1, 2, 3)), bool)


def most_pairs(hop: HopSpec) -> int:
    """Return the maximum number of pairs of a hop, in both directions."""
    back = pairs.most_pairs(hop.reverse.trace or hop.trace, hop.ack_jitter)
    return pairs.most_pairs(hop.trace, hop.jitter) + back if varying_field(hop) else 0


def tables(
    hop: HopSpec, name: str, draws: Draws, columns: dict[Hop, Ints], sizes: tuple[Ints, Ints]
) -> Tables:  # fmt: skip
    """Return the pairs of a hop whose field is `name`; sets byte times and delays in its `columns`.

    They are the means of its traces, for data packets and ACKs of these `sizes` [n] [byte].
    """
    reverse = hop.reverse
    forth = pairs.forward(hop, name, draws, loss=_correlated(hop, f"{name}.", draws))
    used = ALL - {"loss"} - {name for name in ("rate", "delay") if getattr(reverse, name) is not None}
    back = forth._replace(
        repeat=bool(hop.repeat), used=used, policer=np.zeros_like(forth.policer), jitter=hop.ack_jitter,
        shaper=np.zeros_like(forth.shaper), loss=_correlated(hop, f"{name}.ack_", draws),
    )  # fmt: skip
    if reverse.trace is not None:
        which = pairs.chosen(reverse.trace, f"{name}.reverse.trace", draws)
        back = back._replace(trace=reverse.trace, which=which, repeat=bool(reverse.repeat), used=ALL)
    return (
        _filled(forth, columns, Hop.BYTE_TIME, Hop.DELAY, sizes[0]),
        _filled(back, columns, Hop.R_BYTE_TIME, Hop.R_DELAY, sizes[1]),
    )


def _correlated(hop: HopSpec, prefix: str, draws: Draws) -> Ints | None:
    """Return threshold and correlation [n, 2] of the losses of one direction; None without correlation."""
    name = prefix.rpartition(".")[2]
    correlation = getattr(hop, f"{name}loss_correlation")
    if correlation is None:
        return None
    loss = draws.floats(f"{prefix}loss", getattr(hop, f"{name}loss"))
    return pairs.correlated(loss, draws.floats(f"{prefix}loss_correlation", correlation))


def _filled(of: Direction, columns: dict[Hop, Ints], byte_time: Hop, delay: Hop, size: Ints) -> Ints:
    """Return the pairs of a direction [n, k, 2]; sets its two columns."""
    found, columns[byte_time], columns[delay] = pairs.pairs(of, columns[byte_time], columns[delay], size)
    return found


def placed(hops: Ints, outages: Ints, places: Sequence[tuple[Ints, int, Ints, Tables]]) -> Ints:
    """Return the outages followed by the pairs of hops, and set the columns that refer to them.

    `places` has for each slot the rows that have it, the path, the index of the hop by row, and its tables.
    """
    first = outages.shape[3]
    longest = max(sum(table.shape[1] for table in of) for *_, of in places)
    if longest:
        missing = [(0, 0)] * 3 + [(0, longest), (0, 0)]
        outages = np.pad(outages, missing, constant_values=FOREVER)
    for who, number, at, of in places:
        begin = first
        for direction, table in enumerate(of):
            end = begin + table.shape[1]
            if end > begin:
                hops[who, number, at, Hop.VARIES + direction] = begin
                outages[who, number, at, begin:end] = table[who]
            begin = end
    return outages
