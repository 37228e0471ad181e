"""Control flow of a PTX function: basic blocks, loops, and the points where diverged lanes meet again.

The rules are those observed of ptxas 13.0 with branches and loops of every kind (BSSY, BSYNC and BREAK for
sm_90):

- Back edges of a loop without a condition become one, at which all lanes meet. If several back edges
  remain, either they become nested loops (TCP over a path): lanes that take the inner one make the others
  wait where it ends. Or they stay as they are (802.11): lanes that take different ones are apart until the
  loop ends.
- Diverged lanes meet at the nearest block that all of them pass which stay in the innermost loop around them
  (its immediate post-dominator there). They do not wait for lanes that leave the loop.
- Lanes that leave a loop meet after it, at the nearest block that all of them pass.

Other sources: S. S. Muchnick, "Advanced Compiler Design and Implementation", 1997, chapter 7 (dominators,
natural loops, reducibility); for the iteration K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast
Dominance Algorithm", 2001.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from tests.device.ptx import Function, Statement, UnknownError

EXIT = -1
"""Successor of the last block of a function, and the loop of blocks that are in none."""

Edges = Sequence[Sequence[int]]
"""Successors of each block."""


class Block(NamedTuple):
    """Instructions that lanes execute in sequence."""

    label: str
    """Label in the PTX; without one, the last label and the number of blocks since it."""
    instructions: list[Statement]
    """Instructions without the branch at the end."""
    branch: list[Statement]
    """Final branch: "@%p1 bra $L1", "bra.uni $L2", "ret", a call; empty if the next block follows."""
    next: list[int]
    """Successors of the block; of a condition first the one where it holds."""


class Plan(NamedTuple):
    """Meeting points of lanes that have diverged."""

    meetings: list[int]
    """By block: the block where its lanes meet that stay in the loop."""
    loops: list[int]
    """By block: the innermost loop around it."""
    leaves: list[list[int]]
    """By edge of `Block.next`: the outermost loop that it leaves, or EXIT."""
    around: list[int]
    """By loop: the loop around it."""
    behind: list[int]
    """By loop: the block where lanes meet that leave it."""


def blocks(function: Function, *, nested: bool = True) -> list[Block]:
    """Return the basic blocks of a function, from its entry.

    Empty blocks are added where back edges become one, and where loops begin that are made of one with
    several back edges (`nested`).
    """
    pieces = list(_pieces(function.statements))
    places = {label: number for number, (label, _) in enumerate(pieces)}
    found = []
    for number, (label, statements) in enumerate(pieces):
        branch = [statement for statement in statements if _ends(statement)]
        following: list[int] = []
        for statement in branch:
            if to := re.search(r"\bbra(?:\.uni)? (\S+)$", statement):
                following.append(places[to[1]])
            elif re.search(r"\bret$", statement):
                following.append(EXIT)
        if not branch or branch[-1].startswith(("@", "call")):
            following.append(number + 1 if number + 1 < len(pieces) else EXIT)
        found.append(Block(label, statements[: len(statements) - len(branch)], branch, following))
    while _merged(found, nested):
        pass
    return found


def _merged(found: list[Block], nested: bool) -> bool:
    """Merge the back edges of a loop; return True if some loop had several.

    That loop then has one fewer, or they are those of several loops.
    """
    graph = Graph([block.next for block in found])
    for head, latches in graph.latches.items():
        plain = [latch for latch in latches if found[latch].next == [head]]
        if len(plain) > 1:
            found.append(Block(f"{found[head].label} latch", [], [], [head]))
            for latch in plain:
                found[latch].next[:] = [len(found) - 1]
            return True
        if len(latches) > 1 and nested:
            sizes = {latch: len(graph.body(head, [latch])) for latch in latches}
            inner = min(latches, key=lambda latch: (sizes[latch], latch not in plain, latch))
            for number, block in enumerate(found):
                if number != inner:
                    block.next[:] = [len(found) if to == head else to for to in block.next]
            found.append(Block(f"{found[head].label} outer", [], [], [head]))
            return True
    return False


def _pieces(statements: Sequence[Statement]) -> Iterator[tuple[str, list[Statement]]]:
    """Yield labels, and the instructions of each block with the branches at its end."""
    label, count, piece = "entry", 0, list[Statement]()
    for statement in statements:
        if statement in "{}" or statement.startswith("."):
            continue
        opened = statement.endswith(":")
        # A condition and the "bra" behind it, for where it does not hold, end one block.
        alone = piece and _ends(piece[-1]) and not (piece[-1][0] == "@" and statement.startswith("bra"))
        if opened or alone:
            if piece or not (opened and label == "entry"):
                yield (f"{label}+{count}" if count else label), piece
                count += 1
            piece = []
        if opened:
            label, count = statement[:-1], 0
        else:
            piece.append(statement)
    yield (f"{label}+{count}" if count else label), piece


def _ends(statement: str) -> bool:
    return re.match(r"(@!?%\w+ )?(bra|ret|call)\b", statement) is not None


class Graph:
    """Dominators and loops. Raises UnknownError for a loop with two entries."""

    def __init__(self, following: Edges) -> None:
        self.following = following
        self.order = _order(following)
        self.place = {block: i for i, block in enumerate(self.order)}
        self.before: dict[int, list[int]] = {block: [] for block in self.order}
        for block in self.order:
            for other in following[block]:
                if other != EXIT:
                    self.before[other].append(block)
        self.above = self._dominators()
        self.latches: dict[int, list[int]] = {}
        for block in self.order:
            for other in following[block]:
                if other != EXIT and self.place[other] <= self.place[block]:
                    if not self._dominates(other, block):
                        raise UnknownError("a loop that can be entered at two places")
                    self.latches.setdefault(other, []).append(block)
        if 0 in self.latches:
            raise UnknownError("a loop that begins at the entry")

    def _dominators(self) -> dict[int, int]:
        """Return the immediate dominator of each block."""
        above, changed = {0: 0}, True
        place = {block: -i for block, i in self.place.items()}
        while changed:
            changed = False
            for block in self.order[1:]:
                known = [other for other in self.before[block] if other in above]
                nearest = reduce(lambda a, b: _nearest(above, place, a, b), known)
                changed |= above.get(block) != nearest
                above[block] = nearest
        return above

    def _dominates(self, block: int, other: int) -> bool:
        while self.place[other] > self.place[block]:
            other = self.above[other]
        return other == block

    def body(self, head: int, latches: Sequence[int]) -> set[int]:
        """Return the natural loop: the blocks that reach the latches without passing the head."""
        found, todo = {head, *latches}, [latch for latch in latches if latch != head]
        while todo:
            new = set(self.before[todo.pop()]) - found
            found |= new
            todo += new
        return found


def plan(following: Edges) -> Plan:
    """Return the meeting points of lanes."""
    graph = Graph(following)
    bodies = [graph.body(head, latches) for head, latches in graph.latches.items()]
    heads = list(graph.latches)
    by_size = sorted(range(len(bodies)), key=lambda loop: len(bodies[loop]))
    loops, around = [EXIT] * len(following), [EXIT] * len(bodies)
    for loop in reversed(by_size):
        around[loop] = loops[heads[loop]]
        for block in bodies[loop]:
            loops[block] = loop

    def inside(loop: int) -> Iterator[int]:
        """Return a loop and those around it."""
        while loop != EXIT:
            yield loop
            loop = around[loop]

    def leaves(block: int, other: int) -> int:
        stays = set(inside(loops[other])) if other != EXIT else set()
        return next((loop for loop in [*inside(loops[block])][::-1] if loop not in stays), EXIT)

    exits = [
        {(block, other) for block in body for other in following[block] if other not in body}
        for body in bodies
    ]
    back = {
        (latch, head): loop
        for loop, (head, latches) in enumerate(graph.latches.items())
        for latch in latches
    }

    def within(block: int, outer: int) -> set[int]:
        """Return the successors of a block that stay in a loop, or in none; EXIT is the end of the loop."""
        found = set()
        todo = [(block, other) for other in following[block]]
        while todo:
            edge = todo.pop()
            loop = back.get(edge, EXIT)
            if loop != EXIT and loop != outer:
                todo += exits[loop]
            elif loop == outer != EXIT or (edge[1] == EXIT and outer == EXIT):
                found.add(EXIT)
            elif outer == EXIT or edge[1] in bodies[outer]:
                found.add(edge[1])
        return found or {EXIT}

    ends = {
        loop: _post_dominators({
            block: within(block, loop) for block in (bodies[loop] if loop != EXIT else graph.order)
        })
        for loop in [EXIT, *by_size]
    }  # fmt: skip

    def meeting(block: int, loop: int) -> int:
        """Return the meeting point in the innermost loop that has one."""
        while (found := ends[loop][block]) == EXIT != loop:
            loop = around[loop]
        return found

    return Plan(
        [meeting(block, loops[block]) if block in graph.place else EXIT for block in range(len(following))],
        loops,
        [[leaves(block, other) for other in after] for block, after in enumerate(following)],
        around,
        [meeting(latches[0], loop) for latches, loop in zip(graph.latches.values(), around, strict=True)],
    )


def _order(following: Edges | Mapping[int, set[int]], first: int = 0) -> list[int]:
    """Return the reachable blocks in reverse postorder."""
    seen, done, stack = {first, EXIT}, list[int](), [(first, iter(following[first]))]
    while stack:
        block, rest = stack[-1]
        new = next((other for other in rest if other not in seen), None)
        if new is None:
            done.append(block)
            stack.pop()
        else:
            seen.add(new)
            stack.append((new, iter(following[new])))
    return done[::-1]


def _nearest(above: Mapping[int, int], place: Mapping[int, int], a: int, b: int) -> int:
    """Return the nearest common ancestor of two blocks in a tree; ancestors have higher places."""
    while a != b:
        a, b = (above[a], b) if place[a] < place[b] else (a, above[b])
    return a


def _post_dominators(following: Mapping[int, set[int]]) -> dict[int, int]:
    """Return the immediate post-dominator of each block of a graph without loops, up to EXIT."""
    order: list[int] = []
    seen: set[int] = set()
    for block in following:
        if block not in seen:
            new = [other for other in _order(following, block) if other not in seen]
            order[:0] = new
            seen.update(new)
    place = {block: i for i, block in enumerate(order)} | {EXIT: len(order)}
    if any(place[other] <= place[block] for block in order for other in following[block]):
        raise UnknownError("a loop with several back edges")
    above = {EXIT: EXIT}
    for block in reversed(order):
        above[block] = reduce(lambda a, b: _nearest(above, place, a, b), following[block])
    return above
