"""Counts of the model of warps, on kernels small enough to count by hand."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.device import flow, ptx
from tests.device.kernel import Kernel
from tests.device.lockstep import KIB, OTHER, SHARED, TRAFFIC, Region, Warps, l1_beside
from tests.device.warps import resident_warps

pytestmark = pytest.mark.needs("gcc")

HEAD = f".version {ptx.VERSION}\n.target sm_75\n.address_size 64\n"

# Parameters: an array of words, and the bytes from a thread's word to the next thread's.
ENTRY = """
.visible .entry netcarlo(
    .param .u64 netcarlo_param_0,
    .param .u64 netcarlo_param_1
)
{
    .reg .pred  %p<9>;
    .reg .b32   %r<9>;
    .reg .b64   %rd<29>;
    ld.param.u64    %rd1, [netcarlo_param_0];
    ld.param.u64    %rd2, [netcarlo_param_1];
    mov.u32         %r1, %tid.x;
    cvt.u64.u32     %rd3, %r1;
    mul.lo.s64      %rd4, %rd3, %rd2;
    add.s64         %rd4, %rd4, %rd1;
    ld.global.u64   %rd5, [%rd4];
    mov.u64         %rd6, 0;
"""
END = """
    st.global.u64   [%rd4], %rd6;
    ret;
}
"""

BRANCH = """
    setp.lt.s64     %p1, %rd5, 8;
    @%p1 bra        $few;
    bra.uni         $many;
$few:
    add.s64         %rd6, %rd6, 1;
    bra.uni         $met;
$many:
    add.s64         %rd6, %rd6, 2;
$met:
    add.s64         %rd6, %rd6, %rd5;
"""

# Ten iterations; in odd ones, the lanes of odd words execute another branch before the next iteration.
ONE_LATCH = """
$head:
    add.s64         %rd7, %rd7, 1;
    and.b64         %rd8, %rd7, %rd5;
    and.b64         %rd8, %rd8, 1;
    setp.eq.s64     %p1, %rd8, 0;
    @%p1 bra        $latch;
$odd:
    add.s64         %rd6, %rd6, 5;
$latch:
    setp.lt.s64     %p2, %rd7, 10;
    @%p2 bra        $head;
$end:
"""
TWO_LATCHES = """
$head:
    add.s64         %rd7, %rd7, 1;
    and.b64         %rd8, %rd7, %rd5;
    and.b64         %rd8, %rd8, 1;
    setp.eq.s64     %p1, %rd8, 0;
    @%p1 bra        $latch;
$odd:
    add.s64         %rd6, %rd6, 5;
    setp.lt.s64     %p3, %rd7, 10;
    @%p3 bra        $head;
    bra.uni         $end;
$latch:
    setp.lt.s64     %p2, %rd7, 10;
    @%p2 bra        $head;
$end:
"""

# As above, with the exit at the head; no back edge has a condition.
PLAIN_LATCHES = """
$head:
    setp.ge.s64     %p2, %rd7, 10;
    @%p2 bra        $end;
$turn:
    add.s64         %rd7, %rd7, 1;
    and.b64         %rd8, %rd7, %rd5;
    and.b64         %rd8, %rd8, 1;
    setp.eq.s64     %p1, %rd8, 0;
    @%p1 bra        $even;
$odd:
    add.s64         %rd6, %rd6, 5;
    bra.uni         $head;
$even:
    add.s64         %rd6, %rd6, 7;
    bra.uni         $head;
$end:
"""

# As ONE_LATCH; the lane of word 1 leaves from the middle.
BREAK = """
$head:
    add.s64         %rd7, %rd7, 1;
    and.b64         %rd8, %rd7, %rd5;
    and.b64         %rd8, %rd8, 1;
    setp.eq.s64     %p1, %rd8, 0;
    @%p1 bra        $latch;
$odd:
    add.s64         %rd6, %rd6, 5;
    setp.eq.s64     %p3, %rd5, 1;
    @%p3 bra        $left;
$latch:
    setp.lt.s64     %p2, %rd7, 10;
    @%p2 bra        $head;
