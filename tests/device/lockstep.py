"""Execution of the PTX of a kernel on the CPU as on a GPU, in warps of 32 lanes, with counts of its cost.

Each basic block becomes a C function that executes it for the active lanes. `warp.c` decides which lanes are
active, `memory.c` follows the addresses.
"""

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.device import flow, ptx
from tests.device.instructions import TYPES, address, parts_of_call, to_c
from tests.device.weights import MEETING, weigher

HERE = Path(__file__).parent
GCC = "gcc", "-O1", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-shared", "-fPIC"

LANES = 32

KIB = 1024
L1_BYTES = 200 * KIB
"""Maximum size of the L1 that is assumed, of the 256 KiB of a multiprocessor."""
SHARES = tuple(KIB * n for n in (0, 8, 16, 32, 64, 100, 132, 164, 196, 228))
"""Possible sizes of shared memory instead of L1, with 1 KiB for each block besides its own.

Source: NVIDIA, "Hopper Tuning Guide", on shared memory and L1.
"""
L2_BYTES = 50 * KIB * KIB // 132
"""Share of the L2 of one of 132 multiprocessors [bytes]."""

REGIONS, SHARED, OTHER, LOCAL = 16, 13, 14, 15
"""Kinds of memory in `Counts.traffic`: arrays, shared memory, other memory, stacks."""

TRAFFIC = (
    *("loads", "stores", "load_lines", "store_lines", "load_sectors", "store_sectors"),
    *("l2_reads", "l2_writes", "dram_reads", "dram_writes"),
)
"""Columns of `Counts.traffic`: accesses of warps, lines of 128 bytes (shared: cycles), sectors of 32."""


class Region(NamedTuple):
    """Array [warp, word, lane], of which a thread owns `own` bytes; 0: an array of all threads."""

    name: str
    address: int
    bytes: int
    own: int


class Access(NamedTuple):
    """Instruction that loads or stores in memory that is not a parameter."""

    instruction: str
    label: str
    stores: bool
    size: int


