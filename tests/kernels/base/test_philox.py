"""Philox: comparison with the published test vectors and an independent implementation."""

import numba
import numpy as np
import pytest

from netcarlo.kernels.base import philox
from netcarlo.kernels.base.bind import bind
from tests.twins.random_numbers import Streams, philox4x32_10

# Random123 1.09, tests/kat_vectors, lines "philox4x32 10": counter, key, answer.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter: str, key: str, answer: str) -> None:
    c = [np.uint64(word) for word in words(counter)]
    k = [np.uint64(word) for word in words(key)]
    assert [int(word) for word in philox.philox4x32(*c, *k)] == words(answer)
    assert philox4x32_10(words(counter), words(key)) == words(answer)


def test_a_draw_is_addressed_by_all_five_numbers() -> None:
    rng = np.random.default_rng(1)
    for draw in (philox.draw, bind(philox.draw, numba.njit)):
        for _ in range(50):
            seed = int(rng.integers(0, 1 << 63))
            scenario, replication, stream, i = (int(word) for word in rng.integers(0, 1 << 32, 4))
            expected = Streams(seed, scenario, replication).block(stream, i)
            assert [int(word) for word in draw(seed, scenario, replication, stream, i)] == expected


def test_host_uniforms_are_the_same_stream_with_53_bits() -> None:
    replications = np.array([0, 1, 7, 2**32 - 1])
    drawn = philox.uniforms(123456789012345678, 5, replications, 1 << 31, 9)
    for replication, value in zip(replications, drawn, strict=True):
        a, b, _, _ = Streams(123456789012345678, 5, int(replication)).block(1 << 31, 9)
        assert value == ((a >> 5) * 2**26 + (b >> 6)) / 2**53
    assert ((drawn >= 0) & (drawn < 1)).all()


def test_host_uniforms_do_not_depend_on_the_chunk() -> None:
    together = philox.uniforms(3, 1, np.arange(1000), 77)
    apart = np.concatenate([philox.uniforms(3, 1, np.arange(k, k + 100), 77) for k in range(0, 1000, 100)])
    assert (together == apart).all()


def test_host_uniforms_are_uniform_and_independent() -> None:
    """Test 10**6 draws, which detect an error of 0.003 in the mean or in a lag correlation with certainty."""
    draws = philox.uniforms(42, 0, np.arange(1_000_000), 5)
    standard_error = 1.0 / np.sqrt(12.0 * draws.size)
    assert abs(draws.mean() - 0.5) < 5.0 * standard_error
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 5.0 / np.sqrt(draws.size)
    counts = np.bincount((draws * 64).astype(int), minlength=64)
    chi2 = ((counts - draws.size / 64) ** 2 / (draws.size / 64)).sum()
    assert 20.0 < chi2 < 150.0  # 63 degrees of freedom: outside with probability < 1e-7
