"""Smallest set of models found that has every pair of options: `python -m tests.covering`.

A fault in a model is nearly always one of a sender, of a congestion control, of an option, or of two of them
together.  So not every model needs an expensive test, but every *pair* of values of their axes does.  The
axes are the fields of `Address`.  A pair is feasible if some model of `models.MODELS` has it.

`chosen()` is what digests, twins and PTX are tested with, so no pair is without a test of each kind.
The command prints it, and what lists of models cover.
"""

import argparse
import functools
import json
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from netcarlo.kernels import models
from netcarlo.kernels.base.address import Address


class Value(NamedTuple):
    """Value of an axis: a model has one of each."""

    axis: str
    value: str | bool


Pair = tuple[Value, Value]

DIGESTS = Path(__file__).parent / "digests" / "digests.json"

EVERYDAY = (
    "tcp_newreno", "tcp_sack", "tcp_sack_cubic", "tcp_linux_cubic", "tcp_linux26_westwood",
    "tcp_newreno_mobile", "sctp", "udp", "shared_newreno", "shared_mixed", "wifi_newreno",
    "manet_newreno", "fluid",
)  # fmt: skip
"""Models that are always tested: each engine with the senders that most studies use."""


def addresses() -> dict[str, Address]:
    """Return the addresses of all models, by name."""
    return {name: model.address for name, model in models.MODELS.items()}


def axes(of: Iterable[Address]) -> dict[str, list[str | bool]]:
    """Return the fields of an address in which models differ, and their values."""
    of = [*of]
    found = {name: sorted({getattr(address, name) for address in of}) for name in Address._fields}
    return {name: values for name, values in found.items() if len(values) > 1}


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of the axes."""
    return tuple(axes(addresses().values()))


def pairs(of: Iterable[Address]) -> set[Pair]:
    """Return the pairs of values of different axes that models have."""
    values = ([Value(name, getattr(address, name)) for name in names()] for address in of)
    return {pair for each in values for pair in combinations(each, 2)}


def switched_on(of: Iterable[Address]) -> set[Pair]:
    """Return the pairs of enabled features: network, sender with its congestion control, and options."""
    found = set()
    for address in of:
        sender = f"{address.sender} {address.control}".strip()
        values = [Value("family", address.family), Value("sender", sender)]
        values += [Value(name, True) for name in Address._fields if getattr(address, name) is True]
        found |= {*combinations(values, 2)}
    return found


def covering(
    of: Mapping[str, Address], *, start: Iterable[str] = (), preferred: Iterable[str] = ()
) -> list[str]:
    """Return the names of few models that have all pairs that any of them has; `start` are taken anyway.

    Those in `preferred` that add a pair come first.  Each other one is the model with the most pairs that are
    missing, of these the one that compiles fastest; then those that turned out to be superfluous are left
    out.  The result does not depend on the order of `of`.
    """
    numbers: dict[Pair, int] = {}
    masks = {}
    for name in sorted(of, key=lambda name: (models.MODELS[name].compile_s, name)):
        masks[name] = sum(1 << numbers.setdefault(pair, len(numbers)) for pair in pairs([of[name]]))
    given = [*start]
    missing = (1 << len(numbers)) - 1
    for name in given:
        missing &= ~masks[name]
    chosen: list[str] = []
    for name in preferred:
        if name in masks and name not in given and masks[name] & missing:
            chosen.append(name)
            missing &= ~masks[name]
    while missing:
        best = max(masks, key=lambda name: (masks[name] & missing).bit_count())
        chosen.append(best)
        missing &= ~masks[best]
    for name in [*chosen]:
        others = [masks[other] for other in (*given, *chosen) if other != name]
        if not masks[name] & ~functools.reduce(int.__or__, others, 0):
            chosen.remove(name)
    return given + chosen


@functools.cache
def chosen() -> tuple[str, ...]:
    """Return the names of the models that tests use: `EVERYDAY`, and what these lack of the pairs.

    Models that simulate packets have all pairs of such models, and fluids those of fluids, as the two have
    nothing in common but random numbers.  Models with a digest are preferred: a new option adds models, and
    the evidence on the others stays that of earlier versions.
    """
    known, digests = addresses(), sorted(json.loads(DIGESTS.read_text())["small"]["model"])
    kinds = ({name: known[name] for name in known if known[name].fluid is fluid} for fluid in (False, True))
    return tuple(
        name
        for kind in kinds
        for name in covering(kind, start=[name for name in EVERYDAY if name in kind], preferred=digests)
    )


def report(lists: Mapping[str, Iterable[str]]) -> str:
    """Return a table with the number of feasible pairs that each list of models has."""
    known = addresses()
    every, every_on = pairs(known.values()), switched_on(known.values())
    lines = [
        f"{len(known)} models, {len(every)} pairs of values, {len(every_on)} of what is switched on",
        f"{'':32}{'models':>8}{'pairs':>16}{'switched on':>16}",
    ]
    for title, names in lists.items():
        own = [known[name] for name in names]
        all_pairs, on = len(pairs(own)), len(switched_on(own))
        shares = f"{all_pairs} ({all_pairs / len(every):.0%})", f"{on} ({on / len(every_on):.0%})"
        lines.append(f"{title:32}{len(own):>8}{shares[0]:>16}{shares[1]:>16}")
    return "\n".join(lines)


def main() -> None:
    """Print the models that tests use, and the coverage of lists of models."""
    argparse.ArgumentParser(prog="python -m tests.covering", description=__doc__).parse_args()
    known = addresses()
    lists = {
        "all": models.MODELS, "everyday": EVERYDAY, "smallest covering set": covering(known),
        "tested": chosen(), "compiled for GPU hosts (models.NAMES)": models.NAMES,
    }  # fmt: skip
    print(report(lists), *chosen(), sep="\n")


if __name__ == "__main__":
    main()