class Code(NamedTuple):
    """Module with its blocks numbered through all functions."""

    c: str
    blocks: list[flow.Block]
    parts: list[list[tuple[ptx.Place, float]]]
    """By block: the source lines and weights of its instructions."""
    accesses: list[Access]
    parameters: int
    shared: int
    """Shared memory of a block of threads [bytes]."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """By block: its machine instructions."""
        return np.array([sum(weight for _, weight in part) for part in self.parts])


class Counts(NamedTuple):
    """Counts of events, summed over all warps."""

    by_lanes: NDArray[np.int64]
    """Runs of each block with 0 to 32 lanes."""
    traffic: NDArray[np.int64]
    """Traffic by region and column of TRAFFIC."""
    requests: NDArray[np.int64]
    """Requests by access."""
    access_lanes: NDArray[np.int64]
    access_lines: NDArray[np.int64]
    places: NDArray[np.int64]
    """By access: the most frequent (count, region, byte of a thread's own), [accesses, 4, 3]."""

    @property
    def runs(self) -> NDArray[np.int64]:
        """Runs by block."""
        return self.by_lanes.sum(axis=1)

    @property
    def lanes(self) -> NDArray[np.int64]:
        """Lanes in these runs, by block."""
        return self.by_lanes @ np.arange(LANES + 1)


class Warps:
    """Kernel for CuPy, `warps(grid, block, arguments)`, compiled in `folder`, which must exist.

    `regions` returns the arrays for the arguments, so that traffic is counted by array; `nested`: see
    `flow.blocks`.
    """

    def __init__(
        self,
        text: str,
        folder: Path,
        *,
        regions: Callable[[Sequence[int]], Sequence[Region]] = lambda arguments: (),
        resident: int = 14,
        l1_bytes: int = L1_BYTES,
        l2_bytes: int = L2_BYTES,
        nested: bool = True,
    ) -> None:
        self.code = translate(ptx.read(text), ptx.shared(text), nested=nested)
        self.regions = regions
        self.sizes = resident, l1_bytes, l2_bytes
        source, library = folder / "warps.c", folder / "warps.so"
        source.write_text(self.code.c)
        subprocess.run([*GCC, str(source), "-o", str(library), "-lm"], check=True)
        self._library = ctypes.CDLL(str(library))

    def __call__(self, grid: tuple[int], block: tuple[int], arguments: Sequence[np.int64]) -> None:
        assert len(arguments) == self.code.parameters
        given = np.array(arguments, np.int64)
        arrays = np.zeros((REGIONS, 3), np.int64)
        for i, region in enumerate(self.regions([int(value) for value in given])):
            arrays[i] = region[1:]
        resident, l1, l2 = self.sizes
        blocks = -(-resident * LANES // block[0])
        if self.code.shared:  # as many as fit
            blocks = min(blocks, SHARES[-1] // (self.code.shared + KIB))
            resident = min(resident, blocks * block[0] // LANES)
        l1 = min(l1, l1_beside(self.code.shared, blocks))
        self._library.launch(
            ctypes.c_void_p(given.ctypes.data), ctypes.c_uint32(*grid), ctypes.c_uint32(*block),
            ctypes.c_int(resident), ctypes.c_void_p(arrays.ctypes.data),
            ctypes.c_uint64(l1), ctypes.c_uint64(l2),
        )  # fmt: skip

    @property
    def counts(self) -> Counts:
        """Return the counts since this object was created."""
        blocks, accesses = len(self.code.blocks), len(self.code.accesses)

        def read(name: str, *shape: int) -> NDArray[Any]:
            numbers = (ctypes.c_int64 * int(np.prod(shape))).in_dll(self._library, name)
            return np.array(numbers, np.int64).reshape(shape)

        return Counts(
            read("runs", blocks, LANES + 1), read("traffic", REGIONS, len(TRAFFIC)),
            *(read(name, accesses) for name in ("requests", "access_lanes", "access_lines")),
            read("places", accesses, 4, 3),
        )  # fmt: skip


def l1_beside(shared: int, blocks: int) -> int:
    """Return the bytes of L1 of a multiprocessor with this many blocks with this much shared memory."""
    needed = blocks * (shared + KIB) if shared else 0
    return 256 * KIB - next(share for share in SHARES if share >= needed)


def translate(
    functions: Sequence[ptx.Function], shared: Mapping[str, int] | None = None, *, nested: bool = True
) -> Code:
    """Return a module in C."""
    shared = shared or {}
    begins = dict(zip(shared, np.cumsum([0, *shared.values()]).tolist(), strict=False))
    graphs = [flow.blocks(function, nested=nested) for function in functions]
    starts = np.cumsum([0, *(len(graph) for graph in graphs)]).tolist()
    entries = {function.name: start for function, start in zip(functions, starts, strict=False)}
    [(kernel, parameters)] = [(f.name, f.parameters) for f in functions if f.is_kernel]
    parts, table, weights = list[str](), list[str](), list[list[tuple[ptx.Place, float]]]()
    accesses, widest = list[Access](), 0
    loops, frames = list[str](), list[str]()
    for number, (function, graph) in enumerate(zip(functions, graphs, strict=True)):
        plan = flow.plan([block.next for block in graph])
        registers, weight = Registers(function, graph, begins), weigher(function.statements)
        frames.append(registers.frame(number))

        def place(block: int, start: int = starts[number]) -> int:
            return block if block == flow.EXIT else start + block

        def loop(number: int, start: int = len(loops)) -> int:
            return number if number == flow.EXIT else start + number

        for i, block in enumerate(graph):
            mine = [access for text in block.instructions if (access := _access(text, block.label))]
            to, callee = [place(j) for j in block.next], flow.EXIT
            body = [registers.place(line) for line in _lines(block, function.is_kernel)]
            if block.branch and block.branch[0].startswith("call"):
                _, name, given = parts_of_call(block.branch[0].partition(" ")[2])
                callee = entries[name]
                called = [function.name for function in functions].index(name)
                body.append(f"struct f{called} *to = (struct f{called} *)(callees + lane * frame_bytes);")
                body += [f"to->param[{k}] = {value};" for k, value in enumerate(given)]
            else:
                chosen = registers.place(_condition(block)) + " : ".join(map(str, to))
                body.append(f"warp->next[lane] = {chosen};")
            parts.append(_function(number, place(i), registers.declared(block), body))
            following = flow.EXIT if callee == flow.EXIT else to[-1]
            edges = ", ".join(f"{{{t}, {loop(left)}}}" for t, left in zip(to, plan.leaves[i], strict=True))
            table.append(
                f"{{b{place(i)}, {place(plan.meetings[i])}, {loop(plan.loops[i])}, {{{edges}}}, {callee}, "
                f"{following}, {len(accesses)}, {len(mine)}}},"
            )
            weights.append(_weights(block, i, weight))
            accesses += mine
            widest = max(widest, len(mine))
        loops += [
            f"{{{loop(around)}, {place(behind)}}},"
            for around, behind in zip(plan.around, plan.behind, strict=True)
        ]
    sizes = {
        "BLOCKS": len(table), "LOOPS": len(loops), "ACCESSES": len(accesses), "ACCESSES_OF_A_BLOCK": widest,
        "KERNEL": entries[kernel], "SHARED_BYTES": sum(shared.values()),
    }  # fmt: skip
    c = [
        (HERE / "prelude.c").read_text(), "#include <stdio.h>", "#include <stdlib.h>",
        f"enum {{ {', '.join(f'{name} = {size}' for name, size in sizes.items())} }};",
        (HERE / "memory.c").read_text(), (HERE / "warp.c").read_text(), *frames, *parts,
        f"union frame {{ {' '.join(f'struct f{k} f{k};' for k in range(len(functions)))} }};",
        "static const uint64_t frame_bytes = sizeof(union frame);",
        "static const Block block_table[BLOCKS] = {", *table, "};",
        "static const Loop loop_table[LOOPS + 1] = {", *loops, "};",
        "static const Access access_table[ACCESSES + 1] = {",
        *(f"{{{int(access.stores)}, {access.size}}}," for access in accesses), "};\n",
    ]  # fmt: skip
    blocks = [block for graph in graphs for block in graph]
    return Code("\n".join(c), blocks, weights, accesses, parameters, sizes["SHARED_BYTES"])


def _access(instruction: str, label: str) -> Access | None:
    found = re.match(r"(?:@!?%\w+ )?(ld|st)\.(?:(?:global|local|shared)\.)?(?:nc\.)?[a-z](\d+) ", instruction)
    return Access(instruction, label, found[1] == "st", int(found[2]) // 8) if found else None


def _lines(block: flow.Block, is_kernel: bool) -> Iterator[str]:
    """Return the instructions of a block in C, with notes of the addresses of its accesses."""
    number = 0
    for instruction in block.instructions:
        if _access(instruction, block.label):
            target = re.search(r"\[[^]]+\]", instruction)
            assert target
            condition = re.match(r"@(!?)%(\w+) ", instruction)
            at = address(target[0])
            taken = f"{condition[1]}{condition[2]} ? {at} : 0" if condition else at
            yield f"warp->at[{number}][lane] = {taken};"
            number += 1
        yield to_c(instruction).replace("param[", "kernel_parameters[" if is_kernel else "f->param[")


def _condition(block: flow.Block) -> str:
    """Return the condition before the numbers of the next blocks."""
    condition = block.branch and re.match(r"@(!?)%(\w+) ", block.branch[0])
    return f"{condition[1]}{condition[2]} ? " if condition else ""


def _function(number: int, block: int, declared: str, body: Sequence[str]) -> str:
    return "\n".join([
        f"static void b{block}(Warp *warp, char *frames, char *callees, uint32_t lanes) {{",
        "    for (; lanes; lanes &= lanes - 1) {",
        "        int lane = __builtin_ctz(lanes);",
        "        uint32_t ctaid_x = warp->ctaid, ntid_x = threads_of_a_block, tid_x = warp->tid + lane;",
        f"        struct f{number} *f = (struct f{number} *)(frames + lane * frame_bytes);",
        declared, *body, "    }", "}\n",
    ])  # fmt: skip


def _weights(
    block: flow.Block, number: int, weight: Callable[[str], float]
) -> list[tuple[ptx.Place, float]]:
    """Return the machine instructions and source lines of a block; a branch to the next block is free."""
    found = [(text.place, weight(text)) for text in [*block.instructions, *block.branch]]
    if block.branch and block.branch[-1].startswith("bra") and block.next[-1] == number + 1:
        found.pop()
    if len(set(block.next)) == 2:
        found.append((block.branch[-1].place, MEETING))
    return found


class Registers:
    """Registers of a function: variables of a block, or kept in the frame of a lane if they outlive it."""

    def __init__(
        self, function: ptx.Function, graph: Sequence[flow.Block], shared: Mapping[str, int]
    ) -> None:
        self.shared = shared
        self.function, self.types, self.depots = function, dict[str, str](), list[str]()
        for statement in function.statements:
            if found := re.fullmatch(r"\.reg \.(\w+) %(\w+?)(?:<\d+>)?", statement):
                self.types[found[2]] = TYPES[found[1]]
            elif found := re.fullmatch(r"\.local \.align (\d+) \.b8 (\w+)\[(\d+)\]", statement):
                self.depots.append(f"_Alignas({found[1]}) unsigned char {found[2]}[{found[3]}];")
            elif statement.startswith(".") and not re.match(r"\.(reg|param|pragma)\b", statement):
                raise ptx.UnknownError(statement)
        self.kept = set().union(*(_read_first(block) for block in graph))

    def frame(self, number: int) -> str:
        """Return the registers and the stack of a lane."""
        kept = sorted(self.kept)
        parameters = 0 if self.function.is_kernel else self.function.parameters
        return "\n".join([
            f"struct f{number} {{ uint64_t param[{parameters + 1}];", *self.depots,
            *(f"{self.type(name)} {name};" for name in kept), "};",
        ])  # fmt: skip

    def type(self, name: str) -> str:
        """Return the type of a register in C."""
        return self.types.get(name) or self.types[name.rstrip("0123456789")]

    def declared(self, block: flow.Block) -> str:
        """Return the variables of a block in C."""
        text = [*block.instructions, *block.branch]
        names = {name for line in text for name in _registers(line)} - self.kept
        parameters = {name for line in text for name in re.findall(r"\bparam\d+\b", line)}
        return " ".join([
            *(f"{self.type(name)} {name} = 0;" for name in sorted(names)),
            *(f"uint64_t {name} = 0;" for name in sorted(parameters)),
        ])  # fmt: skip

    def place(self, line: str) -> str:
        """Return a line of C in which registers are replaced by the places where they are kept."""

        def found(name: re.Match[str]) -> str:
            if name[0] in self.kept or name[0].startswith("__local_depot"):
                return f"f->{name[0]}"
            if name[0] in self.shared:
                return f"(warp->shared + {self.shared[name[0]]})"
            return "warp->result[lane]" if re.fullmatch(r"retval0|func_retval0", name[0]) else name[0]

        return re.sub(r"(?<!->)\b[A-Za-z_]\w*", found, line)


def _registers(instruction: str) -> list[str]:
    return re.findall(r"%(\w+)\b(?!\.x)", instruction)


def _read_first(block: flow.Block) -> set[str]:
    """Return the registers that a block may read before it has written them."""
    found, written = set[str](), set[str]()
    for text in [*block.instructions, *block.branch]:
        names = _registers(text)
        writes = not re.match(r"@|st\.|bra|ret|call", text) and text.partition(" ")[2].startswith("%")
        found |= {*names[writes:]} - written
        if writes:
            written.add(names[0])
        elif text.startswith("@"):
            found |= {*names} - written  # a predicated write may leave the register unchanged
    return found
