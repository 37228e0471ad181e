import numpy as np
import pandas as pd
import pytest
from SALib.analyze import rbd_fast, sobol

from netcarlo.errors import InputError
from netcarlo.sweeps.analysis.sensitivity import indices
from netcarlo.sweeps.space.designs import Design

METHODS = ("plain", "latin", "sobol", "saltelli")
A, B = 7.0, 0.1
NAMES = ["x1", "x2", "x3"]
GROUPED = ["hops.0.each.0.loss", "x2", "hops.0.each.1.loss"]
"""Inputs of which the first and the last are drawn from one distribution."""


def ishigami(points):
    """Return Ishigami and Homma's function of three numbers uniform in [-pi, pi]."""
    x = (2 * points - 1) * np.pi
    return np.sin(x[:, 0]) + A * np.sin(x[:, 1]) ** 2 + B * x[:, 2] ** 4 * np.sin(x[:, 0])


_VARIANCE = A**2 / 8 + B * np.pi**4 / 5 + B**2 * np.pi**8 / 18 + 0.5
FIRST = np.array([0.5 * (1 + B * np.pi**4 / 5) ** 2, A**2 / 8, 0.0]) / _VARIANCE
TOTAL = FIRST + np.array([1, 0, 1]) * B**2 * np.pi**8 * (1 / 18 - 1 / 50) / _VARIANCE


def additive(points):
    return points @ [1.0, 2.0, 4.0]


def sweep(method, count, function, seed=1, groups=()):
    """Return a frame of drawn networks, and the entry of the manifest about the design."""
    design = Design(method=method, count=count, dimensions=3, seed=seed, groups=groups)
    draws = np.arange(design.size)
    columns = {"draw": draws, "block": design.block_of(draws), "seed": seed}
    frame = pd.DataFrame(columns | {"goodput": function(design.points(draws))})
    return frame, {"method": method, "count": count, "blocks": design.blocks, "size": design.size}


def of_sweep(frame, draw):
    return indices(frame, inputs=NAMES, of="goodput", draw=draw)


@pytest.mark.parametrize("method", METHODS)
def test_the_indices_of_ishigamis_function_are_found(method):
    found = of_sweep(*sweep(method, 2048, ishigami))
    assert found.index.tolist() == NAMES
    np.testing.assert_allclose(found["first"], FIRST, atol=0.07)
    assert (found["first_high"] - found["first_low"] < 0.12).all()
    if method == "saltelli":
        np.testing.assert_allclose(found["total"], TOTAL, atol=0.05)
    else:
        assert found[["total", "total_low", "total_high"]].isna().all(axis=None)


@pytest.mark.parametrize("method", METHODS)
def test_the_indices_of_a_sum_are_the_shares_of_its_variance(method):
    found = of_sweep(*sweep(method, 1024, additive))
    np.testing.assert_allclose(found["first"], np.array([1, 4, 16]) / 21, atol=0.03)
    if method == "saltelli":
        np.testing.assert_allclose(found["total"], np.array([1, 4, 16]) / 21, atol=0.03)


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_intervals_of_indices_cover_them(method):
    # 60 runs of three indices: 95 % has a standard error of 2.8 % for each, 85 % fails in 96 of 100 cases.
    first, total = np.zeros(3), np.zeros(3)
    for seed in range(60):
        found = of_sweep(*sweep(method, 256, ishigami, seed))
        first += (found["first_low"] <= FIRST) & (found["first_high"] >= FIRST)
        total += (found["total_low"] <= TOTAL) & (found["total_high"] >= TOTAL)
    assert (first >= 0.9 * 60 - 1).all()
    assert method != "saltelli" or (total >= 0.9 * 60 - 1).all()


def test_the_estimates_are_salibs():
    frame, draw = sweep("saltelli", 256, ishigami)
    found = of_sweep(frame, draw)
    problem = {"num_vars": 3, "names": NAMES, "bounds": [[0, 1]] * 3}
    theirs = sobol.analyze(problem, frame["goodput"].to_numpy(), calc_second_order=False, seed=1)
    np.testing.assert_allclose(found["first"], theirs["S1"])
    np.testing.assert_allclose(found["total"], theirs["ST"])
    frame, draw = sweep("sobol", 256, ishigami)
    points = Design(method="sobol", count=256, dimensions=3, seed=1).points(np.arange(256))
    theirs = rbd_fast.analyze(problem, points, frame["goodput"].to_numpy(), num_resamples=2, seed=1)
    np.testing.assert_allclose(of_sweep(frame, draw)["first"], theirs["S1"])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_group_of_inputs_has_the_index_of_all_its_interactions(seed):
    # Without x2: Var E[y|x1, x3] = V1 + V3 + V13; x2 does not interact with them.
    frame, draw = sweep("saltelli", 2048, ishigami, seed, groups=(0, 1, 0))
    assert draw["size"] == 2048 * 4
    found = indices(frame, inputs=GROUPED, of="goodput", draw=draw)
    assert found.index.tolist() == ["hops.0.each.loss", "x2"] and found["fields"].tolist() == [2, 1]
    expected = [1 - FIRST[1], FIRST[1]]
    np.testing.assert_allclose(found["first"], expected, atol=0.05)
    np.testing.assert_allclose(found["total"], expected, atol=0.05)
    for kind in ("first", "total"):
        assert ((found[f"{kind}_low"] - 0.02 < expected) & (expected < found[f"{kind}_high"] + 0.02)).all()


