"""Translation of a PTX instruction to a C statement; an instruction outside of the tables is an error."""

import re
from collections.abc import Sequence

from tests.device.ptx import UnknownError

BITS = 8, 16, 32, 64, 128
LETTERS = {"b": "uint", "u": "uint", "s": "int"}
TYPES = {"f64": "double", "pred": "bool"}
TYPES |= {f"{letter}{bits}": f"{name}{bits}_t" for letter, name in LETTERS.items() for bits in BITS}

# Expressions of the operands a, b, c, d of type T with N bits; W is the type with 2 N bits.
INTEGERS = {
    "add": "a + b", "sub": "a - b", "mul.lo": "a * b", "mad.lo": "a * b + c", "mul.wide": "(W)a * (W)b",
    "mul.hi": "((W)a * (W)b) >> N",
    "div": "b == 0 ? (T)-1 : (T)-1 < 0 && b == (T)-1 ? -a : a / b",  # C: -2^63 / -1 traps
    "rem": "b == 0 ? a : (T)-1 < 0 && b == (T)-1 ? 0 : a % b",
    "and": "a & b", "or": "a | b", "xor": "a ^ b", "not": "~a", "neg": "-a", "abs": "a < 0 ? -a : a",
    "min": "a < b ? a : b", "max": "a > b ? a : b", "mov": "a", "selp": "c ? a : b",
    "shl": "b < N ? a << b : 0", "shr": "b < N ? a >> b : a >> (N - 1) >> 1", "bfi": "insert(a, b, c, d)",
}  # fmt: skip
FLOATS = {
    "add.rn": "a + b", "sub.rn": "a - b", "mul.rn": "a * b", "div.rn": "a / b", "rcp.rn": "1 / a",
    "sqrt.rn": "sqrt(a)", "min": "least(a, b)", "max": "largest(a, b)", "neg": "-a", "abs": "fabs(a)",
    "mov": "a", "selp": "c ? a : b",
}  # fmt: skip
PREDICATES = {"and": "a && b", "or": "a || b", "xor": "a != b", "not": "!a", "mov": "a"}
COMPARISONS = {"eq": "a == b", "ne": "a != b", "lt": "a < b", "le": "a <= b", "gt": "a > b", "ge": "a >= b"}
OF_FLOATS = {  # with u: true if an operand is NaN
    **COMPARISONS, "ne": "a < b || a > b", "equ": "!(a < b || a > b)", "neu": "!(a == b)",
    "ltu": "!(a >= b)", "leu": "!(a > b)", "gtu": "!(a <= b)", "geu": "!(a < b)",
}  # fmt: skip
CONVERSIONS = {
    "cvt.rn.f64.s32": "a", "cvt.rn.f64.u32": "a", "cvt.rn.f64.s64": "a", "cvt.rn.f64.u64": "a",
    "cvt.rzi.s64.f64": "to_s64(trunc(a))", "cvt.rmi.s64.f64": "to_s64(floor(a))",
    "cvt.rpi.s64.f64": "to_s64(ceil(a))", "cvt.rzi.f64.f64": "trunc(a)", "cvt.rmi.f64.f64": "floor(a)",
    "cvt.rpi.f64.f64": "ceil(a)", "cvt.sat.f64.f64": "(a > 0 ? a < 1 ? a : 1 : 0)",
    "cvta.to.global.u64": "a", "cvta.local.u64": "a", "cvta.to.local.u64": "a",
    "cvta.shared.u64": "a", "cvta.to.shared.u64": "a",
}  # fmt: skip
SHARED = "_cudapy_smem"
"""Prefix of the names of variables in shared memory."""

OTHERS = {"shl": {1: "u32"}, "shr": {1: "u32"}, "bfi": {2: "u32", 3: "u32"}, "selp": {2: "pred"}}
"""Operands that do not have the type of the instruction."""


def to_c(instruction: str, functions: Sequence[str] = ()) -> str:
    """Return a PTX instruction in C, in which registers are variables. Raises UnknownError.

    `functions` are those that it may call.
    """
    if found := re.fullmatch(r"@(!?)%(\w+) (.*)", instruction):
        return f"if ({found[1]}{found[2]}) {{ {to_c(found[3], functions)} }}"
    opcode, _, rest = instruction.partition(" ")
    operands = [operand.strip() for operand in rest.split(",")]
    try:
        if opcode in ("bra", "bra.uni"):
            return f"goto {variable(rest)};"
        if opcode in ("stacksave.u32", "stackrestore.u32"):
            return ";"  # not used: `alloca` is not supported
        if opcode == "ret":
            return "return func_retval0;"
        if opcode == "call.uni":
            return _call(rest, functions)
        if opcode.startswith(("ld.", "st.")):
            return _several(opcode, rest) if "{" in rest else _access(opcode, *operands)
        return _assignment(opcode, *operands)
    except (KeyError, TypeError, ValueError):
        raise UnknownError(instruction) from None


def _assignment(opcode: str, to: str, *operands: str) -> str:
    operation, *_ = opcode.split(".")
    if operation in ("cvt", "cvta"):
        result, expression, kinds = _conversion(opcode)
    elif operation == "setp":
        result, expression, kinds = _comparison(opcode)
    else:
        result, expression, kinds = _arithmetic(opcode, len(operands))
    given = [
        f"{TYPES[kind]} {name} = {value(operand, kind)}; "
        for name, kind, operand in zip("abcd"[: len(kinds)], kinds, operands, strict=True)
    ]
    return f"{{ {''.join(given)}{variable(to)} = ({TYPES[result]})({expression}); }}"