$last:
    add.s64         %rd6, %rd6, 1;
    bra.uni         $end;
$left:
    add.s64         %rd6, %rd6, 9;
$end:
"""

# The word is the number of iterations.
COUNTDOWN = """
$head:
    setp.lt.s64     %p1, %rd5, 1;
    @%p1 bra        $end;
$body:
    add.s64         %rd6, %rd6, %rd5;
    add.s64         %rd5, %rd5, -1;
    bra.uni         $head;
$end:
"""

FUNCTION = """
.func  (.param .b64 func_retval0) larger
(
    .param .b64 larger_param_0,
    .param .b64 larger_param_1
)
{
    .reg .pred  %p<3>;
    .reg .b64   %rd<5>;
    ld.param.u64    %rd1, [larger_param_0];
    ld.param.u64    %rd2, [larger_param_1];
    setp.lt.s64     %p1, %rd1, %rd2;
    @%p1 bra        $second;
    add.s64         %rd3, %rd1, 1;
    bra.uni         $larger_end;
$second:
    add.s64         %rd3, %rd2, 2;
$larger_end:
    st.param.b64    [func_retval0+0], %rd3;
    ret;
}
"""
CALL = """
    setp.eq.s64     %p1, %rd5, 0;
    @%p1 bra        $met;
{ // callseq 0, 0
    .reg .b32 temp_param_reg;
    .param .b64 param0;
    st.param.b64    [param0+0], %rd5;
    .param .b64 param1;
    st.param.b64    [param1+0], 16;
    .param .b64 retval0;
    call.uni (retval0),
    larger,
    (
    param0,
    param1
    );
    ld.param.b64    %rd6, [retval0+0];
} // callseq 0
    add.s64         %rd6, %rd6, %rd5;
$met:
"""

STACK = """
    .local .align 8 .b8 __local_depot0[16];
    .reg .b64       %SP;
    .reg .b64       %SPL;
    mov.u64         %SPL, __local_depot0;
    cvta.local.u64  %SP, %SPL;
    add.u64         %rd9, %SPL, 8;
    st.local.u64    [%rd9], %rd5;
    add.u64         %rd10, %SP, 8;
    ld.u64          %rd6, [%rd10];
