"""Differences between the colours of figures, for normal and deficient colour vision and in grey print.

`python -m tests.reports.palette`, from the repository's root, prints the figures.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from netcarlo.reports.parts.figures import COLOURS

Floats = NDArray[np.float64]

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
"""Matrix that maps a colour in linear RGB to its appearance, by kind of colour vision. Source: Machado,
Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency" (IEEE
Transactions on Visualization and Computer Graphics 15, 2009), severity 1.
"""

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = _TO_XYZ.sum(axis=1)


def linear(colour: str) -> Floats:
    """Return a colour `#rrggbb` of sRGB in linear RGB, float64[3]."""
    s = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def lab(colour: str, vision: str = "normal") -> Floats:
    """Return L*, a* and b* (D65) of a colour as this kind of colour vision perceives it, float64[3]."""
    seen = np.clip(VISIONS[vision] @ linear(colour), 0.0, 1.0)
    t = _TO_XYZ @ seen / _WHITE
    x, y, z = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(colour: str) -> float:
    """Return the contrast ratio of a colour to white (WCAG 2)."""
    return 1.05 / (float(_TO_XYZ[1] @ linear(colour)) + 0.05)


def ciede2000(first: Floats, second: Floats) -> float:
    """Return the colour difference CIEDE2000 of two colours in L*a*b*.

    Source: Sharma, Wu and Dalal, "The CIEDE2000 color-difference formula" (Color Research and Application
    30, 2005).
    """
    (l1, a1, b1), (l2, a2, b2) = first.tolist(), second.tolist()
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(c7 / (c7 + 25.0**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    grey = c1 * c2 == 0
    turn = 0.0 if grey else (h2 - h1 + 180) % 360 - 180
    dl, dc, dh = l2 - l1, c2 - c1, 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    hue = h1 + h2 if grey else (h1 + turn / 2) % 360
    t = (
        1 - 0.17 * np.cos(np.radians(hue - 30)) + 0.24 * np.cos(np.radians(2 * hue))
        + 0.32 * np.cos(np.radians(3 * hue + 6)) - 0.20 * np.cos(np.radians(4 * hue - 63))
    )  # fmt: skip
    sl = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    c7 = chroma**7
    rotation = -2 * np.sqrt(c7 / (c7 + 25.0**7)) * np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    parts = dl / sl, dc / sc, dh / sh
    return float(np.sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2]))


def nearest(colours: tuple[str, ...], vision: str) -> float:
    """Return the smallest CIEDE2000 of any two of these colours for this kind of colour vision."""
    seen = [lab(colour, vision) for colour in colours]
    return min(ciede2000(a, b) for a, b in combinations(seen, 2))


def grey_gap(colours: tuple[str, ...]) -> float:
    """Return the smallest difference of L* of any two of these colours, which remains in grey print."""
    lightness = sorted(lab(colour)[0] for colour in colours)
    return float(min(np.diff(lightness)))


def main() -> None:
    """Print the colours, and the smallest difference among the first k."""
    print("colour   L*    contrast to white")
    for colour in COLOURS:
        print(f"{colour}  {lab(colour)[0]:4.1f}  {contrast(colour):4.1f}")
    print("\nfirst  " + "  ".join(f"{name:>12}" for name in VISIONS) + "   L* apart")
    for k in range(2, len(COLOURS) + 1):
        found = [nearest(COLOURS[:k], vision) for vision in VISIONS]
        print(f"{k:5}  " + "  ".join(f"{value:12.1f}" for value in found) + f"  {grey_gap(COLOURS[:k]):9.1f}")


if __name__ == "__main__":
    main()
