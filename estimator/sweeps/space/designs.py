"""Designs: where in the unit cube of its random numbers each drawn network lies.

Four ways of drawing, each a pure function of a seed and the number of the draw.  All but `plain`
come in independent randomisations of the same set of points, the blocks: how much their means
differ tells how far off their common mean may be (see netcarlo.sweeps.analysis.population).
"""

import threading
import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, suggest
from netcarlo.kernels.base.layout import STREAM_HOST
from netcarlo.kernels.base.philox import uniforms
from netcarlo.numerics.arrays import Floats, Ints

METHODS = ("plain", "latin", "sobol", "saltelli")
MOST = 10_000_000
"""Draws of a design."""
BLOCKS = 16
"""Independent randomisations, unless asked otherwise: Student's t then has 15 degrees of freedom."""
LARGEST_BLOCK = 1 << 16
"""Draws of a block, unless asked otherwise, so that a worker holds no more than that of a large design."""
MOST_DIMENSIONS = 21_201
"""Dimensions of the Sobol sequence (Joe and Kuo, 2008)."""

_STREAM = STREAM_HOST | (zlib.crc32(b"design") >> 1)
_BELOW_ONE = 1 - 2.0**-53
_SOBOL = threading.Lock()
"""SciPy reads its direction numbers when it makes its first sequence; versions before 1.15 let another
thread go on with half of them (its issue 21788)."""
_CHECKED = 6
_CHECKSUM = 3425714654
"""CRC-32 of the first 2^`_CHECKED` points in all dimensions, times 2^`_CHECKED`, as numbers of 32 bits."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """Points in the unit cube, one for each network to draw.

    * `plain`: independent points; each draw is a block.
    * `latin`: each block a Latin hypercube (McKay, Beckman and Conover, 1979).
    * `sobol`: each block a scrambled Sobol sequence, from its start.  It is most even where blocks have
      2, 4, 8, 16 ... draws; docs/statistics.md says what others cost.
    * `saltelli`: what first and total Sobol indices are estimated from.  Each of `count` base points
      gives `dimensions` + 2 draws: a, then a with coordinate k of b for each k, then b, where (a, b) is
      a point of a scrambled Sobol sequence in twice the dimensions (Saltelli, Computer Physics
      Communications 145, 2002, with the estimators of 2010; the order of SALib).

    Raises InputError where a parameter is out of its range.
    """

    method: str
    count: int
    dimensions: int
    seed: int
    blocks: int = 0
    """0: `BLOCKS` of them, fewer where there are few draws, more where there are very many."""

    def __post_init__(self) -> None:
        """Check the parameters and settle the number of blocks."""
        if self.method not in METHODS:
            raise InputError(f"method has the unknown value '{self.method}'; {suggest(self.method, METHODS)}")
        least = 1 if self.method == "plain" else 4
        if not least <= self.count <= MOST:
            raise InputError(
                f"draw is {self.count}; {self.method} draws {least} to {MOST} networks, choose within that"
            )
        least, most = (2, self.count // 2) if self.method != "plain" else (self.count, self.count)
        if not self.blocks:
            enough = max(BLOCKS, -(-self.count // LARGEST_BLOCK))
            object.__setattr__(self, "blocks", max(least, min(enough, most)))
        if not least <= self.blocks <= most:
            raise InputError(
                f"blocks is {self.blocks}; {self.count} {self.method} draws make {least} to {most} blocks, "
                "choose within that or leave it out"
            )
        if not 0 <= self._coordinates <= MOST_DIMENSIONS:
            raise InputError(
                f"{self.dimensions} random fields are more than the Sobol sequence has dimensions for "
                f"{self.method} ({MOST_DIMENSIONS}); fix some of them or draw plain"
            )

    @property
    def size(self) -> int:
        """How many networks are drawn."""
        return self.count * self._per_base

    def block_of(self, draws: Ints) -> Ints:
        """The block of each of the `draws` [n].

        Blocks are contiguous; their sizes differ by at most one draw (saltelli: one base point).
        """
        base = np.asarray(draws, np.int64) // self._per_base
        return np.asarray(((base + 1) * self.blocks - 1) // self.count)

    def points(self, draws: Ints) -> Floats:
        """The points [n, dimensions], in [0, 1), of `draws` [n], in any order; IndexError beyond `size`."""
        draws = np.asarray(draws, np.int64)
        if len(draws) and not 0 <= draws.min() <= draws.max() < self.size:
            raise IndexError(f"draws are numbered 0 to {self.size - 1}")
        if self.method == "plain":
            columns = [uniforms(self.seed, 0, draws, _STREAM, k) for k in range(self.dimensions)]
            return np.stack(columns, axis=1) if columns else np.zeros((len(draws), 0))
        base, part = np.divmod(draws, self._per_base)
        block = self.block_of(draws)
        found = np.empty((len(draws), self._coordinates))
        for b in np.unique(block):
            first, end = b * self.count // self.blocks, (b + 1) * self.count // self.blocks
            make = _latin if self.method == "latin" else _sobol
            here = block == b
            found[here] = make(self.seed, int(b), int(end - first), self._coordinates)[base[here] - first]
        return _crossed(found, part) if self.method == "saltelli" else found

    @property
    def _per_base(self) -> int:
        return self.dimensions + 2 if self.method == "saltelli" else 1

    @property
    def _coordinates(self) -> int:
        return 2 * self.dimensions if self.method == "saltelli" else self.dimensions


def _crossed(found: Floats, part: Ints) -> Floats:
    """a, a with one coordinate of b, or b, as `part` [n] says, of each row (a, b) [n, 2 * dimensions]."""
    dimensions = found.shape[1] // 2
    column = np.arange(dimensions)
    from_b = (part[:, None] == column + 1) | (part[:, None] == dimensions + 1)
    return np.where(from_b, found[:, dimensions:], found[:, :dimensions])


@lru_cache(maxsize=4)
def _latin(seed: int, block: int, size: int, dimensions: int) -> Floats:
    """A Latin hypercube [size, dimensions]: one point in each of `size` slices of each axis."""
    number = np.arange(2 * size)
    points = np.empty((size, dimensions))
    for k in range(dimensions):
        order, within = np.split(uniforms(seed, block, number, _STREAM, k), 2)
        points[:, k] = (np.argsort(order, kind="stable") + within) / size
    return np.minimum(points, _BELOW_ONE)


@lru_cache(maxsize=4)
def _sobol(seed: int, block: int, size: int, dimensions: int) -> Floats:
    """The first `size` points of a scrambled Sobol sequence [size, dimensions].

    Digit j of a coordinate is replaced by itself plus a random combination of the digits before it,
    and all of them are shifted at random (Matousek, Journal of Complexity 14, 1998).  Random numbers
    of our own make the points the same with every version of SciPy.
    """
    if not dimensions:
        return np.zeros((size, 0))
    digits = (size - 1).bit_length()
    with _SOBOL:
        plain = _unscrambled(digits, dimensions)[:size]
    number = np.arange((1 + digits) * dimensions)
    random_bits = (uniforms(seed, block, number, _STREAM) * 2.0**53).astype(np.uint64).reshape(-1, dimensions)
    points = np.tile(random_bits[0], (size, 1))
    for j in range(digits):
        digit = (plain >> np.uint32(digits - 1 - j) & np.uint32(1)).astype(np.uint64)
        own = np.uint64(1 << 52 - j)
        points ^= digit * (own | random_bits[1 + j] & (own - np.uint64(1)))
    return np.asarray(points * 2.0**-53)


@lru_cache(maxsize=2)
def _unscrambled(digits: int, dimensions: int) -> NDArray[np.uint32]:
    """The first 2^digits points of the Sobol sequence, times 2^digits."""
    _check()
    return _of_scipy(digits, dimensions)


@lru_cache(maxsize=1)
def _check() -> None:
    """Raise InputError if SciPy's direction numbers are not those that they should be."""
    if zlib.crc32(_of_scipy(_CHECKED, MOST_DIMENSIONS).tobytes()) != _CHECKSUM:
        raise InputError("SciPy's Sobol sequence is damaged, drawn networks would be wrong; reinstall SciPy")


def _of_scipy(digits: int, dimensions: int) -> NDArray[np.uint32]:
    from scipy.stats.qmc import Sobol

    points = Sobol(dimensions, scramble=False).random_base2(digits)
    return np.asarray(points * 2.0**digits, np.uint32)
