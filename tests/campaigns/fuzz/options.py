"""The command line with unusual options; a case ends where the command would start to simulate or write."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from unittest import mock

from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.errors import InputError
from tests.campaigns.fuzz.values import VALUES


class Taken(BaseException):
    """The options were accepted, and the command starts its work."""


_WORK = (
    "netcarlo.kernels.runtime.launch.run",
    "netcarlo.kernels.runtime.launch.trace",
    "netcarlo.kernels.runtime.compile.prepare",
    "netcarlo.simulation.executors.open_workers",
    "netcarlo.simulation.launches.run",
    "netcarlo.schema.output.write_text",
    "netcarlo.simulation.simulate.simulate_all",
    "netcarlo.studies.study.load",
)

_NUMBERS = (
    *["0", "-1", "1", "3", "1.5", "x", "nan", "1e3", "4294967296", "0x10", "١"],
    "",
    "9" * 30,
    "9" * 5000,
)
_PATHS = (".", "..", "/dev/zero", "none.yaml", "a/../b", "\x1b[1m", "ü", "{there}", "", "x" * 300)
_GOALS = (
    "goodput_bps >= 1 Mbit/s", "goodput_bps", ">=", "goodput_bps >= ", "goodput >= 1", "goodput_bps >= 1 s",
    "goodput_bps >= 1e9999999999999999999999 bit/s", "goodput_bps >= 95 % of baseline", "x" * 5000,
    "goodput_bps >= " + "1" * 5000, "goodput_bps >= 1 a" + " " * 40_000 + "\nb",
)  # fmt: skip
_FIELDS = (
    "duration", "hops.0.rate", "transport", "transport.window", "hops", "a", "", "hops.9.rate", "*", ".",
    "hops.*.x", "a.b.c", "seed", "name", "axes.x", "draw", "scenario.hops.0.delay", "quantity",
)  # fmt: skip
_TARGETS = ("cpu", "gpu", "")
_OUTCOMES = ("goodput_bps", "goodput", "x" * 5000, "")
_OPTIONS: dict[str, dict[str, Sequence[str]]] = {
    "estimate": {
        "--precision": ("1 %", "1", "0", "101 %", "x", "1e-999 %"), "--goal": _GOALS, "--of": _OUTCOMES,
        "--control": ("formula", "fluid", "x", ""), "--replications": _NUMBERS, "--seed": _NUMBERS,
        "--target": _TARGETS, "--json": (), "-q": (),
    },
    "availability": {
        "--goal": _GOALS, "--precision": ("10 %", "0", "x"), "--replications": _NUMBERS, "--seed": _NUMBERS,
        "--out": _PATHS, "--target": _TARGETS, "--json": (), "-q": (),
    },
    "trace": {"--replication": _NUMBERS, "--out": _PATHS, "--seed": _NUMBERS},
    "sweep": {
        "--out": _PATHS, "--workers": _NUMBERS, "--chunk": _NUMBERS, "--seed": _NUMBERS, "--json": (),
        "--replications": _NUMBERS, "--target": _TARGETS, "--dry-run": (), "--scheduler": ("x", "tcp://x:1"),
    },
    "plan": {"--out": _PATHS, "--seed": _NUMBERS, "--target": _TARGETS, "--json": (), "-q": ()},
    "validate": {"--mapping": (*_PATHS, "ns2_lossy"), "--out": _PATHS},
    "reproduce": {"--replications": _NUMBERS, "--seed": _NUMBERS, "--out": _PATHS},
    "calibrate": {"--target": _TARGETS}, "status": {}, "query": {}, "report": {"--out": _PATHS},
    "export": {"--to": ("csv", "xlsx"), "--out": _PATHS}, "rerun": {"--replication": _NUMBERS},
    "sensitivity": {"--of": _OUTCOMES, "--where": ("a=1", "")}, "devices": {"--json": ()}, "x": {},
}  # fmt: skip
"""Options of each command, with values that are tried."""
_FILES = {
    "estimate": "examples/*.yaml", "availability": "examples/*.yaml", "trace": "examples/*.yaml",
    "sweep": "*.yaml", "plan": "plans/*.yaml",
    "validate": "references/*.yaml",
}  # fmt: skip


@contextmanager
def working() -> Iterator[None]:
    """Replace all functions that simulate or write by one that raises Taken."""
    patches = [mock.patch(name, side_effect=Taken) for name in _WORK]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def arguments(rng: Random, configs: Path) -> list[str]:
    """Return a random command with a file and some options."""
    command = rng.choice(list(_OPTIONS))
    pattern = _FILES.get(command, "*")
    files = [str(path) for path in sorted(configs.glob(pattern)) if "mutated" not in path.name]
    found = [command, rng.choice(files) if rng.random() < 0.9 else rng.choice(_PATHS)]
    if rng.random() < 0.05:
        found.pop()
    for name in rng.sample(sorted(_OPTIONS[command]), min(len(_OPTIONS[command]), rng.randrange(3))):
        values = _OPTIONS[command][name]
        found += [name, rng.choice(values)] if values else [name]
    if command in ("availability", "estimate", "trace", "sweep", "plan") and rng.random() < 0.7:
        text = rng.choice([value for value in VALUES if "\0" not in value])
        found += ["--set", f"{rng.choice(_FIELDS)}={text}" if rng.random() < 0.95 else text]
    if command == "query":
        found.append(rng.choice(("SELECT 1", "", "x", "SELECT * FROM '/etc/passwd'")))
    return found


def drive(words: list[str]) -> None:
    """Run a command. Raises InputError with its error messages if it is refused."""
    try:
        found = CliRunner().invoke(app, words)
    except Taken:
        return
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    if found.exit_code == 2:
        lines = re.findall(r"^error: (.*)$", found.stderr, re.MULTILINE)
        if not lines or len(found.stderr.strip().splitlines()) > len(lines):
            raise AssertionError(f"more than a line for each error: {found.stderr!r}")
        raise InputError(*lines)
