"""Write the generated files: `python -m tests.reference`."""

from tests.reference import MADE, ROOT

for name, made in MADE.items():
    (ROOT / name).parent.mkdir(exist_ok=True)
    (ROOT / name).write_text(made())
