"""Earlier results in the folder of --out, which a command is about to replace."""

import html
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from netcarlo.cli import console
from netcarlo.errors import InputError

Replace = Annotated[
    bool, typer.Option("--replace", help="Replace the result of another file in the place of --out.")
]

TITLE = re.compile(r"<title>(.*?) · netcarlo</title>", re.DOTALL)
HEAD_BYTES = 4096
"""Length of the part of a page that contains its title [bytes]."""


@dataclass(frozen=True)
class Earlier:
    """Earlier result in the folder of --out."""

    text: str = ""
    """Names of the page and of the earlier result; empty if there is none."""

    @classmethod
    def check(
        cls, folder: Path | None, page: str, title: str, *, replace: bool, of: str | None = None
    ) -> "Earlier":
        """Return the earlier result. Raises InputError if its page has another title, unless `replace`.

        `of` is what the page shows, if its title has more than that, as the number of a replication: a page
        whose title begins with it may be replaced, too.
        """
        earlier = None if folder is None else _title(folder / page)
        if folder is None or earlier is None:
            return cls()
        if earlier != title and not replace and not (of and earlier.startswith(f"{of}, ")):
            raise InputError(
                f"output folder {folder}: {page} is the result of '{earlier}', not '{of or title}'; "
                "name another folder, or add --replace"
            )
        return cls(f"{folder / page}: the earlier result of '{earlier}' is replaced")

    def say(self, quiet: bool) -> None:
        """Print a line on stderr if there was an earlier result."""
        if self.text and not quiet:
            console.say(self.text)


def _title(page: Path) -> str | None:
    """Return the title of a page of ours; None if there is no such page."""
    try:
        if not page.is_file():  # a pipe would wait for its other end
            return None
        with page.open("rb") as file:
            found = TITLE.search(file.read(HEAD_BYTES).decode("utf-8", "replace"))
    except OSError:  # its name cannot be used, which is reported when it is written
        return None
    return html.unescape(found[1]) if found else None
