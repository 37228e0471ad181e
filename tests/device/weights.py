"""How many machine instructions of sm_90 a PTX instruction becomes, about.

Registers have 32 bits, so that 64-bit integers are pairs: ptxas makes two instructions of a sum, a comparison,
a selection, four of a product.  Copies between registers mostly vanish; so do parameters, which instructions
read where they are.
"""

import re

from tests.device.ptx import UnknownError

WEIGHTS: dict[str, float] = {
    r"(add|sub|neg|and|or|xor|not)\.[bsu]64": 2, r"(add|sub|neg|and|or|xor|not|mul\.lo)\.[bsu](16|32)": 1,
    r"(shl|shr)\.[bsu]64": 2, r"(shl|shr)\.[bsu](16|32)": 1, r"bfi\.b64": 4,
    r"(min|max|abs)\.[su]64": 4, r"(min|max|abs)\.[su]32": 1,
    r"mul\.lo\.[su]64": 4, r"mul\.wide\.[su]32": 1, r"mul\.hi\.[su]64": 9,
    r"(div|rem)\.[su]64": 90, r"(div|rem)\.[su]32": 16,
    r"setp\.\w+\.[bsu]64": 2, r"setp\.\w+\.([bsu](16|32)|f64)": 1, r"setp\.\w+\.(and|or)\.[bsu]64": 2,
    r"setp\.\w+\.(and|or)\.([bsu](16|32)|f64)": 1, r"selp\.([bsu]|f)64": 2, r"selp\.[bsu](16|32)": 1,
    r"(and|or|xor|not)\.pred": 0.5, r"mov\.pred": 0.5,
    r"mov\.([bsu]|f)64": 1, r"mov\.[bsu](16|32)": 0.5,
    r"cvta\..*": 0, r"cvt\.u(16|32)\.[su](16|32|64)": 0, r"cvt\.u64\.u(8|16|32)": 0.5,
    r"cvt\.s64\.s(8|16|32)": 1, r"cvt\.r\w+\.f64\.[su](32|64)": 1, r"cvt\.r\wi\.s64\.f64": 1,
    r"cvt\.r\wi\.f64\.f64": 1,
    r"(add|sub|mul)\.rn\.f64": 1, r"(neg|abs)\.f64": 1, r"(min|max)\.f64": 4,
    r"div\.rn\.f64": 12, r"rcp\.rn\.f64": 10, r"sqrt\.rn\.f64": 14,
    r"(ld|st)(\.global|\.local)?\.\w+": 1, r"(ld|st)\.param\.\w+": 0,
    r"bra": 1, r"bra\.uni": 1, r"ret": 1, r"call\.uni": 2,
}  # fmt: skip
"""By the opcodes that match."""

MEETING = 2
"""What marks and ends a region that lanes may leave apart (BSSY, BSYNC)."""


def weight(instruction: str) -> float:
    """Machine instructions of a PTX instruction.  Raises UnknownError for what no line matches."""
    opcode = re.sub(r"^@!?%\w+ ", "", instruction).partition(" ")[0]
    for pattern, number in WEIGHTS.items():
        if re.fullmatch(pattern, opcode):
            return number
    raise UnknownError(instruction)
