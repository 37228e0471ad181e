"""A figure with select boxes: every combination of choices is drawn on the host, the page shows one."""

import json
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

from netcarlo.reports.parts.figures import Plot


class Choice(NamedTuple):
    """A select box: what is chosen, from what, and what is shown first."""

    label: str
    options: Sequence[str]
    start: int = 0


def with_choices(draw: Callable[..., Plot | None], choices: Sequence[Choice], *, most_bytes: int) -> Plot:
    """The figure `draw(i, j, ...)` of the options first shown, with what is different for the others.

    `draw` gets the number of the option of each choice and returns a plot, always with traces of the same
    kinds in the same order, or None where there is nothing to show: the page then offers no such combination.
    The options first shown have a figure, and options of the later choices have one with some of the earlier.
    Choices come in the order of their importance: the last ones stay at their
    first option, as `fixed` says in words, until all figures together fit into `most_bytes`.
    """
    first = tuple(choice.start for choice in choices)
    base = draw(*first)
    assert base is not None
    options = [list(range(len(choice.options))) for choice in choices]
    # The first figure tells what another costs: its numbers, not its style.
    others = (draw(*other) for other in _others(options, first))
    each = max((_size(_differences(base, other)) for other in others if other), default=0)
    fixed = []
    while _size(base) + each * (_count(options) - 1) > most_bytes and _count(options) > 1:
        last = max(i for i, option in enumerate(options) if len(option) > 1)
        options[last] = [first[last]]
        fixed.append(f"{choices[last].label}: {choices[last].options[first[last]]}")
    variants = {
        ".".join(map(str, chosen)): _differences(base, other)
        for chosen in product(*options)
        if chosen != first and (other := draw(*chosen))
    }
    boxes = [
        {"label": choice.label, "options": list(choice.options), "start": choice.start, "free": len(free) > 1}
        for choice, free in zip(choices, options, strict=True)
    ]
    return {**base, "choices": boxes, "variants": variants, "fixed": ", ".join(reversed(fixed))}


def _others(options: Sequence[Sequence[int]], first: tuple[int, ...]) -> list[tuple[int, ...]]:
    """For each choice the figure that differs in it alone."""
    return [
        (*first[:i], next(j for j in free if j != first[i]), *first[i + 1 :])
        for i, free in enumerate(options)
        if len(free) > 1
    ]


def _count(options: Sequence[Sequence[int]]) -> int:
    count = 1
    for free in options:
        count *= len(free)
    return count


def _differences(base: Plot, other: Plot) -> Plot:
    """Return the entries of traces and layout that differ from those of `base`."""
    return {
        "data": [
            {key: value for key, value in trace.items() if key not in shown or shown[key] != value}
            for shown, trace in zip(base["data"], other["data"], strict=True)
        ],
        "layout": {key: value for key, value in other["layout"].items() if base["layout"].get(key) != value},
    }


def _size(plot: Plot) -> int:
    return len(json.dumps(plot, separators=(",", ":")))
