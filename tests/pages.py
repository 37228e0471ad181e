"""Run the examples of a page of the documentation: `python -m tests.pages [--write] PAGE.md ...`.

A page is executed from top to bottom in one folder:

* A block below a line that ends with "`NAME`:" is the content of that file (YAML, CSV or Python).
* Each `netcarlo` command of an `sh` block is run. A backslash continues a line.
* Each other `python` block that imports netcarlo is run, unless `<!-- not run -->` stands above it.
* A `text` block is the output of the commands or the program above it. Each line must be a line of the real
  output, in the same order and with the same words. `...` stands for lines that are left out.

Without `--write` the program prints the real output of every command. With it, a line that is not in the
output is replaced by the line that is most like it, and an empty block by the whole output.
"""

import argparse
import contextlib
import difflib
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from typer.testing import CliRunner

from netcarlo.cli import console
from netcarlo.cli.main import app

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?P<above>[^\n]*)\n+```(?P<language>[^\n]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
NAMED = re.compile(r"`([\w.-]+\.(?:yaml|csv|py))`:$")
NOT_RUN = "<!-- not run -->"
WIDTH = 120
"""Maximum characters of a line that is shown."""


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    above: str
    """The line above the block."""
    start: int
    """Position of the text in the page."""

    @property
    def file(self) -> str | None:
        """Name of the file whose content the block is, if it is one."""
        found = NAMED.search(self.above)
        return found and found[1]


class Ran(NamedTuple):
    """Commands run together, and their output."""

    what: list[str]
    output: str
    shown: Block | None
    """Block of the page that shows the output."""


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [
        Block(found["language"], found["text"], found["above"].rstrip(), found.start("text"))
        for found in BLOCK.finditer("\n" + page.read_text())
    ]


def commands(block: Block) -> list[str]:
    """Return the netcarlo commands of an `sh` block, one line each."""
    lines = re.sub(r"\\\n\s*", "", block.text).splitlines() if block.language == "sh" else []
    return [line for line in lines if line.startswith("netcarlo ")]


def is_program(block: Block) -> bool:
    """Return whether a block is a Python program that is run."""
    return (
        block.language == "python" and "netcarlo" in block.text and not block.file and block.above != NOT_RUN
    )


def command_output(command: str) -> str:
    """Run a command in this process, which compiles each model only once, and return what it prints.

    The models of a command with a limit of time are compiled before it.
    """
    arguments = shlex.split(command)[1:]
    if "--time" in arguments and arguments[0] != "import":
        assert CliRunner().invoke(app, ["warm", arguments[1], "--quiet"]).exit_code == 0
    with mock.patch.object(console, "leave", sys.exit), mock.patch.dict(os.environ, COLUMNS=str(WIDTH)):
        done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{command}: {done.output} {done.exception!r}"
    assert "rror" not in done.stderr, command
    return done.output


def program_output(text: str) -> str:
    """Run a program in this process and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "page", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def save_files(page: Path, folder: Path) -> list[Path]:
    """Write the files of a page into a folder; `configs` there leads to the shipped ones."""
    if not (folder / "configs").exists():
        (folder / "configs").symlink_to(ROOT / "configs")
    files = {block.file: block.text for block in blocks(page) if block.file}
    for name, text in files.items():
        (folder / name).write_text(text)
    return [folder / name for name in files]


def run(page: Path, folder: Path) -> Iterator[Ran]:
    """Run a page in a folder, which must be the current one."""
    save_files(page, folder)
    shown = blocks(page)
    for block, below in zip(shown, [*shown[1:], None], strict=True):
        what = commands(block) or ([block.text] if is_program(block) else [])
        if not what:
            continue
        output = "".join(program_output(one) if is_program(block) else command_output(one) for one in what)
        yield Ran(what, output, below if below and below.language == "text" else None)


def words(line: str) -> str:
    """Return a line without the widths of columns."""
    return " ".join(line.split())


def folded(output: str) -> list[str]:
    """Return the lines of an output, long ones folded."""
    lines = [line.rstrip() for line in output.splitlines()]
    return [part for line in lines for part in textwrap.wrap(line, WIDTH, drop_whitespace=False) or [""]]


def missing(ran: Ran) -> list[str]:
    """Return the lines of a page that the real output does not have, or not in this order."""
    real, at, found = [words(line) for line in folded(ran.output)], 0, []
    for line in (ran.shown.text if ran.shown else "").splitlines():
        if not words(line) or words(line) == "...":
            continue
        if words(line) in real[at:]:
            at = real.index(words(line), at) + 1
        else:
            found.append(words(line))
    return found


def renewed(ran: Ran) -> str:
    """Return a block of output with the lines of the real output that are most like its own."""
    assert ran.shown
    real = [line.rstrip() for line in folded(ran.output)]
    if not ran.shown.text.strip():
        return "\n".join(real).strip("\n") + "\n"
    lines = []
    for line in ran.shown.text.splitlines():
        alike = difflib.get_close_matches(line, real, n=1, cutoff=0.3)
        kept = words(line) in ("", "...") or line in real or not alike
        lines.append(line if kept else alike[0])
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run pages, and print or write what their commands print."""
    parser = argparse.ArgumentParser(prog="python -m tests.pages", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the output that the pages show")
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md")
    asked = parser.parse_args()
    for page in [page.resolve() for page in asked.pages]:
        began, text = time.monotonic(), "\n" + page.read_text()
        found = []
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for ran in run(page, Path(folder)):
                found.append(ran)
                if not asked.write:
                    print(*(f"$ {one}" for one in ran.what), ran.output, sep="\n")
                if lines := missing(ran):
                    print(f"{page.name}: not in the output:", *lines, sep="\n    ")
        if asked.write:
            for ran in reversed(found):
                if ran.shown and (missing(ran) or not ran.shown.text.strip()):
                    end = ran.shown.start + len(ran.shown.text)
                    text = text[: ran.shown.start] + renewed(ran) + text[end:]
            page.write_text(text[1:])
        print(f"{page.name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
