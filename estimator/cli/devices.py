"""The command `devices`: available devices, and whether a GPU computes the same outcomes as the CPU."""

import platform
from importlib.metadata import version
from typing import Annotated, Any

import typer

from netcarlo.cli import console
from netcarlo.cli.console import AsJson, Quiet
from netcarlo.errors import InputError

Row = tuple[str, str, str]
"""Target, name, size."""


def devices(
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Compare GPU and CPU on 300 networks of each engine; exit with 1 if they differ."
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the processors and GPUs that simulations can run on."""
    from netcarlo.kernels.runtime import device
    from netcarlo.kernels.runtime.threads import cores

    found = [("cpu", platform.processor() or platform.machine(), f"{cores()} cores")]
    found += [
        ("cuda", d.name, f"compute capability {d.capability}, {d.memory_bytes / 2**30:.0f} GiB")
        for d in device.devices()
    ]
    if check:
        _check(found, as_json, quiet)
    elif as_json:
        console.print_json(_data(found))
    else:
        for row in found:
            typer.echo("  ".join(row))


def _data(found: list[Row]) -> list[dict[str, str]]:
    return [dict(zip(("target", "name", "size"), row, strict=True)) for row in found]


def _check(found: list[Row], as_json: bool, quiet: bool) -> None:
    """Compare GPU and CPU, and print versions, devices, a line per engine, and the verdict."""
    from netcarlo.kernels.runtime import modules
    from netcarlo.simulation import agreement

    if reason := modules.obstacle():
        raise InputError(reason)
    versions = {name: version(name) for name in ("netcarlo", "numpy", "numba")}
    versions |= {"python": platform.python_version()} | modules.versions()
    silent = as_json or quiet
    if not silent:
        console.echo(", ".join(f"{name} {number}" for name, number in versions.items()))
        for row in found:
            console.echo("  ".join(row))
        head = f"{'engine':<20}{'model':<24}{'ready [s]':>10}{'launch [s]':>11}"
        console.echo(f"\n{head}   rows equal to the CPU's")
    seen: list[agreement.Agreement] = []
    with console.progress("check", quiet, "models") as progress:
        progress(0, len(agreement.EXAMPLES))
        try:
            for one in agreement.agreements():
                seen.append(one)
                progress(len(seen), len(agreement.EXAMPLES))
                if not silent:
                    console.echo(_line(one))
        except ModuleNotFoundError as error:  # no compiler for the device
            raise InputError(str(error)) from None
    equal, rows = (sum(getattr(one, field) for one in seen) for field in ("equal", "rows"))
    good = equal == rows and len(seen) == len(agreement.EXAMPLES)
    verdict = f"outcomes of GPU and CPU are bit-identical in all {rows} rows"
    if not good:
        left = len(agreement.EXAMPLES) - len(seen)
        verdict = f"NOT EQUAL: {rows - equal} of {rows} rows differ or failed, {left} engines were not run"
    if as_json:
        data: dict[str, Any] = {"versions": versions, "devices": _data(found)}
        console.print_json(data | {"engines": [one._asdict() for one in seen], "equal": good})
    elif not quiet:
        console.echo(f"\n{verdict}")
    if not good:
        raise typer.Exit(1)


def _line(one: Any) -> str:
    times = f"{one.ready_s:>10.2f}{one.launch_s:>11.2f}"
    line = f"{one.engine:<20}{one.model:<24}{times}   {one.equal} of {one.rows}"
    return f"{line}\n    {one.difference}" if one.difference else line
