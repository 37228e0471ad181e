"""Sampling designs: the point in the unit cube from which each drawn network is computed.

A design is a pure function of a seed and the number of the draw. All designs but `plain` consist of blocks,
which are independent randomisations of the same set of points. The variance of the block means gives the
standard error of the overall mean (see netcarlo.sweeps.analysis.population).
"""

import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, suggest
from netcarlo.kernels.base.layout import STREAM_HOST
from netcarlo.kernels.base.philox import uniforms
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import written_name

METHODS = ("plain", "latin", "sobol", "saltelli")
"""Names of the designs."""
MIN_POINTS = 64
"""Minimum number of networks, or of base points of a saltelli design, for sensitivity indices."""
MAX_DRAWS = 10_000_000
"""Maximum number of draws of a design."""
BLOCKS = 16
"""Default number of blocks. Student's t then has 15 degrees of freedom."""
LARGEST_BLOCK = 1 << 16
"""Default maximum number of draws in a block. It bounds the memory of a worker."""
MAX_DIMENSIONS = 21_201
"""Maximum number of dimensions of the Sobol sequence (Joe and Kuo, 2008)."""

_STREAM = STREAM_HOST | (zlib.crc32(b"design") >> 1)
_BELOW_ONE = 1 - 2.0**-53
_SOBOL = threading.Lock()
"""Lock around SciPy, which reads its direction numbers with the first sequence. In versions before 1.15,
another thread may then use an incomplete table (SciPy issue 21788)."""
_CHECKED = 6
_CHECKSUM = 3425714654
"""CRC-32 of the first 2^`_CHECKED` points in all dimensions, times 2^`_CHECKED`, as 32-bit integers."""


def grouped(inputs: Sequence[str]) -> tuple[list[str], tuple[int, ...]]:
    """Return the names of the groups of drawn fields, and the group of each field.

    The fields of a group are drawn from one distribution that the user has written: `hops.0.each.rate` is the
    group of the rates of all hops of that item. Any other field is a group.
    """
    written = [written_name(name) for name in inputs]
    names = list(dict.fromkeys(written))
    return names, tuple(names.index(name) for name in written)


