"""Write the pages that are made from declarations: `python -m tests.reference`."""

from tests.reference import FOLDER, PAGES

for name, page in PAGES.items():
    (FOLDER / name).write_text(page())
