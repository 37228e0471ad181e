"""Reading of movement files of nodes: BonnMotion, and setdest of ns-2.

    0.0 100 100                                   $node_(0) set X_ 100.0
    0.0 100 100 10.0 100 100 110.0 100 600        $node_(0) set Y_ 100.0
                                                  $ns_ at 10.0 "$node_(0) setdest 100.0 600.0 5.0"

BonnMotion (left) has a line for each node: time [s], x and y [m] of each waypoint; with z in files that have
the comment `#3D`. setdest (right) has the initial position of each node, and commands to move to a position
at a speed [m/s]. A node that has arrived stays until its next command. Heights and the distances of `$god_`
are left out.
"""

import math
import re
from itertools import pairwise
from typing import Any, NamedTuple

from netcarlo.errors import InputError

Stop = tuple[float, float, float]
"""Time [s] and position [m] of a node."""

FAR = 10e3
"""Coordinate beyond which positions are shifted so that the middle of the area is near 0 [m]."""
_SHORT = 1e-6
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_SET = re.compile(rf"\$node_?\(\s*(\d+)\s*\)\s+set\s+([XYZ])_\s+{_NUMBER}")
_AT = re.compile(rf'\$ns_?\s+at\s+{_NUMBER}\s+"\s*(\$node_?\(.*?)\s*"')
_SETDEST = re.compile(rf"\$node_?\(\s*(\d+)\s*\)\s+setdest\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}")


class Movement(NamedTuple):
    """Trajectories of all nodes of a file."""

    format: str
    """Name of the format: BonnMotion, or ns-2 setdest."""
    nodes: list[list[Stop]]
    """Times and positions of each node, in order of time."""
    notes: list[str]
    """Assumptions and changes when the file was read."""

    def summary(self) -> str:
        """Return the number of nodes, the last time, the area, and the mean speed of moving nodes."""
        every = [stop for stops in self.nodes for stop in stops]
        width, height = (max(stop[k] for stop in every) - min(stop[k] for stop in every) for k in (1, 2))
        legs = [(a, b) for stops in self.nodes for a, b in pairwise(stops)]
        way = sum(math.dist(a[1:], b[1:]) for a, b in legs)
        moving = sum(b[0] - a[0] for a, b in legs if a[1:] != b[1:])
        end = max(stop[0] for stop in every)
        count = "1 node" if len(self.nodes) == 1 else f"{len(self.nodes)} nodes"
        text = f"{self.format}, {count}, last position at {end:.6g} s, area {width:.6g} m x {height:.6g} m"
        if not moving:
            return f"{text}, no node moves"
        share = 100 * moving / (end * len(self.nodes))
        return f"{text}, mean speed {way / moving:.4g} m/s while moving ({share:.3g} % of the time)"

    def text(self) -> str:
        """Return the trajectories in the format of BonnMotion."""
        return "".join(" ".join(f"{x!r}" for stop in stops for x in stop) + "\n" for stops in self.nodes)

    def stops(self) -> list[list[dict[str, Any]]]:
        """Return the trajectories as a scenario writes them."""
        return [
            [{"time": f"{t!r} s", "x": f"{x!r} m", "y": f"{y!r} m"} for t, x, y in stops]
            for stops in self.nodes
        ]


def parse(text: str) -> Movement:
    """Return the movement in the text of a file. Raises InputError with the line."""
    lines = [(n, line.strip()) for n, line in enumerate(text.lstrip("\ufeff").splitlines(), 1)]
    rows = [(n, line) for n, line in lines if line and not line.startswith("#")]
    found = _setdest(rows) if any("$node" in line for _, line in rows) else _bonnmotion(lines, rows)
    return _shifted(found)


