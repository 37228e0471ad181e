"""Small safe expression language for mappings: arithmetic, comparisons and a few functions of named values.

`acked * packet_bytes / duration_s`, `'sack' if tcp == 'Sack1' else lower(tcp)`.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, suggest

MAX_LENGTH = 1000
"""Maximum length of an expression [characters]."""

SAMPLE = np.array([1.0, 2.0])
"""Sample values of an outcome, to test an expression."""


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _least(first: Any, *others: Any) -> Any:
    return reduce(np.minimum, others, first)


def _most(first: Any, *others: Any) -> Any:
    return reduce(np.maximum, others, first)


def _numbers(text: Any) -> list[float]:
    """Return the numbers in a text such as `5 1 10` or `4-6`; a number is one itself."""
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", str(text))]


def _number(text: Any, place: Any) -> float:
    """Return a number in a text by its place, from 0 on or from -1 back; NaN if there are fewer."""
    found, k = _numbers(text), int(place)
    return found[k] if -len(found) <= k < len(found) else math.nan


def _each(field: str, text: Any) -> list[dict[str, float]]:
    return [{field: value} for value in _numbers(text)]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "count": lambda text: len(_numbers(text)),
    "each": _each,
    "floor": np.floor,
    "log10": np.log10,
    "lower": str.lower,
    "max": _most,
    "min": _least,
    "missing": _missing,
    "number": _number,
    "round": np.rint,
    "sqrt": np.sqrt,
}
_OF_MANY = ("max", "min")
"""Functions of one or more arguments."""
_OF_TWO = ("each", "number")
"""Functions of two arguments. The others take exactly one, because NumPy would use a second one as the output
array."""


def _of_numbers(operate: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operator that raises TypeError for texts, which Python would repeat or format."""

    def checked(*values: Any) -> Any:
        if any(isinstance(value, str) for value in values):
            raise TypeError("a text is not a number")
        return operate(*values)

    return checked


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: _of_numbers(operator.sub),
    ast.Mult: _of_numbers(operator.mul),
    ast.Div: _of_numbers(operator.truediv),
    ast.FloorDiv: _of_numbers(operator.floordiv),
    ast.Mod: _of_numbers(operator.mod),
    ast.Pow: _of_numbers(np.float_power),  # floats, so that integers cannot grow without limit
    ast.USub: _of_numbers(operator.neg),
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(
    text: str, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None = None
) -> Any:
    """Return the value of an expression over named values (numbers, texts or arrays). Raises InputError.

    `functions` are further functions, which replace those of the same name.
    """
    tree = _parse(text)
    try:
        with np.errstate(all="ignore"):
            return _value(tree.body, values, functions or {})
    except InputError:
        raise
    except Exception as error:  # any error of Python or NumPy for these values
        raise _no_value(text, error) from None


def numbers(text: str, values: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the value of an expression as floats, [n] or a single one. Raises InputError."""
    found = evaluate(text, values)
    try:
        if np.asarray(found).dtype.kind not in "biuf":
            raise TypeError("a text is not a number")
        return np.asarray(found, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_value(text, error) from None


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with every `{expression}` replaced, in texts at any depth of lists and mappings.

    A text that consists of one expression becomes the value of that expression.
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


def check(text: str, known: Collection[str], *, what: str = "neither an outcome nor a column") -> None:
    """Raise InputError, which says `what` a name is not, unless an expression uses only `known` names."""
    for node in ast.walk(_parse(text)):
        if isinstance(node, ast.Name) and node.id not in known and node.id not in FUNCTIONS:
            where = "" if text.strip() == node.id else f"'{text}': "
            raise InputError(
                f"{where}'{node.id}' is {what}; {suggest(node.id, known)}"
            )


def _parse(text: str) -> ast.Expression:
    if len(text) > MAX_LENGTH:
        said = f"{text[:40]}..."
        raise InputError(f"'{said}' has {len(text)} characters; expected 1 to {MAX_LENGTH}; shorten it")
    try:
        return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two for deep nesting
        example = "acked * packet_bytes / duration_s"
        raise InputError(f"'{text}' is not an expression; write one such as {example}") from None


_Functions = Mapping[str, Callable[..., Any]]


class NoValueError(InputError):
    """Error for an expression without a value, such as 1 / 0, for the given numbers."""

    reason = ""


def _no_value(text: str, error: Exception) -> NoValueError:
    reason = "it is too deep" if isinstance(error, RecursionError) else error
    found = NoValueError(f"'{text}' has no value here ({reason}); check its columns for empty fields")
    found.reason = str(reason)
    return found


def _value(node: ast.AST, values: Mapping[str, Any], more: _Functions) -> Any:
    found = _found(node, values, more)
    # Convert to a float beyond 64 bits, so that integers cannot grow without limit.
    return float(found) if isinstance(found, int) and abs(found) >= 1 << 63 else found


def _found(node: ast.AST, values: Mapping[str, Any], more: _Functions) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as constant):
            return constant
        case ast.Name(id=name):
            if name not in values:
                raise InputError(f"'{name}' is not a column; {suggest(name, values)}")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, values, more), _value(right, values, more))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, values, more))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, values, more), _value(right, values, more))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, values, more) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(_value(part, values, more) for part in parts)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, values, more) else orelse, values, more)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in more:
            return more[name](*(_value(arg, values, more) for arg in args))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return _called(name, [_value(arg, values, more) for arg in args])
    raise InputError(
        f"'{ast.unparse(node)}' is not supported; supported: + - * / // % **, single comparisons, and or "
        "not, "
        f"x if y else z, and {', '.join(sorted({*FUNCTIONS, *more}))}"
    )


def _called(name: str, given: list[Any]) -> Any:
    wanted = 2 if name in _OF_TWO else 1
    if len(given) < wanted or (len(given) > wanted and name not in _OF_MANY):
        takes = "one value or more" if name in _OF_MANY else "two values" if wanted == 2 else "one value"
        raise InputError(f"'{name}' has {len(given)} values; it takes {takes}")
    return FUNCTIONS[name](*given)
