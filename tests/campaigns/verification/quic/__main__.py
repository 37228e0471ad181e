"""Runs of the QUIC stack ngtcp2, written as reference files that `netcarlo validate` reads.

    python -m tests.campaigns quic --out quic_bulk.csv bulk 40

Draws scenarios (`bulk`, `finite`, `outage`, `migration`) and runs them in virtual time (`ngtcp2.c`). It needs
gcc and the Debian packages libngtcp2-dev and libngtcp2-crypto-gnutls-dev.
"""

from pathlib import Path

from tests.campaigns import parser
from tests.campaigns.verification.quic.drawn import KINDS, drawn
from tests.campaigns.verification.quic.runs import measured


def main() -> None:
    """Write the file."""
    arguments = parser(__doc__)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("kind", choices=KINDS)
    arguments.add_argument("count", type=int)
    given = arguments.parse_args()
    stack, found = measured(drawn(given.kind, given.count, seed=given.seed), seed=given.seed)
    print(stack)
    found.to_csv(given.out, index=False)
