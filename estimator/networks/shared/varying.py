"""Time-varying links: from the records of cables to the pairs stored after the columns of links."""

from collections.abc import Sequence

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.shared.layout import TABLE, Link
from netcarlo.networks import pairs
from netcarlo.networks.pairs import ALL
from netcarlo.networks.shared.description import Cable, Line, Reverse, SharedSpec
from netcarlo.networks.traces import check_end
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws


def check(shared: SharedSpec, duration_s: float) -> None:
    """Raise InputError if a trace is shorter than the run, jitter reorders packets, or PIE is used with a
    time-varying rate."""
    for name, line in shared.each_line():
        check_end(line.trace, line.repeat, f"shared.{name}.trace", duration_s)
        lines = (line, line.reverse) if isinstance(line, Cable) else (line,)
        for of in lines:
            if of.jitter is not None and of.jitter.reorder:
                where = f"shared.{name}{'' if of is line else '.reverse'}.jitter"
                raise InputError(
                    f"{where} cannot reorder, as links keep the order of packets; remove reorder"
                )
        rates = any(of.trace is not None and of.trace.mean("rate") is not None for of in lines)
        if any(of.pie is not None for of in lines):
            remedy = "write codel or fq_codel, or remove one of them"
            needs = f"shared.{name}.pie needs a constant rate"
            if rates:
                raise InputError(f"{needs}, but the trace has rates; {remedy}")
            if any(of.shaper is not None for of in lines):
                raise InputError(f"{needs}, but a shaper has bursts; {remedy}")


def most_pairs(line: Line | Reverse) -> int:
    """Return the maximum number of pairs of a link, or of a direction of a cable."""
    most = pairs.most_pairs(line.trace, line.jitter) if line.varies else 0
    if isinstance(line, Cable) and (line.varies or line.reverse.varies):
        most = max(most, pairs.most_pairs(line.reverse.trace or line.trace, line.reverse.jitter))
    return most


def fill(
    table: Ints, line: Line, name: str, draws: Draws, *, reverse: Reverse | None, size: Ints,
    loss: Ints | None,
) -> Ints:  # fmt: skip
    """Return the pairs of a link [n, k, 2], or of the `reverse` of a cable; `loss` is as in
    `pairs.Direction`.

    The columns of `table` [n, Link.COLUMNS] are set to the means of its trace, for packets of `size` bytes
    [n].
    """
    if reverse is None:
        of = pairs.forward(line, name, draws, loss=loss)
    else:
        of = pairs.forward(reverse, f"{name}.reverse", draws, otherwise=line, loss=loss)
        if reverse.trace is None and line.trace is not None:
            given = {column for column in ("rate", "delay") if getattr(reverse, column) is not None}
            which, used = pairs.chosen(line.trace, f"{name}.trace", draws), ALL - {"loss"} - given
            of = of._replace(trace=line.trace, which=which, repeat=bool(line.repeat), used=used)
    found, byte_time, delay = pairs.pairs(of, table[:, Link.BYTE_TIME], table[:, Link.DELAY], size)
    table[:, Link.BYTE_TIME], table[:, Link.DELAY] = byte_time, delay
    return found


def placed(links: Ints, tables: Sequence[Ints]) -> Ints:
    """Return the links [n, L, Link.COLUMNS] followed by the pairs of each."""
    longest = max((table.shape[1] for table in tables), default=0)
    found = np.pad(links, [(0, 0), (0, 0), (0, 2 * longest)])
    for k, table in enumerate(tables):
        if table.shape[1] > 0:
            found[:, k, Link.VARIES] = TABLE
            found[:, k, Link.COLUMNS : Link.COLUMNS + 2 * table.shape[1]] = table.reshape(len(table), -1)
    return found
