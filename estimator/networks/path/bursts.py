"""Losses in bursts: a channel of two states from what a user writes (`kernels.base.channel`)."""

from typing import NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import CHANCE_BITS
from netcarlo.networks.path.description import Bursts
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number


class Losses(NamedTuple):
    """How a hop loses packets in one direction, over the rows [n]."""

    mean: Floats  # share of packets lost [n]
    happens: Floats  # chance that something happens to a packet, outside bursts and in them [2, n]
    chances: Ints  # what it is, as `Hop.CHANCES` [2, n]; 0 without bursts


def losses(name: str, loss: Number, bursts: Bursts | None, draws: Draws) -> Losses:
    """Those of the field `name`, whose bursts are of the same name with `_bursts` or `bursts`."""
    calm = draws.floats(name, loss)
    if bursts is None:
        return Losses(calm, np.stack([calm, calm]), np.zeros((2, len(calm)), np.int64))
    at = f"{name.removesuffix('loss')}bursts"
    apart = draws.floats(f"{at}.apart", bursts.apart)
    length = draws.floats(f"{at}.length", bursts.length)
    lost = np.stack([calm, draws.floats(f"{at}.loss", bursts.loss)])
    turns = 1.0 / np.stack([apart, length])
    happens = lost + turns - lost * turns
    mean = (lost * np.stack([apart, length])).sum(axis=0) / (apart + length)
    one = 2.0**CHANCE_BITS
    # A certain turn would carry into the loss: one in 2**31 packets stays.
    first, second = np.rint(lost / happens * one), np.minimum(np.rint(turns * one), one - 1)
    return Losses(mean, happens, (first.astype(np.int64) << CHANCE_BITS) | second.astype(np.int64))
