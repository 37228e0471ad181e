import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from netcarlo.errors import InputError
from netcarlo.sweeps.space import designs as sequences
from netcarlo.sweeps.space.designs import METHODS, Design


@st.composite
def designs(draw):
    method = draw(st.sampled_from(METHODS))
    count = draw(st.integers(4, 300))
    blocks = 0 if method == "plain" else draw(st.just(0) | st.integers(2, count // 2))
    return Design(
        method=method,
        count=count,
        blocks=blocks,
        dimensions=draw(st.integers(0, 7)),
        seed=draw(st.integers(0, 2**64 - 1)),
    )


def everything(design):
    draws = np.arange(design.size)
    return design.points(draws), design.block_of(draws)


@pytest.mark.full
@given(designs(), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_a_point_does_not_depend_on_which_others_are_asked_for(design, random):
    points, blocks = everything(design)
    assert points.shape == (design.size, design.dimensions)
    assert ((points >= 0) & (points < 1)).all()
    some = np.array(random.choices(range(design.size), k=20))
    np.testing.assert_array_equal(design.points(some), points[some])
    np.testing.assert_array_equal(design.block_of(some), blocks[some])
    for outside in (-1, design.size):
        with pytest.raises(IndexError, match="numbered"):
            design.points(np.array([0, outside]))


@given(designs(), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_more_blocks_of_the_same_size_leave_the_others_alone(design, times):
    larger = Design(
        method=design.method, count=times * design.count, blocks=times * design.blocks,
        dimensions=design.dimensions, seed=design.seed,
    )  # fmt: skip
    some = np.arange(design.size)
    np.testing.assert_array_equal(larger.points(some), design.points(some))
    np.testing.assert_array_equal(larger.block_of(some), design.block_of(some))


@given(designs())
@settings(max_examples=40, deadline=None)
def test_blocks_are_contiguous_and_nearly_equal(design):
    per_base = design.size // design.count
    blocks = design.block_of(np.arange(design.size))
    assert (np.diff(blocks) >= 0).all()
    sizes = np.bincount(blocks, minlength=design.blocks)
    assert len(sizes) == design.blocks
    assert sizes.min() >= (1 if design.method == "plain" else 2) * per_base
    assert sizes.max() - sizes.min() in (0, per_base)


@given(st.integers(4, 40), st.lists(st.integers(0, 3), min_size=1, max_size=7), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_a_group_of_a_saltelli_design_is_exchanged_together(count, drawn, seed):
    names = list(dict.fromkeys(drawn))
    groups = tuple(names.index(each) for each in drawn)
    design = Design(method="saltelli", count=count, dimensions=len(groups), groups=groups, seed=seed)
    alone = Design(method="saltelli", count=count, dimensions=len(groups), seed=seed)
    assert design.size == count * (len(names) + 2)
    points = design.points(np.arange(design.size)).reshape(count, len(names) + 2, len(groups))
    every = alone.points(np.arange(alone.size)).reshape(count, len(groups) + 2, len(groups))
    a, b = every[:, 0], every[:, -1]
    np.testing.assert_array_equal(points[:, 0], a)
    np.testing.assert_array_equal(points[:, -1], b)
    for number in range(len(names)):
        for column, group in enumerate(groups):
            expected = b if group == number else a
            np.testing.assert_array_equal(points[:, 1 + number, column], expected[:, column])


@given(designs().filter(lambda design: design.method == "latin"))
@settings(max_examples=40, deadline=None)
def test_each_slice_of_a_latin_block_holds_one_point(design):
    points, blocks = everything(design)
    for block in range(design.blocks):
        here = points[blocks == block]
        for axis in here.T:
            assert sorted(np.floor(axis * len(here)).astype(int)) == list(range(len(here)))


@given(st.integers(1, 6), st.integers(0, 2**32), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_each_elementary_interval_of_a_sobol_block_holds_one_point(digits, seed, dimensions):
    # On an axis, the 2^k points of a block lie one in each of 2^k slices, as those of Latin hypercubes do;
    # in the first two dimensions also one in each box of 2^a by 2^(k - a), whatever a.
    design = Design(method="sobol", count=4 * 2**digits, blocks=4, dimensions=dimensions + 1, seed=seed)
    points, blocks = everything(design)
    for block in range(4):
        here = points[blocks == block]
        for axis in here.T:
            assert len(set(np.floor(axis * 2**digits))) == 2**digits
        for a in range(digits + 1):
            boxes = np.floor(here[:, :2] * [2**a, 2 ** (digits - a)])
            assert len(np.unique(boxes, axis=0)) == 2**digits


@pytest.mark.parametrize("method", METHODS)
def test_coordinates_are_uniform_whatever_the_draw(method):
    # Over many seeds, draw by draw: were 65 % of the points in one half, p would be about 1e-10.
    points = np.array(
        [
            Design(method=method, count=10, dimensions=3, seed=s).points(np.array([0, 3, 9]))
            for s in range(500)
        ]
    )
    for at in np.ndindex(3, 3):
        assert stats.kstest(points[:, *at], "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(points.reshape(500, 9).T) - np.eye(9))[:3, :3].max() < 0.2


def test_blocks_and_seeds_have_points_of_their_own():
    for method in METHODS:
        a = Design(method=method, count=64, blocks=0, dimensions=2, seed=1)
        b = Design(method=method, count=64, blocks=0, dimensions=2, seed=2)
        points = np.concatenate([everything(a)[0][:, 0], everything(b)[0][:, 0]])
        repeats = 2 if method == "saltelli" else 1  # each coordinate of `a` is in three of four draws
        assert len(np.unique(points)) >= len(points) / (2 * repeats)
        assert repeats == 2 or len(np.unique(points)) == len(points)


def smooth(points):
    return np.exp(points.sum(axis=1) / 2)


def error_of_the_mean(method, count):
    truth = (2 * (np.exp(0.5) - 1)) ** 4
    designs = (Design(method=method, count=count, dimensions=4, seed=seed) for seed in range(16))
    return np.sqrt(np.mean([(smooth(everything(d)[0]).mean() - truth) ** 2 for d in designs]))


def test_even_points_integrate_a_smooth_function_far_better():
    plain = error_of_the_mean("plain", 1024)
    assert error_of_the_mean("latin", 1024) < plain / 3
    assert error_of_the_mean("sobol", 1024) < plain / 20
    assert error_of_the_mean("sobol", 1000) < plain / 5  # blocks of 62 and 63


def test_a_saltelli_base_point_gives_a_then_mixtures_then_b():
    design = Design(method="saltelli", count=32, dimensions=3, seed=5)
    points = everything(design)[0].reshape(32, 5, 3)
    a, b = points[:, 0], points[:, 4]
    for k in range(3):
        expected = a.copy()
        expected[:, k] = b[:, k]
        np.testing.assert_array_equal(points[:, 1 + k], expected)
    together = Design(method="sobol", count=32, dimensions=6, seed=5)
    np.testing.assert_array_equal(np.hstack([a, b]), everything(together)[0])


def test_the_points_are_these():
    # The points of a stored sweep must never change.
    def first(method, draw):
        design = Design(method=method, count=64, dimensions=2, seed=7)
        return design.points(np.array([draw]))[0].tolist()

    assert first("plain", 3) == [0.7260723803715188, 0.43280597001823784]
    assert first("latin", 3) == [0.8872141040624346, 0.19271290988658563]
    assert first("sobol", 63) == [0.4346262392401107, 0.5217073572143646]
    assert first("saltelli", 5) == [0.6702621778487156, 0.9507319407154032]


def test_a_worker_holds_little_of_a_large_design():
    large = Design(method="sobol", count=1_000_000, dimensions=30, seed=1)
    assert large.count / large.blocks <= 1 << 16
    assert Design(method="latin", count=10_000_000, dimensions=2, seed=1).blocks == 153
    assert large.points(np.array([999_999])).shape == (1, 30)


def test_counts_that_are_not_even_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        everything(Design(method="sobol", count=10_001, dimensions=3, seed=1))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "sobel"}, "did you mean 'sobol'"),
        ({"count": 3}, "draw = 3 is out of range; expected 4 to 10000000"),
        ({"count": 10_000_001}, "draw = 10000001"),
        ({"blocks": 51}, "blocks = 51 is out of range; expected 2 to 50"),
        ({"method": "plain", "blocks": 16}, "expected 100 to 100 for 100 plain draws"),
        ({"blocks": 1}, "blocks = 1"),
        ({"dimensions": 21_202}, "21202 random fields are too many"),
        ({"method": "saltelli", "dimensions": 10_601}, "10601 random fields are too many"),
    ],
)
def test_wrong_parameters_are_named(wrong, message):
    with pytest.raises(InputError, match=message):
        Design(**{"method": "sobol", "count": 100, "dimensions": 3, "seed": 1} | wrong)


def forget():
    for made_once in (sequences._sobol, sequences._unscrambled, sequences._check):
        made_once.cache_clear()


@pytest.fixture
def sobol_of_nobody(monkeypatch):
    """Return SciPy's class without computed points; the contents of `made` are called instead."""
    forget()
    yield lambda made: monkeypatch.setattr(stats.qmc, "Sobol", made)
    forget()


def test_threads_make_one_sequence_at_a_time(sobol_of_nobody):
    true, inside, most = stats.qmc.Sobol, [], []

    def slow(*args, **options):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.02)
        made = true(*args, **options)
        inside.pop()
        return made

    sobol_of_nobody(slow)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: sequences._sobol(k, 0, 64, 3), range(4)))
    assert max(most) == 1 and len(most) == 2  # the check, and one sequence for all
    assert all(np.array_equal(each, sequences._sobol(k, 0, 64, 3)) for k, each in enumerate(found))


def test_a_sequence_of_a_library_that_went_wrong_is_refused(sobol_of_nobody):
    true = stats.qmc.Sobol

    def broken(dimensions, **options):
        made = true(dimensions, **options)
        made._sv[dimensions // 2 :] = 0
        return made

    sobol_of_nobody(broken)
    with pytest.raises(InputError, match="Sobol sequence of SciPy is damaged"):
        Design(method="sobol", count=64, dimensions=5, seed=1).points(np.arange(64))
