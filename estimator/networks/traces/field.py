"""Field of a record that has a trace, or several."""

from typing import Annotated, Any

from pydantic_core import CoreSchema, core_schema

from netcarlo.networks.traces.read import OPTIONS, trace
from netcarlo.networks.traces.trace import Trace, Traces


class _Field:
    """Schemas of a field with a trace."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Return the schema by which pydantic checks and writes such a field."""
        return core_schema.no_info_plain_validator_function(
            trace,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: None if value is None else value.written()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema: a file name, a text, a file and its columns, or a choice of them."""
        text = {"type": "string"}
        one = [text, _mapping(dict.fromkeys(OPTIONS, text), "file")]
        several = {"choice": {"type": "array", "items": {"anyOf": one}}}
        return {
            "anyOf": [*one, _mapping(several, "choice")],
            "description": "a file of time, rate, delay and loss, or Mahimahi's; {file, time, rate, ...}; or "
            "{choice: [...]}",
        }


def _mapping(properties: dict[str, Any], required: str) -> dict[str, Any]:
    """Return the JSON Schema of a mapping with these keys."""
    return {
        "type": "object", "properties": properties, "required": [required], "additionalProperties": False
    }  # fmt: skip


AnyTrace = Annotated[Trace | Traces, _Field]
"""Field with a trace, or several of which each replication draws one."""
