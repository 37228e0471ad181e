"""Checked, frozen records of YAML data; errors have one line per fault."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from netcarlo.errors import closest, suggest
from netcarlo.schema.document import Document
from netcarlo.schema.problems import Wrong, explain


class Record(BaseModel):
    """Base of all records of user input. An unknown key is an error that suggests the nearest known name."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    fills: ClassVar[Mapping[str, tuple[IntEnum, float]]] = {}
    """Fields that fill a column of a kernel table directly, with the factor by which their values are
    multiplied."""

    short: ClassVar[tuple[dict[str, Any], ...]] = ()
    """JSON Schemas of the short forms of the record."""
    implied: ClassVar[frozenset[str]] = frozenset()
    """Fields without a default that may be omitted, because other fields determine them."""
    absent: ClassVar[Mapping[str, str]] = {}
    """Remedies for names that users may expect but that do not exist."""
    meant: ClassVar[Mapping[str, str]] = {}
    """Fields, or short forms, by names that users write for them."""
    of_each: ClassVar["type[Record] | None"] = None
    """Record of the field `each`, whose fields users sometimes write beside `each`."""
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Words that fields accept in place of numbers."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """Return pydantic's schema with meanings, short forms and `words`, without the fields that are
        `implied`."""
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
        """Replace the values of unknown keys by their remedies, so that pydantic reports all of them."""
        if not isinstance(data, dict) or data.keys() <= cls.model_fields.keys():
            return data
        return {key: value if key in cls.model_fields else cls._unknown(key) for key, value in data.items()}

    @classmethod
    def _unknown(cls, key: Any) -> Wrong:
        name, remedy = str(key), cls.elsewhere(str(key))
        known = {*cls.model_fields, *cls.meant.values()}
        meant = None if remedy else cls.meant.get(name) or closest(name, known)
        return Wrong(f"is an unknown field; {remedy or suggest(meant or name, known)}", meant=meant)

    @classmethod
    def elsewhere(cls, key: str) -> str | None:
        """Return the remedy for a known name that is not a field of this record; None for other names."""
        if cls.of_each is not None and key in cls.of_each.model_fields:
            return "write it under each:"
        return cls.absent.get(key)

    @classmethod
    def check(cls, data: Any, *, document: Document | None = None) -> Self:
        """Return the record of `data`. Raises InputError, with file and line if `document` is given."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise explain(error, document) from None
