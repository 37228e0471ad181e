"""Translation of PTX to C: one small kernel for each kind of instruction that differs in C."""

from pathlib import Path

import numpy as np
import pytest

from tests.device.instructions import to_c
from tests.device.kernel import Kernel
from tests.device.ptx import VERSION, UnknownError, read, shared

HEAD = f"""
.version {VERSION}
.target sm_75
.address_size 64
"""

# One thread reads words 0 and 1 of a row of four, and writes words 2 and 3.
KERNEL = """
.visible .entry netcarlo(
    .param .u64 netcarlo_param_0,
    .param .u64 netcarlo_param_1
)
{{
    .reg .pred  %p<3>;
    .reg .b32   %r<9>;
    .reg .f64   %fd<5>;
    .reg .b64   %rd<9>;

    ld.param.u64    %rd1, [netcarlo_param_0];
    ld.param.u64    %rd2, [netcarlo_param_1];
    mov.u32         %r1, %ctaid.x;
    mov.u32         %r2, %ntid.x;
    mul.wide.s32    %rd3, %r1, %r2;
    mov.u32         %r3, %tid.x;
    cvt.u64.u32     %rd4, %r3;
    add.s64         %rd3, %rd3, %rd4;
    setp.ge.s64     %p1, %rd3, %rd2;
    @%p1 bra        $L__BB0_2;
    shl.b64         %rd3, %rd3, 5;
    add.s64         %rd1, %rd1, %rd3;
    ld.global.u64   %rd5, [%rd1];
    ld.global.u64   %rd6, [%rd1+8];
    ld.global.f64   %fd1, [%rd1];
    ld.global.f64   %fd2, [%rd1+8];
    {}
    st.global.u64   [%rd1+16], %rd7;
    selp.u64        %rd8, 1, 0, %p2;
    st.global.u64   [%rd1+24], %rd8;
$L__BB0_2:
    ret;
}}
"""

LEAST, MOST = -(2**63), 2**63 - 1