def _arithmetic(opcode: str, count: int) -> tuple[str, str, list[str]]:
    """Return the type of the result, an expression, and the types of its `count` operands."""
    operation, _, kind = opcode.rpartition(".")
    kinds = [OTHERS.get(operation, {}).get(i, kind) for i in range(count)]
    if kind in ("f64", "pred"):
        return kind, (FLOATS if kind == "f64" else PREDICATES)[operation], kinds
    bits = int(kind[1:])
    wide = f"{kind[0]}{2 * bits}"
    words = {"T": TYPES[kind], "N": str(bits), "W": TYPES[wide]}
    expression = re.sub(r"\b[TNW]\b", lambda found: words[found[0]], INTEGERS[operation])
    return wide if operation == "mul.wide" else kind, expression, kinds


def _comparison(opcode: str) -> tuple[str, str, list[str]]:
    _, comparison, *further, kind = opcode.split(".")
    expression = (OF_FLOATS if kind == "f64" else COMPARISONS)[comparison]
    if not further:
        return "pred", expression, [kind, kind]
    [sign] = ({"and": "&&", "or": "||"}[word] for word in further)
    return "pred", f"({expression}) {sign} c", [kind, kind, "pred"]


def _conversion(opcode: str) -> tuple[str, str, list[str]]:
    *_, to, source = opcode.split(".")
    if opcode.startswith("cvta."):
        return source, CONVERSIONS[opcode], [source]
    if "f" in to + source or opcode != f"cvt.{to}.{source}":
        return to, CONVERSIONS[opcode], [source]
    return to, "a", [source]


def _access(opcode: str, *operands: str) -> str:
    """Return a load or a store in C."""
    operation, *space, kind = opcode.split(".")
    target, other = operands if operation == "st" else operands[::-1]
    if space not in ([], ["global"], ["global", "nc"], ["local"], ["shared"], ["param"]):
        raise KeyError(opcode)
    place = f"*({TYPES[kind]} *)({address(target, parameter=space == ['param'])})"
    return f"{place} = {value(other, kind)};" if operation == "st" else f"{variable(other)} = {place};"


def _several(opcode: str, rest: str) -> str:
    """Return a load or a store of several registers, as `st.local.v2.u64 [%rd1], {%rd2, %rd3}`."""
    one, _, kind = opcode.rpartition(".")
    one, _, lanes = one.rpartition(".v")
    found = re.fullmatch(r"(\[[^]]+\]), {([^}]+)}|{([^}]+)}, (\[[^]]+\])", rest)
    registers = re.findall(r"[^, ]+", found[2] or found[3]) if found else []
    if not found or len(registers) != int(lanes):
        raise ValueError(rest)
    place, size = address(found[1] or found[4]), int(kind[1:]) // 8
    parts = []
    for lane, register in enumerate(registers):
        at = f"[at+{lane * size}]"
        parts.append(_access(f"{one}.{kind}", *((at, register) if one.startswith("st") else (register, at))))
    return f"{{ uint64_t at = {place}; {' '.join(parts)} }}"


def address(target: str, *, parameter: bool = False) -> str:
    """Return the address in brackets of a load or a store as a C expression."""
    found = re.fullmatch(r"\[([%\w]+)(?:\+(-?\d+))?\]", target)
    if not found:
        raise ValueError(target)
    base = variable(found[1])
    if parameter:
        number = re.search(r"_param_(\d+)$", base)
        base = f"(uintptr_t)&param[{number[1]}]" if number else f"(uintptr_t)&{base}"
    return f"{base} + {found[2] or 0}"


def _call(rest: str, functions: Sequence[str]) -> str:
    result, name, given = parts_of_call(rest)
    if name not in functions:
        raise KeyError(rest)
    to = f"{result} = " if result else ""
    return f"{{ uint64_t given[] = {{{', '.join(given)}}}; {to}{name}(given, 0, 0, 0); }}"


def parts_of_call(rest: str) -> tuple[str, str, list[str]]:
    """Return the result, the function and the parameters of a call; no result is ""."""
    found = re.fullmatch(r"(?:\((\w+)\) ?, ?)?(\w+) ?, ?\( ?([\w, ]*?) ?\)", rest)
    if not found:
        raise ValueError(rest)
    return found[1] or "", found[2], re.findall(r"\w+", found[3])


def value(operand: str, kind: str) -> str:
    """Return an operand as a C expression of a type."""
    number = TYPES[kind]
    if operand.startswith("%"):
        return f"({number}){variable(operand)}"
    if operand.startswith(("__local_depot", SHARED)):
        return f"({number})(uintptr_t){operand}"
    if found := re.fullmatch("0d([0-9A-F]{16})", operand):
        return f"float_of(0x{found[1]})"
    return f"({number})UINT64_C({int(operand, 0) % 2**64})"


def variable(name: str) -> str:
    """Return the C variable (or label) for a register, a special register or a label."""
    found = re.fullmatch(r"[%$]?(\w+(?:\.x)?)", name)
    if not found:
        raise ValueError(name)
    return found[1].replace(".", "_")
