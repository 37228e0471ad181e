"""Generate the traces of the examples: `python configs/examples/make_traces.py FOLDER`.

The traces are synthetic, not measured, with typical properties and values of such links. The seeds are fixed,
so the files are always the same.
"""

import math
import random
import sys
from pathlib import Path

SLOT_S = 15
"""Time for which a terminal of a LEO constellation uses a satellite [s]."""


def leo() -> str:
    """Return a trace of one minute with four satellites.

    Each satellite has its own rate, and a delay that changes with its distance. During a handover, nothing is
    sent for 60 to 140 ms; otherwise few packets are lost.
    """
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
    """Return a trace of four seconds of a user in a 5G cell.

    The scheduler assigns a slot every 5 ms on average, with more packets when the slowly fading channel is
    good. For 200 ms the user is behind a bus.
    """
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
