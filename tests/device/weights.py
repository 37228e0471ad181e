"""Approximate number of machine instructions of sm_90 per PTX instruction.

Registers have 32 bits, so that 64-bit integers are pairs: ptxas makes two instructions of a sum, a comparison
or a selection, and four of a product. The numbers are the growth of the machine code of ptxas 13.0 per
further instruction of a kind with operands loaded from memory. Divisions call a subroutine, whose length is
included. Neighbouring instructions matter: in chains of sums, and of logic, one machine instruction does two;
a shift before a sum is part of it; copies mostly vanish; parameters are read in place.

For the code of a whole model the sum is 8 to 20 % more than ptxas makes (mobile hosts: 54 %, as it finds more
common subexpressions).
"""

import re
from collections.abc import Callable, Iterable, Sequence

from tests.device.ptx import UnknownError

WEIGHTS: dict[str, float] = {
    r"(add|sub|neg|and|or|xor|not|shl|shr)\.[bsu]64": 2,
    r"(add|sub|neg|and|or|xor|not|shl|shr)\.[bsu](16|32)": 1,
    r"bfi\.b64": 3, r"(min|max)\.[su]64": 4, r"abs\.s64": 5, r"(min|max|abs)\.[su]32": 1,
    r"mul\.lo\.[su]64": 4, r"mul\.(lo|wide)\.[su]32": 1, r"mul\.hi\.u64": 7, r"mul\.hi\.s64": 17,
    r"div\.[su]64": 90, r"rem\.[su]64": 82, r"(div|rem)\.[su]32": 18,
    r"setp\.\w+(\.and|\.or)?\.[bsu]64": 2, r"setp\.\w+(\.and|\.or)?\.([bsu](16|32)|f64)": 1,
    r"selp\.([bsu]|f)64": 2, r"selp\.[bsu](16|32)": 1,
    r"(and|or|xor|not|mov)\.pred": 0, r"mov\.([bsu]|f)\d+": 0.5,
    r"cvta\..*": 0, r"cvt\.u\d+\.[su]\d+": 0, r"cvt\.s\d+\.[su]\d+": 1,
    r"cvt\.r\w+\.f64\.[su](32|64)": 1, r"cvt\.r\wi\.(s64|f64)\.f64": 1, r"cvt\.sat\.f64\.f64": 7,
    r"(add|sub|mul)\.rn\.f64": 1, r"(neg|abs)\.f64": 0, r"(min|max)\.f64": 7,
    r"div\.rn\.f64": 21, r"rcp\.rn\.f64": 15, r"sqrt\.rn\.f64": 24,
    r"(ld|st)(\.global|\.local|\.shared)?(\.nc)?\.\w+": 1, r"(ld|st)\.param\.\w+": 0,
    r"bra|bra\.uni|ret": 1, r"call\.uni": 2, r"stack(save|restore)\.u32": 1,
}  # fmt: skip
"""Machine instructions by patterns of opcodes, which may match anywhere."""

SUMS = r"(add|sub)\.[su]64"
LOGIC = r"(and|or|xor)\.b64"

MEETING = 1
"""Instructions that mark and end a region in which lanes may diverge (BSSY, BSYNC).

They are two, but several branches share them, and short regions have none.
"""


def weigher(statements: Iterable[str]) -> Callable[[str], float]:
    """Return the machine instructions of each instruction of a function. Raises UnknownError for unlisted
    ones."""
    readers: dict[str, list[str]] = {}
    for statement in statements:
        opcode, operands = _parts(statement)
        for register in re.findall(r"%\w+", ",".join(operands[not opcode.startswith("st") :])):
            readers.setdefault(register, []).append(opcode)

    def weight(instruction: str) -> float:
        opcode, operands = _parts(instruction)
        for pattern, number in WEIGHTS.items():
            if re.fullmatch(pattern, opcode):
                return _among(opcode, operands, number, readers.get(operands[0], []) if operands else [])
        raise UnknownError(instruction)

    return weight


def _parts(statement: str) -> tuple[str, list[str]]:
    opcode, _, rest = re.sub(r"^@!?%\w+ ", "", statement).partition(" ")
    return opcode, [operand.strip() for operand in rest.split(",")]


def _among(opcode: str, operands: Sequence[str], alone: float, readers: Sequence[str]) -> float:
    """Return the machine instructions of an instruction whose result these instructions read."""
    constant = [not operand.startswith("%") for operand in operands]

    def read_by(pattern: str) -> bool:
        return bool(readers) and all(re.fullmatch(pattern, reader) for reader in readers)

    if opcode == "shl.b64" and constant[2] and int(operands[2], 0) < 32 and read_by(SUMS):
        return 0
    if opcode.startswith("mul.wide") and read_by(SUMS):
        return 0
    if re.fullmatch(SUMS, opcode) and len(readers) == 1 and read_by(SUMS):
        return 1
    if re.fullmatch(LOGIC, opcode) and len(readers) == 1 and read_by(LOGIC):
        return 1
    if opcode == "not.b64" and read_by(LOGIC):
        return 0
    if opcode.startswith("selp") and constant[1] and constant[2]:
        return 1
    if opcode.startswith("mul.lo.s64") and constant[2]:
        return 3
    if re.fullmatch(r"setp\.(lt|ge)\.s64", opcode) and operands[2] == "0":
        return 1
    return alone
