"""Options `--workers` and `--scheduler` of commands that simulate."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from netcarlo.cli import console
from netcarlo.errors import InputError

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", help="Worker processes (with cuda: GPUs); default: threads of this process."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="tcp://HOST:PORT", help="Use the workers of a Dask scheduler."),
]


@contextmanager
def simulating(workers: int | None, scheduler: str | None, target: str) -> Iterator[str]:
    """Simulate on workers within the block, and yield the target for this process.

    Raises InputError, also if a worker has another version of netcarlo; exits with 1 if the workers are lost.
    """
    from netcarlo.simulation import spread
    from netcarlo.simulation.executors import StoppedError, WrongVersion

    try:
        with spread.on_workers(workers, scheduler, target=target):
            yield target if spread.current() is None else "cpu"
    except WrongVersion as error:
        raise InputError(f"{error}; install the same netcarlo everywhere") from None
    except StoppedError as error:
        console.say(f"stopped: {error}; run the same command again")
        raise typer.Exit(1) from None
