"""Colours of the figures: they can be distinguished by every kind of colour vision, and in grey print."""

import numpy as np
import pytest

from netcarlo.reports.parts.figures import COLOURS, DASHES, SYMBOLS
from tests.reports.palette import VISIONS, ciede2000, contrast, grey_gap, lab, nearest


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (56.0, -27.0, -3.0), 31.9030),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_that_of_the_published_test_data(
    first: tuple[float, ...], second: tuple[float, ...], difference: float
) -> None:
    assert ciede2000(np.array(first), np.array(second)) == pytest.approx(difference, abs=5e-5)


def test_white_and_grey_look_alike_to_every_eye() -> None:
    for vision in VISIONS:
        assert lab("#ffffff", vision) == pytest.approx([100, 0, 0], abs=0.1)
        assert lab("#888888", vision) == pytest.approx(lab("#888888"), abs=0.1)


@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_colours_are_apart(vision: str) -> None:
    assert nearest(COLOURS, vision) >= 15
    assert nearest(COLOURS[:4], vision) >= 20


def test_grey_print_keeps_them_apart() -> None:
    """Seven colours that are also dark enough on white cannot differ more in grey; dashes and symbols
    help."""
    gaps = {k: grey_gap(COLOURS[:k]) for k in (4, 5, 7)}
    assert gaps[4] >= 10 and gaps[5] >= 8 and gaps[7] >= 4
    assert len(set(DASHES)) >= 6 and len(set(SYMBOLS)) >= len(COLOURS)


def test_every_colour_is_dark_enough_on_white() -> None:
    assert min(map(contrast, COLOURS)) >= 3  # WCAG 2.2, 1.4.11