def run(folder: Path, code: str, rows: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Return %rd7 and %p2 after `code`, for each row of two words."""
    table = np.zeros((len(rows), 4), np.int64)
    table[:, :2] = rows.view(np.int64)
    kernel = Kernel(HEAD + KERNEL.format(code), folder)
    kernel((-(-len(rows) // 2),), (2,), [np.int64(table.ctypes.data), np.int64(len(rows))])
    return table[:, 2:]


@pytest.mark.needs("gcc")
@pytest.mark.parametrize(
    ("code", "pairs", "results"),
    [
        ("add.s64 %rd7, %rd5, %rd6;", [(MOST, 1)], [LEAST]),
        ("shl.b64 %rd7, %rd5, 64;", [(-1, 0)], [0]),
        ("shr.s64 %rd7, %rd5, 70;", [(-8, 0), (8, 0)], [-1, 0]),
        ("shr.u64 %rd7, %rd5, 60;", [(-1, 0)], [15]),
        ("div.s64 %rd7, %rd5, %rd6;", [(-7, 2), (LEAST, -1)], [-3, LEAST]),
        ("rem.s64 %rd7, %rd5, %rd6;", [(-7, 2), (LEAST, -1)], [-1, 0]),
        ("mul.hi.u64 %rd7, %rd5, %rd6;", [(-1, -1)], [-2]),
        ("mul.hi.s64 %rd7, %rd5, %rd6;", [(-1, 5)], [-1]),
        ("mad.lo.s64 %rd7, %rd5, %rd6, %rd5;", [(3, 4), (MOST, 2)], [15, MOST - 2]),
        (".local .align 8 .b8 __local_depot0[16]; mov.u64 %rd8, __local_depot0; cvta.local.u64 %rd8, %rd8; "
         "cvta.to.local.u64 %rd7, %rd8; st.local.u64 [%rd7+8], %rd6; ld.u64 %rd7, [%rd8+8];", [(1, 5)], [5]),
        ("bfi.b64 %rd7, %rd5, %rd6, 8, 4;", [(0xFF, 0x1234)], [0x1F34]),
        ("min.u64 %rd7, %rd5, %rd6;", [(-1, 3)], [3]),
        ("setp.lt.s64 %p2, %rd5, %rd6; @%p2 add.s64 %rd7, %rd5, 1; @!%p2 sub.s64 %rd7, %rd5, 1;",
         [(3, 4), (4, 3)], [4, 3]),
        ("cvt.u32.u64 %r4, %rd5; cvt.s64.s32 %rd7, %r4;", [(0x1FFFFFFFF, 0)], [-1]),
    ],
)  # fmt: skip
def test_integers(tmp_path: Path, code: str, pairs: list[tuple[int, int]], results: list[int]) -> None:
    assert run(tmp_path, code, np.array(pairs, np.int64))[:, 0].tolist() == results


@pytest.mark.needs("gcc")
@pytest.mark.parametrize(
    ("code", "pair", "result"),
    [
        ("cvt.rzi.s64.f64 %rd7, %fd1;", (-2.9, 0), -2),
        ("cvt.rzi.s64.f64 %rd7, %fd1;", (1e30, 0), MOST),
        ("cvt.rzi.s64.f64 %rd7, %fd1;", (np.nan, 0), LEAST),
        ("cvt.sat.f64.f64 %fd3, %fd1; cvt.rzi.s64.f64 %rd7, %fd3;", (3.5, 0), 1),
        ("cvt.sat.f64.f64 %fd3, %fd1; cvt.rzi.s64.f64 %rd7, %fd3;", (-3.5, 0), 0),
        ("cvt.sat.f64.f64 %fd3, %fd1; cvt.rzi.s64.f64 %rd7, %fd3;", (np.nan, 0), 0),
        ("min.f64 %fd3, %fd1, %fd2; cvt.rzi.s64.f64 %rd7, %fd3;", (np.nan, 4), 4),
        ("max.f64 %fd3, %fd1, %fd2; cvt.rzi.s64.f64 %rd7, %fd3;", (4, np.nan), 4),
        ("mul.rn.f64 %fd3, %fd1, 0d4008000000000000; cvt.rzi.s64.f64 %rd7, %fd3;", (2.5, 0), 7),
    ],
)
def test_floats(tmp_path: Path, code: str, pair: tuple[float, float], result: int) -> None:
    assert run(tmp_path, code, np.array([pair], np.float64))[0, 0] == result


@pytest.mark.needs("gcc")
@pytest.mark.parametrize(
    ("comparison", "less", "equal", "nan"),
    [
        *[("lt", 1, 0, 0), ("ltu", 1, 0, 1), ("ne", 1, 0, 0), ("neu", 1, 0, 1)],
        *[("equ", 0, 1, 1), ("geu", 0, 1, 1)],
    ],
)
def test_comparisons_with_what_is_no_number(
    tmp_path: Path, comparison: str, less: int, equal: int, nan: int
) -> None:
    pairs = np.array([(1, 2), (2, 2), (np.nan, 2)])
    found = run(tmp_path, f"setp.{comparison}.f64 %p2, %fd1, %fd2;", pairs)
    assert found[:, 1].tolist() == [less, equal, nan]


ROOM = ".visible .shared .align 8 .b8 _cudapy_smem_1[16];\n.shared .align 8 .b8 _cudapy_smem_2[8];\n"


@pytest.mark.needs("gcc")
def test_shared_memory_belongs_to_a_block_and_has_two_addresses(tmp_path: Path) -> None:
    """Shared memory is not initialised to zero."""
    code = """
    mov.u64 %rd8, _cudapy_smem_2; ld.shared.u64 %rd7, [%rd8]; st.shared.u64 [%rd8], %rd5;
    mov.u64 %rd8, _cudapy_smem_1; st.shared.u64 [%rd8+8], %rd6; cvta.shared.u64 %rd8, %rd8;
    ld.u64 %rd8, [%rd8+8]; setp.eq.s64 %p2, %rd8, %rd6;
    """
    table = np.array([(n, 10 * n, 0, 0) for n in range(4)], np.int64)
    kernel = Kernel(HEAD + ROOM + KERNEL.format(code), tmp_path)
    kernel((2,), (2,), [np.int64(table.ctypes.data), np.int64(4)])
    assert table[[1, 3], 2].tolist() == [0, 2]
    assert (table[[0, 2], 2] == int.from_bytes(8 * bytes([77]))).all()
    assert table[:, 3].tolist() == [1, 1, 1, 1]


def test_variables_in_shared_memory() -> None:
    assert shared(HEAD + ROOM) == {"_cudapy_smem_1": 16, "_cudapy_smem_2": 8}
    assert shared(HEAD + KERNEL.format("ld.shared.u64 %rd7, [%rd5];")) == {}
    with pytest.raises(UnknownError, match="extern"):
        shared(HEAD + ".extern .shared .align 8 .b8 _cudapy_smem_1[];\n")


@pytest.mark.parametrize(
    "instruction",
    [
        "fma.rn.f64 %fd1, %fd2, %fd3, %fd4", "add.f64 %fd1, %fd2, %fd3",
        "atom.global.add.u64 %rd1, [%rd2], 1",
        "ld.global.v2.u64 {%rd1, %rd2, %rd3}, [%rd4]", "ld.shared::cluster.u64 %rd1, [%rd2]",
        "cvt.rn.f32.f64 %f1, %fd1", "setp.lo.s64 %p1, %rd1, %rd2", "add.s64 %rd1, %rd2, table", "bar.sync 0",
        "call.uni (retval0), vprintf, (param0, param1)", "@%p1 trap", "min.s64.relu %rd1, %rd2, %rd3",
    ],
)  # fmt: skip
def test_what_is_not_known_is_an_error_that_names_it(instruction: str) -> None:
    with pytest.raises(UnknownError) as error:
        to_c(instruction)
    assert str(error.value) in instruction


def test_registers_in_a_row() -> None:
    """A load into the register of its own address reads the address first."""
    store = to_c("st.local.v2.u64 [%rd4+16], {%rd1, %rd2}")
    words = "*(uint64_t *)(at + 0) = (uint64_t)rd1; *(uint64_t *)(at + 8) = (uint64_t)rd2;"
    assert store == f"{{ uint64_t at = rd4 + 16; {words} }}"
    load = to_c("ld.global.v2.u32 {%r1, %r2}, [%rd1]")
    assert load == "{ uint64_t at = rd1 + 0; r1 = *(uint32_t *)(at + 0); r2 = *(uint32_t *)(at + 4); }"


def test_another_version_of_ptx_is_refused() -> None:
    assert read(HEAD) == []
    with pytest.raises(UnknownError, match=r"version 9.2, not 8.0"):
        read(HEAD.replace(VERSION, "9.2"))
