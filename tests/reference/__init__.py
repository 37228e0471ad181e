"""What is made from declarations and kept with the sources: pages of `docs/reference`, and JSON Schemas."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import get_args

from netcarlo.cli.schema import Kind, text
from tests.reference.fields import fields_page
from tests.reference.outcomes import outcomes_page

ROOT = Path(__file__).parents[2]
MADE: dict[str, Callable[[], str]] = {
    "docs/reference/fields.md": fields_page,
    "docs/reference/outcomes.md": outcomes_page,
    **{f"configs/schemas/{kind}.json": partial(text, kind) for kind in get_args(Kind)},
}
