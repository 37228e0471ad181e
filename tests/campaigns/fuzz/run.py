"""Runs of independent cases by number, and counts of their outcomes."""

import contextlib
import multiprocessing
import re
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pint  # noqa: F401  # imported by units and draws on first use: the first case would pay for them
import scipy.stats  # noqa: F401

from netcarlo.errors import MAX_LINE, InputError
from netcarlo.schema.notes import Note
from netcarlo.simulation.provenance import model_version
from tests.campaigns.fuzz import drive, options
from tests.campaigns.fuzz.mutations import mutated
from tests.campaigns.fuzz.seeds import Seed, seeds, write

MOST_S = 5.0
"""Limit of the processor time of a case [s]."""
MOST_UNNAMED = 0.03
"""Largest share of error messages that may name something other than the mutated part of the file."""
MOST_BYTES = 1 << 30
"""Additional memory that cases may use [byte]."""


class TooLong(BaseException):
    """A case took more than `MOST_S`."""


@dataclass
class Found:
    """Results of cases: the number of each outcome, and the first few that went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    processor_s: float = 0.0
    longest_s: float = 0.0
    peak_bytes: int = 0

    @property
    def badly_named(self) -> bool:
        """True if too many refusals name something other than the error in the file."""
        refused = sum(n for what, n in self.counts.items() if "refused" in what)
        return len(self.unnamed) > MOST_UNNAMED * refused

    def add(self, other: "Found") -> None:
        """Add the counts of another part."""
        self.counts += other.counts
        self.wrong += other.wrong
        self.unnamed += other.unnamed
        self.processor_s += other.processor_s
        self.longest_s = max(self.longest_s, other.longest_s)
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)


def refused_seeds(known: Iterable[Seed]) -> list[str]:
    """Return the seeds that are refused as they are shipped, with the reason."""
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", Note)
        configs = drive.playground(Path(folder))
        for seed in known:
            try:
                drive.drive(seed, write(seed.tree), configs)
            except InputError as error:
                found.append(f"{seed.place}: {error}")
    return found


def run(numbers: range, seed: int) -> Found:
    """Run the cases with these numbers. Each depends on its number and the seed only."""
    found, known = Found(), seeds()
    model_version()  # takes seconds until its result is in the cache folder
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _limited(), options.working():
        configs = drive.playground(Path(folder))
        for number in numbers:
            _case(number, Random(f"{seed}/{number}"), known, configs, found)
    found.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found


def run_all(cases: int, *, seed: int, processes: int) -> Iterator[Found]:
    """Run the cases 0 to `cases` - 1 in several processes; yield the results of each part."""
    step = 500
    parts = [(range(lo, min(lo + step, cases)), seed) for lo in range(0, cases, step)]
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=20) as pool:
        yield from pool.imap_unordered(_part, parts)


def _part(part: tuple[range, int]) -> Found:
    return run(*part)


def _case(number: int, rng: Random, known: list[Seed], configs: Path, found: Found) -> None:
    kind, words, call = _made(rng, known, configs)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, MOST_S)
    try:
        call()
        outcome, wrong = "taken", ""
    except InputError as error:
        outcome, wrong = _refusal(str(error), words)
        if outcome == "refused, naming something else":
            found.unnamed.append(f"case {number} ({kind}): {str(error)[:200]}")
    except TooLong:
        outcome = wrong = f"over {MOST_S:.0f} s"
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        outcome = f"{type(error).__name__} in {Path(at.filename).name}:{at.lineno}"
        wrong = f"{outcome}: {str(error)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if wrong:
        found.wrong.append(f"case {number} ({kind}): {wrong}")
    spent = time.process_time() - started
    found.longest_s, found.processor_s = max(found.longest_s, spent), found.processor_s + spent
    found.counts[f"{kind}: {outcome}"] += 1


def _made(rng: Random, known: list[Seed], configs: Path) -> tuple[str, set[str], Callable[[], object]]:
    """Return the kind of a case, the words by which a message may name its mutation, and a function that runs
    it.
    """
    kind = rng.choices(("file", "options", "reference"), (85, 12, 3))[0]
    if kind == "options":
        arguments = options.arguments(rng, configs)
        return kind, set(), lambda: options.drive(arguments)
    if kind == "reference":
        return kind, *drive.reference(rng, configs)
    seed = rng.choice(known)
    text, words = mutated(seed, rng, known)
    return seed.kind, words, lambda: drive.drive(seed, text, configs)


def _refusal(line: str, words: set[str]) -> tuple[str, str]:
    """Return the kind of an error message, and its fault."""
    if not all(0 < len(one) <= MAX_LINE for one in line.split("\n")):
        return "refused in a line too long or empty", f"too long or empty: {line[:200]}"
    long = {word for word in words if len(word) > 1}
    if not long or any(word in line for word in long):
        return "refused", ""
    at_a_line = re.search(r"mutated\.yaml(:\d+: |: has no keys)", line)
    return ("refused at a line" if at_a_line else "refused, naming something else"), ""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Limit processor time and memory; turn warnings into errors, because they would appear on the
    terminal.
    """

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + MOST_BYTES, limits[1]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", Note)  # which the command line prints as a line
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGPROF, before)
