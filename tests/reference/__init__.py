"""The pages of `docs/reference` that are made from declarations."""

from pathlib import Path

from tests.reference.fields import fields_page
from tests.reference.outcomes import outcomes_page

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {"fields.md": fields_page, "outcomes.md": outcomes_page}
