"""Observer that reports the messages of an application, which `linux.messages` counts."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import Messages
from netcarlo.kernels.path.state import ASSOCIATION

association: Any = slot("association")

WORDS = 0
COLUMNS = int(Messages.COLUMNS)


def report(m: Any, out: Any, at: Any) -> Any:
    """Write the outcomes (`Messages`); return the next column."""
    association.report(m[ASSOCIATION:], out, at)
    return at + COLUMNS
