"""Record of a campaign: command, machine, result and output.

A record is one Markdown file, `DATE-TIME-NAME.md` in UTC.  It holds no names of hosts and users and no
absolute paths of the machine, so it can be published.
"""

import getpass
import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "records"
PACKAGES = "netcarlo", "NumPy", "Numba"
RUNNING = "not finished: this line is replaced when the campaign ends"

COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ABSOLUTE = re.compile(r"(?<![\w./~>-])/([\w.@+-]+)/(?:[\w.@+-]+/)*([\w.@+-]+)?")
"""An absolute path with at least two parts; `kbit/s` and `10 /s` are not paths."""


@dataclass(frozen=True)
class Ended:
    """End of a campaign."""

    result: str
    """Result of the campaign: completed, failed or interrupted, with the exit status or the signal."""
    wall_s: float
    processor_s: float
    """User and system time, with that of child processes."""


def new_file(folder: Path, name: str, at: datetime) -> Path:
    """Create an empty file for a record and return its path.  Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{at.astimezone(UTC):%Y-%m-%d-%H%M%S}-{name}"
    for number in range(1, 100):
        path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
        with suppress(FileExistsError):
            path.touch(exist_ok=False)
            return path
    raise FileExistsError(f"{folder / stem}.md")


def write(path: Path, text: str) -> None:
    """Write a file so that no reader sees part of it. Raises OSError."""
    draft = path.with_suffix(".part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def text(
    name: str,
    arguments: list[str],
    at: datetime,
    machine: dict[str, str],
    output: list[bytes],
    ended: Ended | None,
) -> str:
    """Return a record; `ended` is None while the campaign runs."""
    command = shlex.join(["python", "-m", "tests.campaigns", name, *arguments])
    rows = {"result": ended.result if ended else RUNNING, "command": f"`{command}`", **machine}
    if ended:
        rows |= {"wall time": f"{ended.wall_s:.1f} s", "processor time": f"{ended.processor_s:.1f} s"}
    table = "\n".join(f"| {key} | {value} |" for key, value in rows.items())
    shown = "".join(f"    {line(each)}".rstrip() + "\n" for each in output) or "    (none)\n"
    title = f"# {name}, {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return public(f"{title}\n\n| | |\n|---|---|\n{table}\n\n## Output\n\n{shown}")


def line(printed: bytes) -> str:
    """Return a line as a terminal finally shows it, after overwriting with carriage returns."""
    plain = COLOURS.sub("", printed.decode("utf-8", errors="replace"))
    return next((part for part in reversed(plain.split("\r")) if part.strip()), "")


def public(text: str) -> str:
    """Return the text without absolute paths of the machine and without names of the host and the user."""
    text = re.sub(rf"{re.escape(str(ROOT))}(?![\w-])", ".", text.replace(f"{ROOT}/", ""))
    text = ABSOLUTE.sub(
        lambda found: f"<path>/{found[2] or ''}" if Path("/", found[1]).exists() else found[0], text
    )
    for name, instead in ((socket.gethostname(), "<host>"), (_user(), "<user>")):
        if name not in ("", "root", "localhost"):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", instead, text)
    return text


def machine() -> dict[str, str]:
    """Return the commit, versions, processor and GPU, on which the numbers depend."""
    packages = ", ".join(f"{name} {_version(name.lower())}" for name in PACKAGES)
    return {
        "commit": commit(),
        "versions": f"Python {platform.python_version()}, {packages}",
        "processor": f"{_processor()}, {_cores()} cores",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "GPU": _gpu(),
    }


def commit(folder: Path = ROOT) -> str:
    """Return the commit of a checkout, and whether files differ from it."""
    head = _said("git", "-C", str(folder), "rev-parse", "HEAD")
    if not head:
        return "unknown"
    changed = _said("git", "-C", str(folder), "status", "--porcelain")
    return f"{head}{' with uncommitted changes' if changed else ''}"


def _said(*command: str) -> str:
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    with suppress(OSError):
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _gpu() -> str:
    said = _said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return "; ".join(line.replace(", ", ", driver ") for line in said.splitlines()) or "none"


def _user() -> str:
    with suppress(Exception):  # a user without a name
        return getpass.getuser()
    return ""
