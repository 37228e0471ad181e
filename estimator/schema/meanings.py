"""Meanings of the fields of records: the docstrings below their declarations, read on demand."""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise

from pydantic import BaseModel

Meanings = dict[str, str]


@cache
def of(record: type[BaseModel]) -> Meanings:
    """Return the meaning of each field of a record that has one; a subclass takes precedence."""
    found: Meanings = {}
    for owner in reversed(record.__mro__):
        if issubclass(owner, BaseModel) and owner.__module__ != BaseModel.__module__:
            found |= _declared(owner.__module__).get(owner.__name__, {})
    told = {name: field.description for name, field in record.model_fields.items() if field.description}
    return {name: text for name, text in (found | told).items() if name in record.model_fields}


@cache
def _declared(module: str) -> dict[str, Meanings]:
    """Return the docstrings of the attributes of each class of a module."""
    classes = (node for node in ast.parse(inspect.getsource(sys.modules[module])).body)
    return {
        node.name: {
            field.target.id: " ".join(below.value.value.split())
            for field, below in pairwise(node.body)
            if isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        }
        for node in classes
        if isinstance(node, ast.ClassDef)
    }
