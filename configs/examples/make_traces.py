"""Makes the traces of the examples: `python configs/examples/make_traces.py FOLDER`.

Nothing in them was measured.  They have what such links are known for, and numbers of a size that such links
have; the seeds are fixed, so the files come out the same each time.
"""

import math
import random
import sys
from pathlib import Path

SLOT_S = 15
"""A terminal of a LEO constellation is given a satellite for so long."""


def leo() -> str:
    """A minute on four satellites: a rate for each, and a delay that follows it as it comes and goes; nothing
    leaves for 60 to 140 ms while the terminal turns to the next one; few packets are lost otherwise."""
    draw, lines = random.Random(1), ["time,rate,delay,loss"]
    for slot in range(4):
        begin, rate = slot * SLOT_S, draw.uniform(35, 110)
        silent = draw.uniform(0.06, 0.14)
        nearest, least = draw.uniform(0.2, 0.8) * SLOT_S, draw.uniform(18, 26)
        for second in range(SLOT_S):
            delay = least + 0.05 * (second - nearest) ** 2 + draw.uniform(0, 0.5)
            now = rate * draw.uniform(0.85, 1.05)
            if second == 0:
                lines.append(f"{begin} s,0,{delay:.2f} ms,0")
            at = begin + (silent if second == 0 else second)
            lines.append(f"{at:.3f} s,{now:.2f} Mbit/s,{delay:.2f} ms,{0.05 + 0.1 * draw.random():.3f} %")
    return "\n".join([*lines, f"{4 * SLOT_S} s,,,", ""])


def cell_5g() -> str:
    """Four seconds of a user's share of a 5G cell: slots of a scheduler every 5 ms on average, larger ones in
    good moments of a channel that fades slowly, and 200 ms behind a bus."""
    draw, lines, fading = random.Random(2), [], 0.0
    for ms in range(4000):
        fading += 0.01 * (-fading) + 0.07 * draw.gauss(0, 1)
        blocked = 2300 <= ms < 2500
        if draw.random() < 0.2:
            packets = round((1 if blocked else 12) * math.exp(fading) * draw.uniform(0.5, 1.5))
            lines += [str(ms)] * packets
    return "\n".join([*lines, "4000", ""])


FILES = {"leo.csv": leo, "cell_5g.trace": cell_5g}


def main(folder: Path) -> None:
    """Write the traces into a folder."""
    for name, make in FILES.items():
        (folder / name).write_text(make())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
