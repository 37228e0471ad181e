"""The command about a page that answers while one looks."""

from pathlib import Path
from typing import Annotated

import typer

from netcarlo.cli import console
from netcarlo.cli.console import Set, Trust


def live(
    file: Annotated[Path, typer.Argument(metavar="SCENARIO.yaml|PLAN.yaml")],
    set_: Set = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where it listens; 0: a free port.")] = 8050,
    host: Annotated[
        str, typer.Option(help="The address it listens at: by default this machine's own.")
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
