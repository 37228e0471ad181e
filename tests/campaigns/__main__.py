"""Run a campaign and write a record of it.

    python -m tests.campaigns                                         list all campaigns
    python -m tests.campaigns NAME --help                             what a campaign does, and its arguments
    python -m tests.campaigns [--records DIR | --no-record] NAME [arguments]

The exit status is that of the campaign.  The record, `DATE-TIME-NAME.md`, holds command, commit, versions,
machine, times, exit status and everything that the campaign printed.
"""

import argparse
import difflib
import sys
from pathlib import Path

from tests.campaigns import record
from tests.campaigns.catalogue import Campaign, campaigns


def listed(known: dict[str, Campaign]) -> str:
    """Return a line for each campaign: its name and the first line of its docstring."""
    width = max(map(len, known))
    return "\n".join(f"{name:{width}}  {campaign.summary}" for name, campaign in known.items())


def main() -> int:
    """Run the campaign that the command line names and return its exit status."""
    known = campaigns()
    if not sys.argv[1:]:
        print(listed(known))
        return 0
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns", description=__doc__, epilog=f"campaigns:\n{listed(known)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--records", metavar="DIR", type=Path, default=record.FOLDER, help="folder of records")
    add("--no-record", action="store_true", help="write none")
    add("name", metavar="NAME")
    add("arguments", nargs=argparse.REMAINDER, help="passed to the campaign")
    given = parser.parse_args()
    if given.name not in known:
        near = difflib.get_close_matches(given.name, known, n=1)
        guess = f"did you mean {near[0]}? " if near else ""
        parser.error(f"campaign {given.name!r} is unknown; {guess}`python -m tests.campaigns` lists all")
    if given.no_record or {"-h", "--help"} & set(given.arguments):
        sys.argv = [f"{parser.prog} {given.name}", *given.arguments]
        return known[given.name].main()() or 0
    from tests.campaigns.run import recorded  # needs POSIX signals

    return recorded(given.name, given.arguments, given.records)


if __name__ == "__main__":
    sys.exit(main())
