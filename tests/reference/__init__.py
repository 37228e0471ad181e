"""Files generated from declarations and kept with the sources: `docs/reference` and JSON Schemas."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import get_args

from netcarlo.cli.schema import Kind, made
from tests.reference.fields import PAGES, fields_page, part_page
from tests.reference.outcomes import outcomes_page

ROOT = Path(__file__).parents[2]


def schema(kind: Kind) -> str:
    """Return the output of `netcarlo schema`, on one line."""
    return json.dumps(made(kind), ensure_ascii=False, separators=(",", ":")) + "\n"


MADE: dict[str, Callable[[], str]] = {
    "docs/reference/fields.md": fields_page,
    **{f"docs/reference/fields-{name}.md": partial(part_page, name) for name in PAGES},
    "docs/reference/outcomes.md": outcomes_page,
    **{f"configs/schemas/{kind}.json": partial(schema, kind) for kind in get_args(Kind)},
}
