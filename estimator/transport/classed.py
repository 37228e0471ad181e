"""A flow that may name a class, whose delays are then measured, and say what is late."""

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, create_model

from netcarlo.errors import InputError
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Quantity
from netcarlo.schema.record import Record


def _word(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,23}", name):
        raise InputError("is no word of up to 24 small letters, digits and _; write one such as video")
    return name


Name = Annotated[str, AfterValidator(_word)]
Bound = Annotated[Number, Quantity(units.TIME, 1e-6, 3600.0)]

_CLASS = (
    "Whose delays are told together: a word, with which the names of their outcomes begin; "
    "its protocol if another flow names a class, else none."
)
_LATE = "A packet that takes longer than this is late; no limit unless given."

if TYPE_CHECKING:

    class Classed(Record):
        """A flow that may name a `class`; what comes later than `late` is of no use to it."""

        late: Number | None = None

else:  # `class` is a word of Python's own
    Classed = create_model(
        "Classed", __base__=Record, __module__=__name__,
        **{
            "class": (Name | None, Field(None, description=_CLASS)),
            "late": (Bound | None, Field(None, description=_LATE)),
        },
    )  # fmt: skip


def class_of(flow: Classed) -> str | None:
    """The class that a flow names."""
    return getattr(flow, "class")  # type: ignore[no-any-return]


def delay_field(flow: Classed) -> str:
    """The first of its fields that asks for delays; empty if none does."""
    given = {"class": class_of(flow), "late": flow.late}
    return next((field for field, value in given.items() if value is not None), "")