def _bonnmotion(lines: list[tuple[int, str]], rows: list[tuple[int, str]]) -> Movement:
    high = any(re.match(r"#\s*3D", line, re.IGNORECASE) for _, line in lines)
    width, notes = 4 if high else 3, ["heights left out"] if high else []
    nodes = list[list[Stop]]()
    for number, line in rows:
        try:
            values = [float(one) for one in line.split()]
        except ValueError:
            values = []
        if not values or len(values) % width or not all(map(math.isfinite, values)):
            shape = "time x y z" if high else "time x y"
            raise InputError(
                f"line {number} has no waypoints; expected '{shape}' for each waypoint (BonnMotion), or "
                "$node_ lines of setdest (ns-2)"
            )
        points = [(values[k], values[k + 1], values[k + 2]) for k in range(0, len(values), width)]
        stops = [points[0]]
        for point in points[1:]:
            if point[0] < stops[-1][0]:
                raise InputError(f"has a decreasing time in line {number}; sort the waypoints by time")
            if point[0] - stops[-1][0] < _SHORT and point[1:] == stops[-1][1:]:
                continue
            stops.append(point)
        nodes.append(stops)
    if not nodes:
        raise InputError("has no nodes; write a line for each node, or $node_ lines of setdest")
    return Movement("BonnMotion", nodes, notes)


def _setdest(rows: list[tuple[int, str]]) -> Movement:
    start: dict[int, dict[str, float]] = {}
    commands = list[tuple[float, int, int, float, float, float]]()
    left = 0
    for number, line in rows:
        at, body = 0.0, line
        if match := _AT.match(line):
            at, body = float(match[1]), match[2]
        if match := _SETDEST.match(body):
            commands.append((at, number, int(match[1]), float(match[2]), float(match[3]), float(match[4])))
        elif (match := _SET.match(body)) and at == 0:
            start.setdefault(int(match[1]), {})[match[2]] = float(match[3])
        elif match:
            raise InputError(f"has in line {number} a jump at {at:g} s; write setdest with a speed")
        else:
            left += 1
    numbers = sorted(start.keys() | {command[2] for command in commands})
    for node in numbers:
        if not {"X", "Y"} <= start.get(node, {}).keys():
            raise InputError(f"has no initial position of node {node}; write $node_({node}) set X_ and Y_")
    nodes = {node: [(0.0, start[node]["X"], start[node]["Y"])] for node in numbers}
    for at, _, node, x, y, speed in sorted(commands):
        _move(nodes[node], at, (x, y), speed)
    notes = [f"{left} other {'line' if left == 1 else 'lines'} left out"] if left else []
    if numbers != list(range(len(numbers))):
        notes.append(f"nodes {numbers[0]} to {numbers[-1]} are numbered from 0 in this order")
    return Movement("ns-2 setdest", [nodes[node] for node in numbers], notes)


def _move(stops: list[Stop], at: float, to: tuple[float, float], speed: float) -> None:
    """Let a node leave its position at a time for another one at a speed [m/s]; 0 stops it."""
    last = stops[-1]
    if last[0] > at:  # it has not arrived
        before = stops[-2]
        part = (at - before[0]) / (last[0] - before[0])
        here = (before[1] + part * (last[1] - before[1]), before[2] + part * (last[2] - before[2]))
        stops.pop()
    else:
        here = last[1:]
    if at - stops[-1][0] >= _SHORT:
        stops.append((at, *here))
    leg = math.dist(here, to)
    if speed > 0 and leg / speed >= _SHORT:
        stops.append((stops[-1][0] + leg / speed, *to))


def _shifted(found: Movement) -> Movement:
    """Return a movement whose coordinates are near 0 if they were far from it; only differences matter."""
    every = [stop for stops in found.nodes for stop in stops]
    middle = [
        round((min(stop[k] for stop in every) + max(stop[k] for stop in every)) / 2)
        if max(abs(stop[k]) for stop in every) > FAR else 0
        for k in (1, 2)
    ]  # fmt: skip
    if not any(middle):
        return found
    nodes = [[(t, x - middle[0], y - middle[1]) for t, x, y in stops] for stops in found.nodes]
    note = f"coordinates shifted by {-middle[0]} m and {-middle[1]} m"
    return found._replace(nodes=nodes, notes=[*found.notes, note])
