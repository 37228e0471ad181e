"""Comparison of digests: `python -m tests.digests [small|large] [--write] [NAME ...]`.

The digests of every model, example sweep and study (or of those named) are computed and compared with
`digests.json`; `--write` stores them instead. Large ones take about an hour, most of it to compile models.
"""

import argparse
import json
import sys
import time

from tests.digests.taken import FILE, KINDS, all_names, stored


def main() -> int:
    """Print the differences, and return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.digests", description=__doc__)
    parser.add_argument("size", nargs="?", choices=("small", "large"), default="large")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    known = stored() if FILE.exists() else {}
    before = known.setdefault(given.size, {})
    moved = []
    for kind, name in all_names(given.size):
        if given.names and name not in given.names:
            continue
        started = time.perf_counter()
        found = KINDS[kind](name, given.size)
        same = before.get(kind, {}).get(name) == found
        moved += [] if same else [f"{kind} {name}"]
        verdict = "same" if same else "written" if given.write else "MOVED"
        print(f"{kind} {name}: {found} {verdict} ({time.perf_counter() - started:.1f} s)", flush=True)
        if given.write:
            wanted = {name for other, name in all_names(given.size) if other == kind}
            kept = {name: digest for name, digest in before.get(kind, {}).items() if name in wanted}
            before[kind] = kept | {name: found}
            FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    return 1 if moved and not given.write else 0


if __name__ == "__main__":
    sys.exit(main())
