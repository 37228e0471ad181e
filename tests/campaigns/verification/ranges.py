"""Values over which each model was compared with references: configs/references/validated_ranges.csv.

    python -m tests.campaigns ranges FOLDER > validated_ranges.csv
    python -m tests.campaigns ranges table

FOLDER holds NAME.csv for mappings of `configs/references`. Each row of a reference becomes a scenario by its
mapping, and `Network.compared` reads the values that this scenario reaches, as it does for the scenarios of
users. Fluids and formulae were compared with packets over the networks of the campaign `fidelity`. The second
command prints the tables of docs/results/validated-ranges.md.

Errors are those of the first metric of a mapping, by protocol. With `--rows FOLDER` they are read from the
output of `netcarlo validate NAME.csv --out NAME.csv`; otherwise every reference is simulated.
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from netcarlo.estimation.reference import ReferenceRow, load_mapping, mapping_names, read_rows
from netcarlo.estimation.validate import error_distribution, validate
from netcarlo.networks.extent import Extents, merged
from netcarlo.simulation import fidelity, validated
from netcarlo.simulation.validated import EDGE, QUANTITIES, RANGE, Row
from tests.campaigns import parser
from tests.campaigns.benchmarks.fidelity import populations

OTHERS = ("ns_manet_rwp",)
"""References about motion only, without transport."""

LINKS_PAGE = "links-as-sold"
"""Page of `docs/results` with the comparisons of fields of links."""

OF_KIND = {"handshake": "outage", "queue": "queue", "acks": "ack_loss", "short": "loss"}
"""Quantity that each kind of scenario in `linux_kernel_edges` tests. These are short transfers, so they do
not widen a range; they show the errors outside of it."""


def of_references(folder: Path, found: Path | None) -> Iterator[Row]:
    """Yield the rows of all references in a folder; errors are in the tables `found`, or simulated."""
    for name in mapping_names():
        file = folder / f"{name}.csv"
        if file.exists() and name not in OTHERS:
            rows = pd.read_csv(found / file.name) if found else validate(file, large=True).rows
            yield from of_reference(file, rows.astype({"id": str}))


def of_reference(file: Path, errors: pd.DataFrame) -> Iterator[Row]:
    """Yield the rows of one reference, given what `validate` found."""
    mapping = load_mapping(file.stem)
    metric, source = next(iter(mapping.metrics)), mapping.description.partition(",")[0]
    errors = errors[errors["metric"] == metric]
    groups: dict[tuple[str, str, str], list[tuple[str, Extents]]] = {}
    for row in read_rows(file, mapping):
        compared = row.scenario.network.compared(row.scenario)
        for protocol, extents in compared.protocols.items():
            kept = _about(row, extents)
            groups.setdefault((compared.network, protocol, _kind(row)), []).append((row.id, kept))
    for (network, protocol, kind), members in groups.items():
        off = error_distribution(errors[errors["id"].isin([name for name, _ in members])])
        for quantity, extent in merged(extents for _, extents in members).items():
            yield Row(
                "packet", network, protocol, quantity, extent.low, extent.high, EDGE if kind else RANGE,
                source, file.stem, len(members), metric, off["median"], off["p90"], off["worst"],
            )  # fmt: skip


def _kind(row: ReferenceRow) -> str:
    return str(row.columns.get("kind", "")) if row.columns.get("kind") in OF_KIND else ""


def _about(row: ReferenceRow, extents: Extents) -> Extents:
    """Keep the quantity that an edge scenario tests; for other scenarios keep all."""
    about = OF_KIND.get(_kind(row))
    return extents if about is None else {about: extents[about]}


def of_populations() -> Iterator[Row]:
    """Yield the rows of fluids and formulae: the networks on which their bias was measured."""
    found: dict[tuple[str, str], dict[str, Extents]] = {}
    for network, protocol, scenario in populations():
        for cheap in fidelity.CHEAP:
            if (cheap, network, protocol) in fidelity.measured():
                each = scenario.network.compared(scenario).protocols
                name = next(iter(each)) if len(each) == 1 else protocol
                found.setdefault((cheap, network), {})[name] = merged(each.values())
    for (kind, network), by_protocol in found.items():
        for protocol, extents in _together(by_protocol).items():
            for quantity, extent in extents.items():
                yield Row(
                    kind, network, protocol, quantity, extent.low, extent.high, RANGE,
                    "the packet model", "known_bias", 0, fidelity.OF, *[float("nan")] * 3,
                )  # fmt: skip


LINKS = {
    "overhead": (0.0, 46.0, "computed capacities", "capacity", 0.00001),
    "mpu": (0.0, 1024.0, "computed capacities", "capacity", 0.00001),
    "cells": (0.0, 1.0, "computed capacities", "capacity", 0.00001),
    "shaper_rate": (10e6, 10e6, "tbf of Linux", "goodput_bps", 0.001),
    "shaper_burst": (4096.0, 20000.0, "tbf of Linux", "goodput_bps", 0.001),
    "shaper_peak": (40e6, 40e6, "tbf of Linux", "goodput_bps", 0.001),
    "loss_correlation": (0.0, 0.5, "the formula of netem", "loss_share", 0.0),
}
"""Ranges of framing, shapers and correlated losses in docs/results/links-as-sold.md: ends, reference, metric,
largest error."""


def of_links() -> Iterator[Row]:
    """Yield the rows of fields of links, which were compared without a mapping, for all protocols."""
    for network in ("paths", "two paths", "shared links"):
        for quantity, (low, high, source, metric, most) in LINKS.items():
            yield Row(
                "packet", network, validated.ANY, quantity, low, high, RANGE, source, LINKS_PAGE, 0, metric,
                most, most, most,
            )  # fmt: skip


def _together(each: dict[str, Extents]) -> dict[str, Extents]:
    """Name the most common extent of each quantity under ANY, and others under their protocol."""
    common = {}
    for name in dict.fromkeys(name for extents in each.values() for name in extents):
        counts = Counter(extents[name] for extents in each.values() if name in extents)
        common[name] = counts.most_common(1)[0][0]
    own = {p: {n: e for n, e in extents.items() if e != common[n]} for p, extents in each.items()}
    return {validated.ANY: common, **{p: extents for p, extents in own.items() if extents}}


def write(rows: Iterable[Row], file: Any) -> None:
    """Write rows as CSV."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(Row._fields)
    for row in rows:
        out.writerow(_text(value) for value in row)


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if value != value else f"{value:.6g}"


