"""Programs that run for minutes to hours: verification, benchmarks, chaos, large fuzzing, papers over many
seeds.

`python -m tests.campaigns` lists them, and `python -m tests.campaigns NAME [arguments]` runs one and writes
a dated record.  Pytest collects only their smoke tests (`tests/campaigns/test_*.py`).

A campaign is a module or a package below this folder with a function `main`, which reads `sys.argv` and
returns the exit status (or None).  Its name is that of the module; the first line of its docstring
describes it in the list.
"""

import argparse
import sys


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of a campaign's arguments, whose help shows the docstring of the campaign unchanged."""
    return argparse.ArgumentParser(
        prog=sys.argv[0], description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
