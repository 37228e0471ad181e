"""Options, progress, tables, JSON and error lines of the commands."""

import codecs
import errno
import io
import json
import math
import os
import re
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn
from unicodedata import category, normalize

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from netcarlo.errors import InputError
from netcarlo.schema.destination import FULL

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO.yaml", help="Scenario; netcarlo new writes one.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no tables.")]
Target = Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where to simulate.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Replications = Annotated[
    int | None, typer.Option(metavar="N", help="Number of replications; default: as in the file.")
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Random seed; default: as in the file.")]
Yes = Annotated[
    bool, typer.Option("--yes", help="Start even if the forecast is days of computing or too much memory.")
]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="a.b=value", help="Set a field of the file; repeatable.")
]


def _trusted(named: list[str] | None) -> list[str]:
    from netcarlo.transport import congestion as control

    for what in named or []:
        control.trust(what)
    return named or []  # Typer 0.19 takes no None


Trust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE|SHA256",
        callback=_trusted,
        help="Trust this Python or data file: outside the folder of the scenario, or claims.py of a study.",
    ),
]
"""Option that trusts a file as soon as it is read; commands do not use its value."""


WIDEST = 1000
"""Characters of the widest table."""


def values(settings: list[str] | None) -> dict[str, Any]:
    """Return the fields and YAML values of `--set` options. Raises InputError."""
    from netcarlo.schema.document import read_value
    from netcarlo.schema.notes import note_bare

    found = {}
    for setting in settings or []:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set '{setting}' has no value; write it as a.b=value")
        found[name.strip()] = read_value(text)
    note_bare(found, "--set")
    return found


@contextmanager
def progress(title: str, quiet: bool, what: str = "replications") -> Iterator[Callable[[int, int], None]]:
    """Yield `update(done, total)`; after a second, a terminal shows how many of `what` are done."""
    title = plain(title)
    bar = Progress(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), Done(what),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    task = bar.add_task(title, total=None)
    late = threading.Timer(1.0, bar.start)

    def update(done: int, total: int) -> None:
        bar.update(task, description=title, completed=done, total=total, compilation=None)

    seen = not quiet and sys.stderr.isatty()
    if seen:
        late.start()
    try:
        with compiling(quiet, bar, task):
            yield update
    finally:
        late.cancel()
        if seen:
            late.join()
        if bar.live.is_started:
            bar.stop()


def clock(elapsed_s: float, left_s: float | None) -> str:
    """Return `4 s elapsed, about 3 s left`; without a forecast only the elapsed time."""
    text = f"{_whole(elapsed_s)} elapsed"
    if left_s is None or not math.isfinite(left_s):
        return text
    return f"{text}, about {_whole(max(left_s, 1.0))} left"


def compilation_clock(elapsed_s: float, forecast_s: float) -> str:
    """Return `4 s elapsed of about 13 s`; a forecast for idle cores that is exceeded is not repeated."""
    if elapsed_s <= forecast_s:
        return f"{_whole(elapsed_s)} elapsed of about {seconds(forecast_s)}"
    return f"{_whole(elapsed_s)} elapsed, longer than on idle cores ({seconds(forecast_s)})"


def _whole(value_s: float) -> str:
    """Return a time in whole seconds below 100 s, else as `seconds` does."""
    return f"{value_s:.0f} s" if value_s < 99.5 else seconds(value_s)


class Done(ProgressColumn):
    """Column of a progress bar: `25 of 40 cells, 4 s elapsed, about 3 s left`."""

    def __init__(self, what: str) -> None:
        """Count things that are called `what`."""
        super().__init__()
        self.what = what

    def render(self, task: Task) -> Text:
        """Return the text for a task; without a total only the elapsed time."""
        if (compilation := task.fields.get("compilation")) is not None:
            return Text(compilation_clock(time.monotonic() - compilation[0], compilation[1]))
        count = "" if task.total is None else f"{task.completed:.0f} of {task.total:.0f} {self.what}, "
        left = task.time_remaining if task.completed else None
        return Text(count + clock(task.elapsed or 0.0, left))


@contextmanager
def compiling(quiet: bool, bar: Progress | None = None, task: TaskID | None = None) -> Iterator[None]:
    """Announce each compilation: on a terminal in the `task` of a `bar` with `Done`, else with a line."""
    from netcarlo.kernels.runtime import cache
    from netcarlo.kernels.runtime import compile as compilers

    def announce(what: str, time_s: float) -> None:
        text = f"compiling {what}, once on this machine"
        if bar is not None and task is not None and sys.stderr.isatty():
            title = bar.tasks[0].description.partition(": compiling ")[0]
            bar.update(task, description=f"{title}: {text}", compilation=(time.monotonic(), time_s))
        else:
            say(f"{text}: about {seconds(time_s)} on idle cores (kept in {cache.folder()})")

    if quiet:
        yield
        return
    with compilers.announced(announce):
        yield


SHORTEST = 8
"""Minimum width at which words of the first column of a table are broken."""


