"""The table of mutants, `mutants.yaml`: changes, broken behaviour, and the tests that must detect them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("mutants.yaml")


@dataclass(frozen=True)
class Mutant:
    """A fault in one line of the source."""

    name: str
    file: str
    """Path in the checkout."""
    before: str
    """Part of the line that is replaced; it occurs exactly once in the file."""
    after: str
    breaks: str
    """Behaviour that the mutant breaks."""
    tests: tuple[str, ...]
    """Tests that must notice it, as pytest takes them."""
    tier: int = 1
    """1: plain `pytest` runs these tests; 2: only `pytest --full` does."""
    why: str = ""
    """Reason why no test of tier 1 notices it; empty in tier 1."""
    equivalent: str = ""
    """Proof that no result changes, so that no test can notice it; empty for a fault."""

    def applied_to(self, source: str) -> str:
        """Return the source of the file with the fault.  Raises ValueError if the text to replace is not
        there exactly once."""
        found = source.count(self.before)
        if found != 1:
            raise ValueError(
                f"mutant {self.name}: {self.before!r} occurs {found} times in {self.file}, expected once; "
                f"write the line as it is now into {FILE.name}"
            )
        return source.replace(self.before, self.after)


def mutants(file: Path = FILE) -> dict[str, Mutant]:
    """Return all mutants by name, in the order of the table."""
    text = file.read_text(encoding="utf-8")
    entries: Mapping[str, Mapping[str, object]] = yaml.load(text, yaml.CSafeLoader)
    return {name: _mutant(name, entry) for name, entry in entries.items()}


def _mutant(name: str, entry: Mapping[str, object]) -> Mutant:
    tests = entry["tests"]
    named = (tests,) if isinstance(tests, str) else tuple(tests)  # type: ignore[arg-type]
    return Mutant(name=name, **{**entry, "tests": named})  # type: ignore[arg-type]
