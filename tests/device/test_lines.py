"""Source lines of the instructions of a model, and the behaviour of warps there."""

from pathlib import Path

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile as compilers
from tests.device import lines, ptx

SOURCE = """def outer(a):
    return inner(a) + 1


def inner(a):
    return a * a
"""
KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry kernel(.param .u64 kernel_param_0)
{
	.reg .b64 %rd<3>;
	.loc	1 2 0
	ld.param.u64 %rd1, [kernel_param_0];
	.loc	1 6 1, function_name $L__info_string0, inlined_at 1 2 0
	mul.lo.s64 %rd2, %rd1, %rd1;
	ret;
}
	.file	1 "FILE"
"""


def test_statements_know_their_line_and_those_of_calls_inlined(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    [kernel] = ptx.read(KERNEL.replace("FILE", str(file)))
    outer, inner = (str(file), 2), (str(file), 6)
    assert [(str(text), text.place) for text in kernel.statements] == [
        (".reg .b64 %rd<3>", ()),
        ("ld.param.u64 %rd1, [kernel_param_0]", (outer,)),
        ("mul.lo.s64 %rd2, %rd1, %rd1", (outer, inner)),
        ("ret", (outer, inner)),
    ]


def test_a_tree_tells_what_is_issued_wasted_and_with_how_many_lanes(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(SOURCE)
    outer, inner = (str(file), 2), (str(file), 6)
    runs = np.zeros((2, 33), np.int64)
    runs[0, 32], runs[1, 1], runs[1, 16] = 10, 6, 4
    text = lines.tree([[((outer,), 2.0)], [((outer, inner), 1.0)]], runs, 0.1)
    # 20 instructions by 32 lanes; in `inner` 6 by one lane and 4 by 16: of 250 slots wasted all.
    assert [line.split() for line in text.splitlines()[1:]] == [
        ["100.0%", "100.0%", "23.7", "20%", "0%", "13%", "67%", "module.outer"],
        ["33.3%", "100.0%", "7.0", "60%", "0%", "40%", "0%", "module.inner"],
    ]
    assert "inner" not in lines.tree([[((outer,), 2.0)], [((outer, inner), 1.0)]], runs, 0.34)


@pytest.mark.full
@pytest.mark.needs("numba_cuda")
def test_lines_leave_the_instructions_as_they_are() -> None:
    model = models.model("udp")
    [plain], [known] = ptx.read(compilers.ptx(model)), ptx.read(lines.ptx(model))
    assert len(known.statements) == pytest.approx(len(plain.statements), rel=0.01)
    assert sum(bool(text.place) for text in known.statements) > 0.9 * len(known.statements)
