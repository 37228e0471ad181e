"""Errors of netcarlo against each reference: the tables of docs/results/accuracy-*.md.

    python -m tests.campaigns references FOLDER [name ...]

FOLDER holds NAME.csv for mappings of `configs/references`; all of them are used unless some are named.
Prints a line for each metric of the scenarios (metrics of single flows and links are left out): relative
errors in percent, and the rms of z where the reference varies by seed.
"""

from pathlib import Path

from netcarlo.estimation.reference import load_mapping, mapping_names
from netcarlo.estimation.validate import error_distribution, validate
from tests.campaigns import parser


def table(reference: Path) -> str:
    """Return the errors of a reference as a Markdown table."""
    mapping = load_mapping(reference.stem)
    rows = validate(reference, large=True).rows
    lines = [
        f"| {mapping.description} | scenarios | median | 90 % | worst | bias | z rms |",
        "|---|---|---|---|---|---|---|",
    ]
    for metric in mapping.metrics:
        found = error_distribution(rows[rows["metric"] == metric])
        if not found["compared"]:
            continue
        errors = (percent(found[name]) for name in ("median", "p90", "worst", "bias"))
        z = "" if found["z_rms"] != found["z_rms"] else f"{found['z_rms']:.2f}"
        lines.append(f"| `{metric}` | {found['compared']} | {' | '.join(errors)} | {z} |")
    return "\n".join(lines)


def percent(part: float) -> str:
    """Return an error in percent, or a dash where the expected value is zero."""
    if abs(part) == float("inf"):
        return "–"
    digits = 0 if abs(part) >= 0.1 else 1 if abs(part) >= 0.01 else 2
    return f"{round(100 * part, digits) + 0.0:g}"


def main() -> None:
    """Print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()
    there = [name for name in mapping_names() if (given.folder / f"{name}.csv").exists()]
    for name in given.names or there:
        print(f"\n{name}\n\n{table(given.folder / f'{name}.csv')}", flush=True)
