"""The control flow of a PTX function: basic blocks, loops, and where lanes that part meet again.

The compiler puts a convergence barrier around a region that lanes can only leave at its end.  Two groups of
lanes therefore meet at the nearest block that both must pass, its immediate post-dominator, where an edge back
to the head of a loop counts as one out of the loop: lanes that jump back early go on alone until the loop ends.
Where all paths of a loop end at one latch, they meet at the latch.

Source: S. S. Muchnick, "Advanced Compiler Design and Implementation", 1997, chapter 7 (dominators, natural
loops, reducibility); the iteration: K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast Dominance
Algorithm", 2001.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from tests.device.ptx import Function, UnknownError

Edges = Sequence[Sequence[int]]
"""The blocks that may follow each block; the last one is the function's exit, which nothing follows."""


class Block(NamedTuple):
    """Instructions that lanes execute one after the other."""

    label: str
    """In the PTX; of a block without one: the last label, and how many blocks ago it was."""
    instructions: list[str]
    """Without the branch at the end."""
    branch: list[str]
    """What ends it: "@%p1 bra $L1", "bra.uni $L2", "ret", a call; none where it goes on to the next."""
    next: list[int]
    """The blocks that may follow, of a condition first the one where it holds; the number of blocks is the
    function's exit."""


def blocks(function: Function) -> list[Block]:
    """The basic blocks of a function, from its entry."""
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
                following.append(len(pieces))
        if not branch or branch[-1].startswith(("@", "call")):
            following.append(number + 1)
        found.append(Block(label, statements[: len(statements) - len(branch)], branch, following))
    return found


def _pieces(statements: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Labels, and the instructions of each block with the branches at its end."""
    label, count, piece = "entry", 0, list[str]()
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


def meetings(following: Edges) -> list[int]:
    """For each block, where lanes that go on to different blocks meet again.

    Raises UnknownError if the graph is irreducible: a loop that one can enter at two places.
    """
    order, above = _order(following), _dominators(following)

    def dominates(block: int, other: int) -> bool:
        while other not in (block, 0):
            other = above[other]
        return other == block

    back = {(u, v) for u in order for v in following[u] if dominates(v, u)}
    bodies: dict[int, set[int]] = {}
    before = _reversed(following, order)
    for latch, head in back:
        bodies.setdefault(head, {head}).update(_reaching(before, latch, head))
    exits: dict[int, set[int]] = {}

    def exits_of(head: int) -> set[int]:
        """Where lanes may be when they have left a loop."""
        if head not in exits:
            body = bodies[head]
            out = {(u, v) for u in body for v in following[u] if v not in body}
            left = (exits_of(v) if (u, v) in back else {v} for u, v in out)
            exits[head] = set().union(*left) or {len(following) - 1}
        return exits[head]

    forward = [
        sorted(set().union(*(exits_of(v) if (u, v) in back else {v} for v in after)))
        for u, after in enumerate(following)
    ]
    return _post_dominators(forward)


def _order(following: Edges) -> list[int]:
    """The blocks that can be reached, in reverse postorder."""
    seen, done, stack = {0}, list[int](), [(0, iter(following[0]))]
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


def _reversed(following: Edges, order: Sequence[int]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in following]
    for block in order:
        for other in following[block]:
            before[other].append(block)
    return before


def _reaching(before: Edges, latch: int, head: int) -> set[int]:
    """The blocks from which one comes to the latch without passing the head: those of the natural loop."""
    found, todo = {head, latch}, [latch] if latch != head else []
    while todo:
        new = set(before[todo.pop()]) - found
        found |= new
        todo += new
    return found


def _nearest(above: Mapping[int, int], place: Mapping[int, int], a: int, b: int) -> int:
    """The nearest block above both in a tree in which those above have lower places."""
    while a != b:
        a, b = (above[a], b) if place[a] > place[b] else (a, above[b])
    return a


def _dominators(following: Edges) -> dict[int, int]:
    """The immediate dominator of each block that can be reached."""
    order = _order(following)
    place, before = {block: i for i, block in enumerate(order)}, _reversed(following, order)
    above, changed = {0: 0}, True
    while changed:
        changed = False
        for block in order[1:]:
            known = [other for other in before[block] if other in above]
            nearest = reduce(lambda a, b: _nearest(above, place, a, b), known)
            changed |= above.get(block) != nearest
            above[block] = nearest
    return above


def _post_dominators(forward: Edges) -> list[int]:
    """The immediate post-dominator of each block of a graph without loops; of unreachable ones the exit."""
    order, last = _order(forward), len(forward) - 1
    place = {block: -i for i, block in enumerate(order)} | {last: -len(order)}
    if any(place[v] >= place[u] for u in order for v in forward[u]):
        raise UnknownError("a loop that can be entered at two places")
    above = {last: last}
    for block in reversed(order):
        if block != last:
            above[block] = reduce(lambda a, b: _nearest(above, place, a, b), forward[block])
    return [above.get(block, last) for block in range(len(forward))]
