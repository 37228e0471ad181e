"""A small safe language for mappings: arithmetic, comparisons and a few functions over named values.

`acked * packet_bytes / duration_s`, `'sack' if tcp == 'Sack1' else lower(tcp)`.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from netcarlo.errors import InputError, nearest


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "log10": np.log10,
    "lower": str.lower,
    "max": np.maximum,
    "min": np.minimum,
    "missing": _missing,
    "round": np.rint,
    "sqrt": np.sqrt,
}

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """The value of an expression over named values (numbers, texts or arrays).  Raises InputError."""
    tree = _parse(text)
    try:
        return _value(tree.body, values)
    except (TypeError, ZeroDivisionError, RecursionError) as error:
        raise InputError(
            f"'{text}' has no value here ({error}); check its columns for empty fields"
        ) from None


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with every `{expression}` replaced, in texts at any depth of lists and mappings.

    A text that is one expression becomes its value.
    """
    if isinstance(template, dict):
        return {key: fill(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [fill(item, values) for item in template]
    if not isinstance(template, str):
        return template
    whole = re.fullmatch(r"\{([^{}]+)\}", template)
    if whole:
        return evaluate(whole[1], values)
    return re.sub(r"\{([^{}]+)\}", lambda match: str(evaluate(match[1], values)), template)


def check(text: str, known: Collection[str]) -> None:
    """Raise InputError unless an expression refers to `known` names only."""
    for node in ast.walk(_parse(text)):
        if isinstance(node, ast.Name) and node.id not in known and node.id not in FUNCTIONS:
            raise InputError(f"'{text}': '{node.id}' is no outcome and no column; {nearest(node.id, known)}")


def _parse(text: str) -> ast.Expression:
    try:
        return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        example = "acked * packet_bytes / duration_s"
        raise InputError(f"'{text}' is no expression; write one such as {example}") from None


def _value(node: ast.AST, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as constant):
            return constant
        case ast.Name(id=name):
            if name not in values:
                raise InputError(f"'{name}' is no column; {nearest(name, values)}")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, values))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, values) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_value(part, values) for part in parts)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, values) else orelse, values)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(arg, values) for arg in args))
    raise InputError(
        f"'{ast.unparse(node)}' is not allowed; allowed are + - * / // %, single comparisons, and or not, "
        f"x if y else z, and {', '.join(FUNCTIONS)}"
    )