"""


def module(code: str, *functions: str) -> str:
    return HEAD + "".join(functions) + ENTRY + code + END


def run(
    folder: Path, text: str, words: Sequence[int], *, stride: int = 8, block: int = 32, nested: bool = True
) -> Warps:
    """Return the warps after a launch over these words, whose result must equal that of single threads."""
    table = np.zeros((len(words), stride // 8), np.int64)
    table[:, 0] = words
    alone = table.copy()

    def regions(arguments: Sequence[int]) -> list[Region]:
        return [Region("words", arguments[0], table.nbytes, 8)]

    warps = Warps(text, folder, regions=regions, nested=nested)
    kernels: list[tuple[Warps | Kernel, NDArray[np.int64]]] = [(warps, table), (Kernel(text, folder), alone)]
    for kernel, array in kernels:
        kernel((len(words) // block,), (block,), [np.int64(array.ctypes.data), np.int64(stride)])
    assert table.tolist() == alone.tolist()
    assert table[:, 0].tolist() != list(words)
    return warps


def counted(warps: Warps) -> dict[str, tuple[int, int]]:
    """Return how often warps ran each block, and with how many lanes."""
    counts = warps.counts
    return {
        block.label: (int(runs), int(lanes))
        for block, runs, lanes in zip(warps.code.blocks, counts.runs, counts.lanes, strict=True)
    }


def test_both_sides_of_a_branch_meet_behind_it(tmp_path: Path) -> None:
    found = counted(run(tmp_path, module(BRANCH), range(32)))
    assert found == {"entry": (1, 32), "$few": (1, 8), "$many": (1, 24), "$met": (1, 32)}


def test_a_warp_that_agrees_takes_one_side(tmp_path: Path) -> None:
    found = counted(run(tmp_path, module(BRANCH), [*[3] * 32, *[9] * 32], block=64))
    assert found["$few"] == found["$many"] == (1, 32) and found["$met"] == (2, 64)


def test_where_all_paths_of_a_loop_end_at_one_latch_they_meet_in_each_turn(tmp_path: Path) -> None:
    found = counted(run(tmp_path, module("mov.u64 %rd7, 0;" + ONE_LATCH), range(32)))
    assert found["$head"] == found["$latch"] == (10, 320)
    assert found["$odd"] == (5, 80)
    assert found["$end"] == (1, 32)


def test_lanes_that_jump_back_early_make_the_others_wait(tmp_path: Path) -> None:
    """Other lanes wait until these arrive, because the loop has become two nested loops."""
    found = counted(run(tmp_path, module("mov.u64 %rd7, 0;" + TWO_LATCHES), range(32)))
    assert found["$odd"] == (5, 80)
    assert found["$latch"] == (10, 5 * 32 + 5 * 16)
    assert found["$head"] == (5 * 2 + 5, 5 * (32 + 16) + 5 * 16)
    assert found["$end"] == (1, 32)


def test_or_they_go_on_alone_until_the_loop_ends(tmp_path: Path) -> None:
    text = module("mov.u64 %rd7, 0;" + TWO_LATCHES)
    found = counted(run(tmp_path, text, range(32), nested=False))
    assert found["$head"] == (1 + 2 * 9, 320)  # they diverge in the first iteration
    assert found["$odd"] == (5, 80)
    assert found["$end"] == (1, 32)


def test_back_edges_without_a_condition_meet(tmp_path: Path) -> None:
    found = counted(run(tmp_path, module("mov.u64 %rd7, 0;" + PLAIN_LATCHES), range(32)))
    assert found["$head"] == (11, 352)
    assert found["$odd"] == (5, 80) and found["$even"] == (10, 240)
    assert found["$end"] == (1, 32)


def test_nobody_in_a_loop_waits_for_lanes_that_leave_it(tmp_path: Path) -> None:
    found = counted(run(tmp_path, module("mov.u64 %rd7, 0;" + BREAK), range(32)))
    assert found["$head"] == (10, 311) and found["$latch"] == (10, 310)
    assert found["$left"] == (1, 1) and found["$last"] == (1, 31)
    assert found["$end"] == (1, 32)


def test_lanes_that_have_left_a_loop_wait_for_the_others(tmp_path: Path) -> None:
    turns = [lane % 4 for lane in range(32)]
    found = counted(run(tmp_path, module(COUNTDOWN), [word + 10 for word in turns]))
    assert found["$body"] == (13, sum(turns) + 320)
    assert found["$head"] == (14, sum(turns) + 352)
    assert found["$end"] == (1, 32)


def test_lanes_call_together_and_part_in_the_function(tmp_path: Path) -> None:
    found = counted(run(tmp_path, module(CALL, FUNCTION), range(32)))
    assert found["$second"] == (1, 15)  # 1 to 15 are less than 16
    assert found["$larger_end"] == (1, 31)
    assert found["$met"] == (1, 32)


def test_threads_that_fill_no_warp(tmp_path: Path) -> None:
    found = counted(run(tmp_path, module(BRANCH), range(80), block=80))
    assert found["entry"] == (3, 80)
    assert found["$few"] == (1, 8) and found["$many"] == (3, 72)


@pytest.mark.parametrize(
    ("stride", "lines", "sectors"), [(8, 2, 8), (16, 4, 16), (32, 8, 32), (128, 32, 32), (608, 32, 32)]
)
def test_lines_and_sectors_of_a_warp(tmp_path: Path, stride: int, lines: int, sectors: int) -> None:
    counts = run(tmp_path, module(BRANCH), range(32), stride=stride).counts
    words, others = counts.traffic[0], counts.traffic[1:]
    assert dict(zip(TRAFFIC, words.tolist(), strict=True)) == {
        "loads": 1, "stores": 1, "load_lines": lines, "store_lines": lines, "load_sectors": sectors,
        "store_sectors": sectors, "l2_reads": sectors, "l2_writes": sectors, "dram_reads": sectors,
        "dram_writes": 0,
    }  # fmt: skip
    assert not others.any()
    assert counts.requests.tolist() == [1, 1] and counts.access_lanes.tolist() == [32, 32]
    assert counts.access_lines.tolist() == [lines, lines]
    assert all(counts.places[i, 0].tolist() == [1, 0, 0] for i in (0, 1))


def touches(count: int, step: int, times: int) -> str:
    """Return loads of `count` words, `step` bytes apart, in sequence and then again."""
    return "\n".join(
        f"ld.global.u64 %rd9, [%rd4+{i * step}]; add.s64 %rd6, %rd6, %rd9;" for i in range(count)
    ).join(["", "\n"] * times) + "add.s64 %rd6, %rd6, 1;"


def test_what_was_loaded_once_is_in_the_l1(tmp_path: Path) -> None:
    counts = run(tmp_path, module(touches(2, 32, 2)), range(32), stride=128).counts
    loads, reads = (counts.traffic[0, TRAFFIC.index(name)] for name in ("load_sectors", "l2_reads"))
    assert loads == 32 * counts.traffic[0, 0] > 2 * reads == 2 * 32 * 2


@pytest.mark.parametrize(("lines", "fits"), [(1024, True), (4096, False)])
def test_an_l1_holds_so_much_and_keeps_what_was_used_last(tmp_path: Path, lines: int, fits: bool) -> None:
    """An L1 of 200 KiB holds 1,600 lines."""
    text = module(touches(lines // 32, 128, 2))
    traffic = run(tmp_path, text, range(32), stride=lines // 32 * 128).counts.traffic[0]
    missed = traffic[TRAFFIC.index("l2_reads")] / lines
    assert missed < 1.3 if fits else missed > 1.9


def test_a_store_leaves_nothing_in_the_l1_and_is_fetched_from_the_l2(tmp_path: Path) -> None:
    code = "st.global.u64 [%rd4+64], %rd5; ld.global.u64 %rd6, [%rd4+64]; add.s64 %rd6, %rd6, 1;"
    traffic = run(tmp_path, module(code), range(32), stride=128).counts.traffic[0]
    assert traffic[TRAFFIC.index("l2_writes")] == 64
    assert traffic[TRAFFIC.index("l2_reads")] == 64


def test_stacks_are_local_memory(tmp_path: Path) -> None:
    counts = run(tmp_path, module(STACK + "add.s64 %rd6, %rd6, 1;"), range(32)).counts
    assert counts.traffic[15, :4].tolist() == [1, 1, 2, 2]
    assert counts.traffic[0, :4].tolist() == [1, 1, 2, 2]
    assert not counts.traffic[OTHER].any()


# Lanes keep their words in shared memory, `apart` bytes from each other.
ROOM = ".visible .shared .align 8 .b8 _cudapy_smem_1[8192];\n"
KEEP = """
    mov.u64         %rd7, _cudapy_smem_1;
    mul.lo.s64      %rd8, %rd3, {};
    add.s64         %rd7, %rd7, %rd8;
    st.shared.u64   [%rd7], %rd5;
    cvta.shared.u64 %rd8, %rd7;
    ld.u64          %rd6, [%rd8];
    add.s64         %rd6, %rd6, 1;
