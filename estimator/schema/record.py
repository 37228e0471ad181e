"""Checked, frozen records from YAML data, and one-line errors when the data does not fit."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from netcarlo.errors import InputError, nearest
from netcarlo.schema import unsupported
from netcarlo.schema.document import Document, Location


class Record(BaseModel):
    """A record whose unknown keys are refused with the nearest known name."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    fills: ClassVar[Mapping[str, tuple[IntEnum, float]]] = {}
    """Fields that fill a column of a kernel's table by themselves, and by how much they are multiplied."""

    short: ClassVar[tuple[dict[str, Any], ...]] = ()
    """JSON Schemas of what is short for its mapping."""
    implied: ClassVar[frozenset[str]] = frozenset()
    """Fields without a default that need not be written: others say what they are."""
    absent: ClassVar[Mapping[str, str]] = {}
    """Remedies for names that readers may look for in vain."""
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Words that fields take in place of numbers."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """As pydantic's, with meanings, what is `short` and its `words`, without what is `implied`."""
        from netcarlo.schema import meanings

        found: dict[str, Any] = handler(schema)
        inside = handler.resolve_ref_schema(found)
        for name, meaning in meanings.of(cls).items():
            field = inside["properties"][name]
            form = field.get("description", "")
            field["description"] = f"{meaning} {form[:1].upper()}{form[1:]}".strip()
        if needed := [name for name in inside.pop("required", []) if name not in cls.implied]:
            inside["required"] = needed
        for name, words in cls.words.items():
            if name in inside["properties"]:
                inside["properties"][name]["anyOf"].append({"enum": list(words)})
        return {"anyOf": [found, *cls.short]} if cls.short else found

    @model_validator(mode="before")
    @classmethod
    def _know_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for key in data:
                if key not in cls.model_fields:
                    remedy = cls.absent.get(key) or nearest(str(key), cls.model_fields)
                    raise PydanticCustomError("unknown_key", "{remedy}", {"key": key, "remedy": remedy})
        return data

    @classmethod
    def check(cls, data: Any, *, document: Document | None = None) -> Self:
        """The record of `data`; raises InputError, with file and line when `document` is given."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise explain(error, document) from None


def explain(error: ValidationError, document: Document | None = None) -> InputError:
    """The first problem of a failed validation in one line, with the number of the others."""
    problems = error.errors()
    first = problems[0]
    # Tags of unions, written <tag>, are no part of what the user wrote.
    location = tuple(part for part in first["loc"] if not str(part).startswith("<"))
    context: dict[str, Any] = first.get("ctx") or {}
    kind, value, gap = first["type"], f" = {_brief(first['input'])}", " "
    if kind == "unknown_key":
        location += (context["key"],)
        value, message = "", f"is an unknown name; {context['remedy']}"
    elif kind == "missing":
        value, message = "", "is missing; add it"
    elif kind == "unknown_choice":
        location += tuple(context["field"].split("."))
        value, message = f" = {_brief(context['value'])}", context["text"]
    elif kind == "literal_error":
        message = f"is not allowed; allowed is {context['expected']}"
        among = unsupported.STANDARDS if "802.11g" in context["expected"] else unsupported.PROTOCOLS
        if found := unsupported.known(first["input"], among):
            message = f"is not supported: {found.what}; {found.remedy}. Supported: {context['expected']}"
    elif kind == "value_error":
        message = str(context["error"])
        if not isinstance(context["error"], InputError):
            message = f"is refused: {message}"
        elif not message.startswith(_VERBS):  # it names the fields of a record itself
            value, gap = "", "."
    else:
        message = f"is refused: {first['msg'].lower()}"
    field = ".".join(map(str, location))
    where = f"{document.where(_as_written(location, document))}: " if document else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InputError(f"{where}{field}{value}{gap if field else ''}{message}{more}")


_VERBS = ("is ", "has ", "needs ", "cannot ", "starts ")


def _as_written(location: Location, document: Document) -> Location:
    # `hops:` at the top level is short for one path.
    if location[:3] == ("paths", 0, "hops") and ("hops",) in document.lines:
        return location[2:]
    return location


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