def test_groups_are_salibs():
    frame, draw = sweep("saltelli", 256, ishigami, groups=(0, 1, 0))
    found = indices(frame, inputs=GROUPED, of="goodput", draw=draw)
    problem = {"num_vars": 3, "names": GROUPED, "bounds": [[0, 1]] * 3, "groups": ["losses", "x2", "losses"]}
    theirs = sobol.analyze(problem, frame["goodput"].to_numpy(), calc_second_order=False, seed=1)
    np.testing.assert_allclose(found["first"], theirs["S1"])
    np.testing.assert_allclose(found["total"], theirs["ST"])


@pytest.mark.parametrize("method", ["plain", "latin", "sobol"])
def test_a_group_of_other_designs_has_the_sum_of_its_inputs(method):
    found = indices(*(one := sweep(method, 2048, ishigami))[:1], inputs=GROUPED, of="goodput", draw=one[1])
    np.testing.assert_allclose(found["first"], [FIRST[0] + FIRST[2], FIRST[1]], atol=0.08)
    of_fields = of_sweep(*one)["first"]
    np.testing.assert_allclose(found["first"], [of_fields["x1"] + of_fields["x3"], of_fields["x2"]])
    frame, draw = sweep(method, 2048, additive)  # without interactions it is the index of the group
    found = indices(frame, inputs=GROUPED, of="goodput", draw=draw)
    np.testing.assert_allclose(found["first"], [17 / 21, 4 / 21], atol=0.05)


def test_a_saltelli_store_without_groups_has_a_row_for_each_field():
    frame, draw = sweep("saltelli", 512, ishigami)
    found = indices(frame, inputs=GROUPED, of="goodput", draw=draw)
    assert found.index.tolist() == GROUPED
    np.testing.assert_array_equal(found["first"], of_sweep(frame, draw)["first"])


@pytest.mark.parametrize("method", METHODS)
def test_the_same_networks_in_any_order_give_the_same_bits(method):
    frame, draw = sweep(method, 128, ishigami)
    shuffled = frame.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(of_sweep(frame, draw), of_sweep(shuffled, draw), check_exact=True)


def test_a_hop_that_is_not_always_there_counts_where_it_is():
    # x1 decides whether x2 has an effect: Var E[y|x2] = Var(x2) / 4, Var E[y|x1] = 1 / 16.
    frame, draw = sweep("sobol", 4096, lambda p: (p[:, 0] < 0.5) * p[:, 1])
    variance = 1 / 6 - 1 / 16
    found = of_sweep(frame, draw)
    expected = np.array([1 / 16, 1 / 48, 0]) / variance
    np.testing.assert_allclose(found["first"], expected, atol=0.035)  # a jump loses 4 %
    frame, draw = sweep("saltelli", 1024, lambda p: (p[:, 0] < 0.5) * p[:, 1])
    np.testing.assert_allclose(of_sweep(frame, draw)["first"], expected, atol=0.03)


@pytest.mark.parametrize(("method", "unused"), [("saltelli", 10), ("sobol", 3)])
def test_networks_without_an_outcome_are_left_out_and_counted(method, unused):
    frame, draw = sweep(method, 512, ishigami)
    frame.loc[[10, 11], "goodput"] = np.nan  # of one base point, which then cannot be used
    frame.loc[[400], "goodput"] = np.inf
    found = of_sweep(frame, draw)
    assert found.attrs == {"used": len(frame) - unused, "left_out": unused}
    np.testing.assert_allclose(found["first"], FIRST, atol=0.1)
    missing = frame.drop(index=[10, 11, 400])  # not simulated yet
    pd.testing.assert_frame_equal(of_sweep(missing, draw), found)


def test_half_a_sweep_has_indices_too():
    frame, draw = sweep("saltelli", 512, ishigami)
    found = of_sweep(frame.iloc[: len(frame) // 2], draw)
    assert found.attrs == {"used": 256 * 5, "left_out": 0}
    np.testing.assert_allclose(found["total"], TOTAL, atol=0.15)


def test_what_cannot_be_answered_is_said():
    frame, draw = sweep("sobol", 128, ishigami)
    with pytest.raises(InputError, match="did you mean 'goodput'"):
        indices(frame, inputs=NAMES, of="godput", draw=draw)
    with pytest.raises(InputError, match="choose one value of each axis"):
        of_sweep(pd.concat([frame, frame]), draw)
    with pytest.raises(InputError, match="has a value on 63 networks or base points, and indices need 64"):
        of_sweep(frame.iloc[:63], draw)
    with pytest.raises(InputError, match="goodput is the same on every network"):
        of_sweep(frame.assign(goodput=0.1), draw)