"""


@pytest.mark.full
@pytest.mark.parametrize(("apart", "cycles"), [(8, 2), (16, 4), (128, 32), (248, 2), (256, 32), (0, 2)])
def test_banks_of_shared_memory(tmp_path: Path, apart: int, cycles: int) -> None:
    """In a cycle 16 lanes access 8 bytes each, unless these are different words of one bank."""
    traffic = run(tmp_path, module(KEEP.format(apart), ROOM), range(32)).counts.traffic
    assert traffic[SHARED, :4].tolist() == [1, 1, cycles, cycles]
    assert not traffic[SHARED, 4:].any()
    assert traffic[0, TRAFFIC.index("l2_writes")] == traffic[0, TRAFFIC.index("l2_reads")] == 8


def test_lanes_that_take_no_part_need_no_cycle(tmp_path: Path) -> None:
    lanes = "setp.lt.s64 %p1, %rd5, 8; @%p1 bra $few; bra.uni $met;\n$few:" + KEEP.format(256) + "$met:\n"
    traffic = run(tmp_path, module(lanes, ROOM), range(32)).counts.traffic
    assert traffic[SHARED, :4].tolist() == [1, 1, 8, 8]


def test_blocks_do_not_share_their_shared_memory(tmp_path: Path) -> None:
    """Four concurrent blocks of two warps use the same addresses independently."""
    own = """
        mov.u32         %r2, %ctaid.x;
        mul.wide.u32    %rd9, %r2, 512;
        add.s64         %rd4, %rd4, %rd9;
        ld.global.u64   %rd5, [%rd4];
    """
    again = ONE_LATCH.replace("%rd7", "%rd9").replace("%rd8", "%rd10") + "ld.shared.u64 %rd6, [%rd7];"
    text = module(own + KEEP.format(8) + again + "add.s64 %rd6, %rd6, 1;", ROOM)
    assert counted(run(tmp_path, text, range(256), block=64))["$end"] == (8, 256)


def test_shared_memory_is_taken_from_the_l1_and_bounds_the_warps() -> None:
    assert l1_beside(0, 8) == 256 * KIB
    assert l1_beside(24 * KIB, 7) == (256 - 196) * KIB  # 175 KiB, with one for each block
    assert l1_beside(24 * KIB, 8) == (256 - 228) * KIB
    with pytest.raises(StopIteration):
        l1_beside(24 * KIB, 10)
    assert resident_warps(128) == 16 and resident_warps(129) == 12  # each part of four has 3 warps
    assert resident_warps(104) == resident_warps(104, 24 * KIB) == 16
    assert resident_warps(104, 32 * KIB) == 12


def test_an_address_that_is_not_aligned_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "kernel.ptx").write_text(module("ld.global.u64 %rd6, [%rd4+4];"))
    code = (
        "from pathlib import Path; import numpy as np; from tests.device.lockstep import Warps;"
        f"folder = Path({str(tmp_path)!r}); words = np.zeros(64, np.int64);"
        "Warps((folder / 'kernel.ptx').read_text(), folder)((1,), (32,), [words.ctypes.data, 8])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode != 0 and "not aligned" in done.stderr


@pytest.mark.parametrize(
    ("following", "meetings"),
    [
        ([[1, 2], [3], [3], [4], [-1]], {0: 3, 1: 3, 3: 4}),
        ([[1], [2, 4], [3], [1], [5], [-1]], {1: 2}),  # exit at the head: remaining lanes continue
        ([[1], [2, 3], [4], [4], [1, 5], [6], [-1]], {1: 4, 4: 5}),
        ([[1], [2], [2, 3], [1, 4], [5], [-1]], {2: 3, 3: 4}),  # a loop in a loop
        ([[1], [2, 3], [-1, 4], [4], [1, 5], [-1]], {1: 4, 2: 4, 4: -1}),  # a return in a loop
    ],
)
def test_where_lanes_meet(following: list[list[int]], meetings: dict[int, int]) -> None:
    found = flow.plan(following).meetings
    assert {block: found[block] for block in meetings} == meetings


def test_which_loops_an_edge_leaves() -> None:
    plan = flow.plan([[1], [2], [2, 3, 5], [1, 4], [5], [-1]])
    outer, inner = plan.loops[1], plan.loops[2]
    assert plan.around[inner] == outer and plan.around[outer] == plan.loops[0] == flow.EXIT
    assert plan.leaves[2] == [flow.EXIT, inner, outer] and plan.leaves[3] == [flow.EXIT, outer]
    assert plan.behind[inner] == 3 and plan.behind[outer] == 5


def test_a_loop_with_two_entries_is_refused() -> None:
    with pytest.raises(ptx.UnknownError, match="two places"):
        flow.plan([[1, 2], [2, 3], [1, 3], [-1]])
