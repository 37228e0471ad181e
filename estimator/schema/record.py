"""Checked, frozen records from YAML data, and a line for each fault of data that does not fit."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from netcarlo.errors import closest, suggest
from netcarlo.schema.document import Document
from netcarlo.schema.problems import Wrong, explain


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
    of_each: ClassVar["type[Record] | None"] = None
    """The record of its field `each`, whose names are sometimes looked for beside it."""
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
        """Mark the values of unknown keys with the remedy, so that pydantic reports all of them."""
        if not isinstance(data, dict) or data.keys() <= cls.model_fields.keys():
            return data
        return {key: value if key in cls.model_fields else cls._unknown(key) for key, value in data.items()}

    @classmethod
    def _unknown(cls, key: Any) -> Wrong:
        remedy = cls.elsewhere(str(key))
        meant = None if remedy else closest(str(key), cls.model_fields)
        return Wrong(f"is an unknown name; {remedy or suggest(str(key), cls.model_fields)}", meant=meant)

    @classmethod
    def elsewhere(cls, key: str) -> str | None:
        """Return the remedy for a name that is none of its fields, but is known; None for others."""
        if cls.of_each is not None and key in cls.of_each.model_fields:
            return "it is of each of them; write it below each:"
        return cls.absent.get(key)

    @classmethod
    def check(cls, data: Any, *, document: Document | None = None) -> Self:
        """The record of `data`; raises InputError, with file and line when `document` is given."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise explain(error, document) from None
