"""Commands that read files of other programs and write what a scenario names."""

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from netcarlo.cli import console, help
from netcarlo.errors import InputError, prefixed
from netcarlo.schema.readable import counted

if TYPE_CHECKING:
    from netcarlo.schema.units import Dimension

app = typer.Typer(cls=help.Group, no_args_is_help=True)


def import_trace(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A table, a Mahimahi trace or a dish history; also as .gz.")
    ],
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of times: 'Timestamp'.")] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of rates and its unit: 'DL_bitrate kbit/s'.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of one-way delays: 'ping ms / 2'.")
    ] = None,
    loss: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of losses: 'loss %'.")] = None,
    gap: Annotated[
        str | None, typer.Option(metavar="TIME", help="Gap between rows from which the rate is 0.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the trace here; default: only describe it.")
    ] = None,
) -> None:
    """Read a trace of a link, say what is in it, and write it as a table that `trace:` accepts.

    A hop reads the same files: `trace: FILE` or `trace: {file: FILE, time: COLUMN, rate: COLUMN}`.
    """
    from netcarlo.networks.traces import parse
    from netcarlo.schema import document, kinds, output, programs

    kinds.refuse_own(file, "a trace")
    programs.refuse(file, "a trace")
    options = {"time": time, "rate": rate, "delay": delay, "loss": loss, "gap": gap}
    written = {name: text for name, text in options.items() if text is not None}
    try:
        found = parse(document.read_text(file), **written)
    except InputError as error:
        raise (error if str(file) in str(error) else prefixed(error, f"{file}: ")) from None
    console.echo(f"{file}: {found.summary()}.")
    for note in found.notes:
        console.echo(f"  {note[:1].upper()}{note[1:]}.")
    if out is None:
        use = "{" + ", ".join(f"{k}: {v}" for k, v in {"file": str(file), **written}.items()) + "}"
        console.echo(f"Use it in a hop: trace: {use if written else file}, repeat: true")
        return
    if os.path.lexists(out):
        raise InputError(f"{out}: exists already; name another file with --out, or remove it")
    output.write_text(out, found.text)
    console.echo(f"Written to {out}. Use it in a hop: trace: {out.name}, repeat: true")


def import_movement(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of BonnMotion or of setdest (ns-2); also as .gz.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it here for BonnMotion; default: describe it.")
    ] = None,
) -> None:
    """Read the movement of the nodes of an ad hoc network, say what is in it, and write it for BonnMotion.

    A scenario reads the same files: `mobility: {model: given, nodes: FILE}`.
    """
    from netcarlo.schema import document, kinds, movement, output, programs

    kinds.refuse_own(file, "a movement file")
    programs.refuse(file, "a movement file", programs.MOVEMENT)
    try:
        found = movement.parse(document.read_text(file))
    except InputError as error:
        raise (error if str(file) in str(error) else prefixed(error, f"{file}: ")) from None
    console.echo(f"{file}: {found.summary()}.")
    for note in found.notes:
        console.echo(f"  {note[:1].upper()}{note[1:]}.")
    if out is not None:
        if os.path.lexists(out):
            raise InputError(f"{out}: exists already; name another file with --out, or remove it")
        output.write_text(out, found.text())
        console.echo(f"Written to {out}.")
    console.echo(f"Use it in adhoc: mobility: {{model: given, nodes: {file if out is None else out.name}}}")


_EXAMPLE = "Example: netcarlo import trace drive.csv --rate 'DL_bitrate kbit/s' --out drive.trace.csv"
app.command("trace", cls=help.Command, epilog=_EXAMPLE)(import_trace)
_EXAMPLE_MOVEMENT = "Example: netcarlo import movement walk.ns_movements --out walk.movements"
app.command("movement", cls=help.Command, epilog=_EXAMPLE_MOVEMENT)(import_movement)


def import_topology(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="GraphML, GML, SNDlib or a table of links; also as .gz.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the scenario here.")],
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Rate of links that have none: '10 Gbit/s'.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option(metavar="TIME", help="Delay of links without delay or positions: '2 ms'.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="UNIT", help="Unit of rates and demands without one: Mbit/s.")
    ] = None,
    flows: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="TCP downloads between random routers, in place of demands; default: 20."
        ),
    ] = None,
    bundle: Annotated[bool, typer.Option("--bundle", help="Add up parallel links to one.")] = False,
    directed: Annotated[
        bool, typer.Option("--directed", help="Each row of a table is one direction.")
    ] = False,
    scale: Annotated[float, typer.Option(metavar="FACTOR", help="Multiply all rates and demands.")] = 1.0,
) -> None:
    """Write a scenario from a map of routers and links, and say what was assumed.

    Delays are great-circle distances at 200,000 km/s where routers have positions. Rates are read from
    attributes and labels such as OC-192c or 2.5 Gbps. Demands of SNDlib become flows.
    """
    from netcarlo.networks.shared.topology import scenario
    from netcarlo.networks.shared.topology.read import read
    from netcarlo.scenario import Scenario
    from netcarlo.schema import document, kinds, output, units

    kinds.refuse_own(file, "a topology")
    if not 0 < scale < math.inf:
        raise InputError(f"--scale {scale:g} is not a factor; write a number above 0")
    options = scenario.Options(
        _quantity("--rate", rate, units.RATE), _quantity("--delay", delay, units.TIME), flows, bundle, scale
    )
    if os.path.lexists(out):
        raise InputError(f"{out}: exists already; name another file with --out, or remove it")
    kind, found = read(file, unit=unit or "", directed=directed)
    try:
        data, notes = scenario.scenario(found, document.title(file), options)
        shared = Scenario.check(data).shared
    except InputError as error:
        raise prefixed(error, f"{file}: ") from None
    output.write_text(out, scenario.text(data))
    assert shared is not None and shared.links is not None
    console.echo(
        f"{file}: {kind}; {counted(len(shared.routers), 'router')}, {counted(len(shared.links), 'link')} "
        f"({len(found.edges):,} in the file), {counted(shared.flow_bounds[1], 'flow')}."
    )
    for note in notes:
        console.echo(f"  {note[:1].upper()}{note[1:]}.")
    console.echo(f"Written to {out}. Next: netcarlo estimate {out}")


def _quantity(option: str, text: str | None, dimension: "Dimension") -> float | None:
    """Return the value of an option in SI units. Raises InputError with its name."""
    from netcarlo.schema import units

    try:
        return None if text is None else units.parse(text, dimension)
    except InputError as error:
        raise prefixed(error, f"{option}: ") from None


_TOPOLOGY_EXAMPLE = "Example: netcarlo import topology Geant.graphml --rate '10 Gbit/s' --out geant.yaml"
app.command("topology", cls=help.Command, epilog=_TOPOLOGY_EXAMPLE)(import_topology)
