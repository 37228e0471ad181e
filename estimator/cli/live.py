"""The command `live`: an interactive page for a scenario or a plan."""

from pathlib import Path
from typing import Annotated

import typer

from netcarlo.cli import console
from netcarlo.cli.console import Set, Trust


def live(
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="Scenario or plan.")],
    set_: Set = None,
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="Port of the page; 0 for a free one.")
    ] = 8050,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address of the page; the default cannot be reached from other machines."
        ),
    ] = "127.0.0.1",
    trust: Trust = None,
) -> None:
    """Serve an interactive page for a scenario or a plan. Ctrl-C ends it."""
    from netcarlo.live import server

    server.check_installed()
    listening = server.bound(host, port)
    app = server.page_of(file, console.values(set_))
    console.echo(f"{server.url(listening)}  (Ctrl-C ends)")
    server.begin(app, listening)
    server.wait()
