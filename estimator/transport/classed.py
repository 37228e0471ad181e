"""Class of a flow, for which delays are measured, and the delay above which its packets are late."""

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, create_model

from netcarlo.errors import InputError
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Quantity
from netcarlo.schema.record import Record


def _word(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,23}", name):
        raise InputError(
            "is not a word of up to 24 lower-case letters, digits and _; write one such as video"
        )
    return name


Name = Annotated[str, AfterValidator(_word)]
Bound = Annotated[Number, Quantity(units.TIME, 1e-6, 3600.0)]

_CLASS = (
    "Class of the flow: a word with which the names of its delay outcomes begin. Flows of a class are "
    "measured together. Default: its protocol if another flow names a class; otherwise delays are not "
    "measured."
)
_LATE = "Delay above which a packet is late. Default: no limit."

if TYPE_CHECKING:

    class Classed(Record):
        """A flow with an optional `class` for measurements and an optional delay limit `late`."""

        late: Number | None = None

else:  # `class` is a Python keyword
    Classed = create_model(
        "Classed", __base__=Record, __module__=__name__,
        **{
            "class": (Name | None, Field(None, description=_CLASS)),
            "late": (Bound | None, Field(None, description=_LATE)),
        },
    )  # fmt: skip


def class_of(flow: Classed) -> str | None:
    """Return the class that a flow names."""
    return getattr(flow, "class")  # type: ignore[no-any-return]


def delay_field(flow: Classed) -> str:
    """Return the first field of a flow that requests delay statistics; empty if none does."""
    given = {"class": class_of(flow), "late": flow.late}
    return next((field for field, value in given.items() if value is not None), "")
