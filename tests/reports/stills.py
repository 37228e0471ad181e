"""Pictures of the gallery: `python -m tests.reports.stills [NAME ...]` runs their commands and takes them
anew."""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.reports.browser import browser

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery.md"
WIDTH, HEIGHT = 1200, 900


def stills() -> dict[str, tuple[list[str], str]]:
    """Return the commands above each picture of the gallery, and the page that they write, by name."""
    form = r"```sh\n(.*?)```\n\n!\[[^\]]*\]\(gallery/(\w+)\.png\)\n<!-- (\S+) -->"
    found = re.findall(form, GALLERY.read_text(), re.DOTALL)
    return {name: (block.splitlines(), page) for block, name, page in found}


def main(names: list[str]) -> None:
    """Take the named pictures, or all."""
    program = "from netcarlo.cli.main import main; main()"
    for name, (commands, page) in stills().items():
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "profile") as window:
            (Path(folder) / "configs").symlink_to(ROOT / "configs")
            for command in commands:
                subprocess.run(
                    [sys.executable, "-c", program, *shlex.split(command)[1:]], cwd=folder, check=True
                )
            path, _, anchor = page.partition("#")
            window.call("Emulation.setScrollbarsHidden", hidden=True)
            window.open(Path(folder) / path, width=WIDTH, height=HEIGHT)
            if anchor:
                window.evaluate(f"document.getElementById({anchor!r}).scrollIntoView()")
            window.screenshot(ROOT / "docs" / "gallery" / f"{name}.png", whole=False)


if __name__ == "__main__":
    main(sys.argv[1:])