def print_table(
    title: str, frame: Any, show: Callable[[str, Any], str] | None = None, *, wrap: bool = True
) -> None:
    """Print a DataFrame with its index as the first column.

    Texts of all columns may wrap; with `wrap` false only those of the first column and the headers.
    """
    names = [str(name) for name in frame.index]
    rows = [[show(name, value) if show else number(value) for name, value in row.items()]
            for _, row in frame.iterrows()]  # fmt: skip
    widest = [max((len(line) for row in rows for line in row[k].splitlines()), default=0)
              for k in range(len(frame.columns))]  # fmt: skip
    above = Text(plain(title), "table.title") if title else None
    table = Table(
        title=above, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    least = None if wrap else SHORTEST
    table.add_column(Text(plain(frame.index.name or "")), no_wrap=wrap, overflow="fold", min_width=least)
    for k, column in enumerate(frame.columns):
        head = plain(str(column))
        if not wrap:
            head = _folded(head, widest[k])
            widest[k] = max(widest[k], *map(len, head.splitlines()), 0)
        table.add_column(Text(head), justify="right", no_wrap=not wrap)
    room = Console().width - 3 - sum(width + 2 for width in widest)  # width of the first column, without gaps
    for name, row in zip(names, rows, strict=True):
        first = name if wrap else _hyphenated(name, max(room, SHORTEST))
        table.add_row(*(Text(plain(cell)) for cell in (first, *row)))
    fitting = Console(width=WIDEST).measure(table).minimum  # with less, numbers would be truncated
    Console(width=max(Console().width, fitting)).print(table)


def _hyphenated(text: str, width: int) -> str:
    """Return a text with a hyphen and a space in words that are longer than a line."""
    words = [
        "- ".join(textwrap.wrap(word, width - 1)) if len(word) > width else word for word in text.split(" ")
    ]
    return " ".join(words)


def _folded(head: str, widest: int) -> str:
    """Return a header in lines that are not wider than the cells below it, if it has spaces to break at."""
    return "\n".join(textwrap.wrap(head, max(widest, 10), break_long_words=False, break_on_hyphens=False))


def number(value: float) -> str:
    """Return a number as a short text; empty for NaN."""
    if not math.isfinite(value):
        return "" if math.isnan(value) else "inf"
    if float(value).is_integer() or 1e4 <= abs(value) < 1e9:
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) >= 1 else f"{value:.3g}"


def seconds(value: float) -> str:
    """Return a duration with readable units."""
    for limit, one, unit in ((10, 1, "s"), (100, 1, "s"), (600, 60, "min"), (5940, 60, "min")):
        if value < limit:
            return f"{value / one:.{limit in (10, 600):d}f} {unit}"
    return f"{value / 3600:.1f} h"


def large(value: float) -> str:
    """Return a number with a metric prefix, as 3.2 M."""
    for one, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= one:
            return f"{value / one:.3g}{unit}"
    return f"{value:.3g}"


def size(value: float) -> str:
    """Return a number of bytes with readable units."""
    for one, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= one:
            return f"{value / one:.3g} {unit}"
    return f"{value:.0f} B"


def print_json(data: Any) -> None:
    """Print data with null for the numbers that JSON does not have."""
    typer.echo(json_text(data))


def json_text(data: Any) -> str:
    """Return data as JSON with null for the numbers that JSON does not have."""
    return json.dumps(_finite(data), indent=2)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def plain(text: str) -> str:
    """Return a text with control characters escaped, so that it cannot control the terminal.

    New lines and spaces of any width are kept.
    """
    return "".join(c if c.isprintable() or c == "\n" or category(c) == "Zs" else ascii(c)[1:-1] for c in text)


UNIT = re.compile(r"(?<=\d) (?=[A-Za-zµ%/])")
"""Space between a number and its unit."""


def wrapped(text: str, *, margin: int = 0) -> str:
    """Return a text in lines that fit the terminal less a margin; numbers stay beside their units."""
    kept = UNIT.sub("\N{NO-BREAK SPACE}", text)
    lines = textwrap.wrap(kept, max(width() - margin, 40), break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def width() -> int:
    """Return the width of the terminal [characters]."""
    return Console().width


def echo(text: str) -> None:
    """Print a text on stdout, transliterated (`typer.echo` would write UTF-8 in spite of the encoding)."""
    print(plain(text), flush=True)


def say(text: str) -> None:
    """Print a line on stderr."""
    with suppress(OSError):  # standard error is full or closed
        print(plain(text), file=sys.stderr)


def show_notes() -> None:
    """Print notes as lines on stderr, and other warnings as before."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *more: Any) -> None:
        if category.__name__ == "Note":
            say(f"note: {message}")
        else:
            others(message, category, *more)

    warnings.showwarning = show  # type: ignore[assignment]


def interrupted() -> NoReturn:
    """End the command after Ctrl-C."""
    say("interrupted")
    leave(130)


def prepare_streams() -> None:
    """Let standard output and error take any text: what their encoding lacks is transliterated."""
    codecs.register_error("netcarlo.transliterated", _transliterated)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="netcarlo.transliterated")


_ASCII = {
    "µ": "u", "μ": "u", "×": "x", "·": "*", "≤": "<=", "≥": ">=", "≈": "~", "±": "+-", "−": "-", "–": "-",
    "—": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "→": "->", "ß": "ss", "σ": "sigma",
    "\u202f": " ", "\xa0": " ",
}  # fmt: skip
"""ASCII replacements of the characters that decomposition does not turn into ASCII."""


def _transliterated(error: UnicodeError) -> tuple[str, int]:
    """Handle characters that an encoding lacks: without accents, spelt out, or as an escape sequence."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_ASCII.get(c) or _bare(c) for c in text), error.end


def _bare(character: str) -> str:
    bare = normalize("NFKD", character).encode("ascii", "ignore").decode()
    return bare or character.encode("ascii", "backslashreplace").decode()


@contextmanager
def printed() -> Iterator[None]:
    """End with one line and exit code 3 if standard output is full, and with code 1 if its reader left."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # as after `>&-`
                sys.stdout.flush()
    except OSError as error:
        if error.errno not in (*FULL, errno.EPIPE):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the remaining output
        if error.errno == errno.EPIPE:
            sys.exit(1)
        say(f"error: standard output cannot be written ({error.strerror}); make room and run it again")
        sys.exit(3)


def leave(code: int) -> NoReturn:
    """End without waiting for kernels in other threads, which nothing can interrupt."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # full, or closed from the start
            stream.flush()
    os._exit(code)
