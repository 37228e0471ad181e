"""SCTP with the rules of RFC 9260, compared with usrsctp over two emulated paths.

    python -m tests.campaigns usrsctp sctp_outage 40 --seed 1

Draws scenarios of a kind (see `drawn`), runs each with several seeds by both, and prints the errors of the
medians.  The stack runs in virtual time (`stack.c`): a run takes a fraction of a second, and no other work
disturbs it.  It needs gcc and libusrsctp-dev.
"""

import pandas as pd

from tests.campaigns import parser
from tests.campaigns.verification.usrsctp.drawn import KINDS, drawn
from tests.campaigns.verification.usrsctp.runs import compared

CLOSE_S = 0.06
"""Largest difference of times that count as equal [s]."""


def main() -> None:
    """Print a line for each scenario, and the errors."""
    arguments = parser(__doc__)
    arguments.add_argument("kind", choices=KINDS)
    arguments.add_argument("count", type=int)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    found = compared(drawn(given.kind, given.count, seed=given.seed), seed=given.seed)
    print(found.round(4).to_csv(index=False))
    print(summary(found))


def summary(found: pd.DataFrame) -> str:
    """Return the errors of the goodput, and of the times of a failover and of a return."""
    errors = found["netcarlo_goodput_bps"] / found["usrsctp_goodput_bps"] - 1
    size = errors.abs()
    lines = [
        f"goodput: median {100 * size.median():.2g} %, 90 % within {100 * size.quantile(0.9):.2g} %, worst "
        f"{100 * size.max():.2g} %, bias {100 * errors.mean():+.2g} %"
    ]
    for name in ("moved_s", "returned_s"):
        if f"usrsctp_{name}" not in found or found[f"usrsctp_{name}"].isna().all():
            continue
        ours, theirs = found[f"netcarlo_{name}"], found[f"usrsctp_{name}"]
        both = (ours.isna() & theirs.isna()) | ((ours - theirs).abs() <= CLOSE_S)
        apart = (ours - theirs).dropna()
        lines.append(
            f"{name}: {both.sum()} of {len(found)} within {1e3 * CLOSE_S:.0f} ms; differences "
            f"{apart.min():+.2f} to {apart.max():+.2f} s, median {apart.median():+.2f} s"
        )
    return "\n".join(lines)