def table() -> str:
    """Return the validated ranges of packets in Markdown: a table for each kind of network, and the edges."""
    every = [row for row in validated.rows() if row.fidelity == "packet"]
    packets = [row for row in every if row.protocol != validated.ANY]
    parts = []
    for start in ("paths", "shared links", "802.11", "ad hoc"):
        mine = [row for row in packets if row.network.replace("two ", "").startswith(start)]
        parts.append(_of_kind([row for row in mine if row.use == RANGE]))
    edges = ["| short transfers over paths | at | median | worst |", "|---|---|---|---|"]
    for row in packets:
        if row.use == EDGE:
            at = f"{QUANTITIES[row.quantity].word} {validated.between(row.quantity, row.low, row.high)}"
            edges.append(f"| `{row.protocol}` | {at} | {100 * row.median:.1f} % | {100 * row.worst:.1f} % |")
    links = ["| field of a hop or link | compared with | range | error at most |", "|---|---|---|---|"]
    for row in every:
        if (row.network, row.protocol) == ("paths", validated.ANY):
            at = "given" if QUANTITIES[row.quantity].flag else validated.span(row.quantity, row.low, row.high)
            links.append(
                f"| {QUANTITIES[row.quantity].word} | {row.source} | {at} | {100 * row.worst:.3g} % |"
            )
    return "\n\n".join([*parts, "\n".join(edges), "\n".join(links)])


def _of_kind(rows: list[Row]) -> str:
    """Return the table of a kind of network: a line for each protocol, a column for each quantity."""
    there = {row.quantity for row in rows}
    names = [name for name, quantity in QUANTITIES.items() if name in there and not quantity.flag]
    heads = ["network, protocol", "compared with", "scenarios", *(QUANTITIES[name].word for name in names)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for network, protocol in dict.fromkeys((row.network, row.protocol) for row in rows):
        mine = [row for row in rows if (row.network, row.protocol) == (network, protocol)]
        sizes = {row.reference: row.scenarios for row in mine}
        cells = [f"{network}, `{protocol}`", " and ".join(dict.fromkeys(row.source for row in mine))]
        cells.append(str(sum(sizes.values())))
        for name in names:
            some = [row for row in mine if row.quantity == name]
            cells.append(validated.span(name, *validated.limits_of(some)) if some else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the file or the table."""
    arguments = parser(__doc__)
    arguments.add_argument("folder", help="folder of reference files, or `table`")
    arguments.add_argument("--rows", type=Path, help="folder of what `netcarlo validate --out` wrote")
    given = arguments.parse_args()
    if given.folder == "table":
        print(table())
        return
    write([*of_references(Path(given.folder), given.rows), *of_links(), *of_populations()], sys.stdout)
