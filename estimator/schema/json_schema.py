"""JSON Schema of the files that users write, short forms included, for editors to complete and check.

It accepts every file that netcarlo accepts, and rejects unknown names and wrong types. Limits of numbers are
given as text only, and relations between fields are not checked.
"""

from typing import Any

from pydantic import BaseModel, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DISTRIBUTION = {"$comment": "a distribution"}
"""Placeholder for the definition of a distribution until a schema is complete."""

NUMBERS = WithJsonSchema(
    {
        "anyOf": [
            {"type": "array", "items": {"type": "integer"}, "minItems": 1},
            {"type": ["integer", "string"], "pattern": r"^[0-9 ]+$"},
        ]
    }
)
"""Schema of a field with numbers of nodes or cables, as a list or separated by spaces."""

Schema = dict[str, Any]


def or_file(schema: Schema) -> None:
    """Let the schema of a list also accept the name of a file with the list."""
    of_list = {name: schema.pop(name) for name in ("type", "items", "minItems", "maxItems") if name in schema}
    schema["anyOf"] = [*schema.get("anyOf", [of_list]), {"type": "string"}]


class _Generator(GenerateJsonSchema):
    """Generator of JSON Schema that writes defaults as a user would, and omits those that are mappings or
    lists."""

    def default_schema(self, schema: Any) -> Schema:
        found: Schema = super().default_schema(schema)
        inner = schema["schema"]
        while inner["type"] == "nullable":
            inner = inner["schema"]
        default = found.get("default")
        if default is None or isinstance(default, dict | list):
            found.pop("default", None)
        elif "serialization" in inner:
            found["default"] = inner["serialization"]["function"](schema["default"])
        return found


def of(record: type[BaseModel], *, title: str, distribution: Schema) -> Schema:
    """Return the schema of a record and of all records in it; `distribution` is the schema of
    distributions."""
    found = record.model_json_schema(schema_generator=_Generator, ref_template="#/$defs/{model}")
    found = _named(_plain(found, top=True))
    found["$defs"] = {**found.get("$defs", {}), "Distribution": distribution}
    return {"$schema": DIALECT, "title": title, **found}


def embed(found: Schema, schema: Schema) -> Schema:
    """Return `schema` for embedding in `found`, to which its definitions are added."""
    found["$defs"] |= schema["$defs"]
    return {name: part for name, part in schema.items() if name not in ("$defs", "$schema")}


def _plain(schema: Any, *, top: bool = False) -> Any:
    """Return a schema without the titles that pydantic derives from names, and with descriptions on one
    line."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema == DISTRIBUTION:
        return {"$ref": "#/$defs/Distribution"}
    found: Schema = {}
    for name, part in schema.items():
        if name in ("properties", "$defs"):
            found[name] = {key: _plain(value) for key, value in part.items()}
        elif name == "description" and isinstance(part, str):
            found[name] = " ".join(part.split())
        elif name not in ("title", "discriminator"):
            found[name] = part if name == "default" else _plain(part)
    if not top and found.get("oneOf"):  # the keys determine which one applies
        found["anyOf"] = found.pop("oneOf")
    return found


def _named(schema: Schema) -> Schema:
    """Return a schema with short names of definitions: `shared_Tree` for a name that several modules
    define."""
    short = {}
    for name in schema.get("$defs", {}):
        parts = name.split("__")
        kind = min(2, len(parts) - 3)  # netcarlo, networks, kind of network
        short[name] = f"{parts[kind]}_{parts[-1]}" if len(parts) > 2 else name

    def renamed(part: Any) -> Any:
        if isinstance(part, list):
            return [renamed(item) for item in part]
        if not isinstance(part, dict):
            return part
        return {
            key: f"#/$defs/{short.get(value.removeprefix('#/$defs/'), value.removeprefix('#/$defs/'))}"
            if key == "$ref"
            else renamed(value)
            for key, value in part.items()
        }

    found: Schema = renamed(schema)
    if short:
        found["$defs"] = {short[name]: part for name, part in found["$defs"].items()}
    return found
