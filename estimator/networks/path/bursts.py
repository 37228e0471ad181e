"""Burst losses: a two-state channel built from a user's description (`kernels.base.channel`)."""

from typing import NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import CHANCE_BITS
from netcarlo.networks.path.description import Bursts
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number


class Losses(NamedTuple):
    """Losses of a hop in one direction, for the rows [n]."""

    mean: Floats  # share of packets lost [n]
    happens: Floats  # event probability per packet, outside and inside bursts [2, n]
    chances: Ints  # type of event, as `Hop.CHANCES` [2, n]; 0 without bursts


def losses(
    name: str, loss: Number, bursts: Bursts | None, draws: Draws, *, elsewhere: bool = False
) -> Losses:  # fmt: skip
    """Return the losses of the field `name`; bursts are in the field of that name with `_bursts`, or in
    `bursts`. Losses that are simulated `elsewhere` are no events of the channel."""
    calm = draws.floats(name, loss)
    if bursts is None:
        happens = np.zeros_like(calm) if elsewhere else calm
        return Losses(calm, np.stack([happens, happens]), np.zeros((2, len(calm)), np.int64))
    at = f"{name.removesuffix('loss')}bursts"
    apart = draws.floats(f"{at}.apart", bursts.apart)
    length = draws.floats(f"{at}.length", bursts.length)
    lost = np.stack([calm, draws.floats(f"{at}.loss", bursts.loss)])
    turns = 1.0 / np.stack([apart, length])
    happens = lost + turns - lost * turns
    mean = (lost * np.stack([apart, length])).sum(axis=0) / (apart + length)
    one = 2.0**CHANCE_BITS
    # Limit the state change below 1, which would overflow into the loss bits.
    first, second = np.rint(lost / happens * one), np.minimum(np.rint(turns * one), one - 1)
    return Losses(mean, happens, (first.astype(np.int64) << CHANCE_BITS) | second.astype(np.int64))