@dataclass(frozen=True, kw_only=True)
class Design:
    """Points in the unit cube, one for each network to draw.

    * `plain`: independent points; each draw is a block.
    * `latin`: each block is a Latin hypercube (McKay, Beckman and Conover, 1979).
    * `sobol`: each block is the beginning of a scrambled Sobol sequence. It is most uniform if the number of
      draws in a block is a power of 2; docs/statistics.md has the cost of other numbers.
    * `saltelli`: the design for first-order and total Sobol indices. Each of `count` base points gives g + 2
      draws, with g the number of groups: a, then a with the coordinates of one group of b for each group,
      then b, where (a, b) is a point of a scrambled Sobol sequence in twice the dimensions (Saltelli,
      Computer Physics Communications 145, 2002, with the estimators of 2010; the order and the groups of
      SALib).

    Raises InputError if a parameter is out of range.
    """

    method: str
    """One of `METHODS`."""
    count: int
    """Number of draws; number of base points for `saltelli`."""
    dimensions: int
    """Number of random fields."""
    seed: int
    """Seed of the sweep."""
    groups: tuple[int, ...] = ()
    """Group of each dimension, numbered from 0; empty if each dimension is a group. Used by `saltelli`."""
    blocks: int = 0
    """Number of blocks. 0 for the default: `BLOCKS`, fewer for few draws, more for very many."""

    def __post_init__(self) -> None:
        """Check the parameters and set the number of blocks."""
        if self.method not in METHODS:
            raise InputError(f"method = '{self.method}' is not supported; {suggest(self.method, METHODS)}")
        least = 1 if self.method == "plain" else 4
        if not least <= self.count <= MAX_DRAWS:
            raise InputError(
                f"draw = {self.count} is out of range; expected {least} to {MAX_DRAWS} for {self.method}"
            )
        least, most = (2, self.count // 2) if self.method != "plain" else (self.count, self.count)
        if not self.blocks:
            enough = max(BLOCKS, -(-self.count // LARGEST_BLOCK))
            object.__setattr__(self, "blocks", max(least, min(enough, most)))
        if not least <= self.blocks <= most:
            raise InputError(
                f"blocks = {self.blocks} is out of range; expected {least} to {most} for {self.count} "
                f"{self.method} draws; change it, or remove it for the default"
            )
        if not 0 <= self._coordinates <= MAX_DIMENSIONS:
            raise InputError(
                f"{self.dimensions} random fields are too many for {self.method}, whose Sobol sequence has "
                f"{MAX_DIMENSIONS} dimensions; write method: plain, or make fewer fields random"
            )

    @property
    def size(self) -> int:
        """Number of drawn networks."""
        return self.count * self._per_base

    def block_of(self, draws: Ints) -> Ints:
        """Return the block of each of the `draws`, [n].

        Blocks are contiguous. Their sizes differ by at most one draw (saltelli: one base point).
        """
        base = np.asarray(draws, np.int64) // self._per_base
        return np.asarray(((base + 1) * self.blocks - 1) // self.count)

    def points(self, draws: Ints) -> Floats:
        """Return the points of `draws` [n] in any order, float64[n, dimensions] in [0, 1).

        Raises IndexError for draws beyond `size`.
        """
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
        return _saltelli_points(found, part, self._group_numbers) if self.method == "saltelli" else found

    @property
    def _group_numbers(self) -> Ints:
        """Group of each dimension, int64[dimensions]."""
        return np.array(self.groups or range(self.dimensions), np.int64)

    @property
    def _per_base(self) -> int:
        groups = len(set(self.groups)) if self.groups else self.dimensions
        return groups + 2 if self.method == "saltelli" else 1

    @property
    def _coordinates(self) -> int:
        return 2 * self.dimensions if self.method == "saltelli" else self.dimensions


def _saltelli_points(found: Floats, part: Ints, group: Ints) -> Floats:
    """Return a, a with the coordinates of one group of b, or b for each row (a, b) [n, 2 * dimensions].

    `part` [n] is 0 for a, the number of the group from 1, or the number of groups + 1 for b. `group`
    [dimensions] is the group of each coordinate.
    """
    dimensions = found.shape[1] // 2
    from_b = (part[:, None] == group + 1) | (part[:, None] == group.max(initial=-1) + 2)
    return np.where(from_b, found[:, dimensions:], found[:, :dimensions])


@lru_cache(maxsize=4)
def _latin(seed: int, block: int, size: int, dimensions: int) -> Floats:
    """Return a Latin hypercube [size, dimensions]: one point in each of `size` slices of each axis."""
    number = np.arange(2 * size)
    points = np.empty((size, dimensions))
    for k in range(dimensions):
        order, within = np.split(uniforms(seed, block, number, _STREAM, k), 2)
        points[:, k] = (np.argsort(order, kind="stable") + within) / size
    return np.minimum(points, _BELOW_ONE)


@lru_cache(maxsize=4)
def _sobol(seed: int, block: int, size: int, dimensions: int) -> Floats:
    """Return the first `size` points of a scrambled Sobol sequence [size, dimensions].

    Digit j of a coordinate is replaced by itself plus a random combination of the digits before it, and all
    digits are shifted at random (Matousek, Journal of Complexity 14, 1998). The random numbers are those of
    netcarlo, so the points are the same with every version of SciPy.
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
    """Return the first 2^digits points of the Sobol sequence, times 2^digits."""
    _check()
    return _scipy_sobol(digits, dimensions)


@lru_cache(maxsize=1)
def _check() -> None:
    """Raise InputError if the direction numbers of SciPy have a wrong checksum."""
    if zlib.crc32(_scipy_sobol(_CHECKED, MAX_DIMENSIONS).tobytes()) != _CHECKSUM:
        raise InputError(
            "the Sobol sequence of SciPy is damaged and would draw wrong networks; reinstall SciPy"
        )


def _scipy_sobol(digits: int, dimensions: int) -> NDArray[np.uint32]:
    from scipy.stats.qmc import Sobol

    points = Sobol(dimensions, scramble=False).random_base2(digits)
    return np.asarray(points * 2.0**digits, np.uint32)
