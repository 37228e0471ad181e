"""The largest of many values in a sliding window, from three of them.

Source: K. Nichols' windowed filter, as draft-cardwell-iccrg-bbr-congestion-control-00 (4.1.1.3) has it: the
best value, and the best after the first quarter and after the first half of what the window has seen, which
take its place when it has grown old.
"""

from typing import Any


def reset(s: Any, at: Any, time: Any, value: Any) -> None:
    """All three are this value."""
    for k in range(3):
        _put(s, at, k, time, value)


def _put(s: Any, at: Any, k: Any, time: Any, value: Any) -> None:
    s[at + 2 * k] = value
    s[at + 2 * k + 1] = time


def _move_up(s: Any, at: Any, time: Any, value: Any) -> None:
    """The best is forgotten."""
    for k in range(4):
        s[at + k] = s[at + k + 2]
    _put(s, at, 2, time, value)


def running_max(s: Any, at: Any, window: Any, time: Any, value: Any) -> None:
    """A value at a time; the largest is at word `at` of scratch, followed by its time."""
    if value >= s[at] or time - s[at + 5] > window:
        reset(s, at, time, value)
        return
    if value >= s[at + 2]:
        _put(s, at, 1, time, value)
        _put(s, at, 2, time, value)
    elif value >= s[at + 4]:
        _put(s, at, 2, time, value)
    age = time - s[at + 1]
    if age > window:
        _move_up(s, at, time, value)
        if time - s[at + 1] > window:
            _move_up(s, at, time, value)
    elif s[at + 3] == s[at + 1] and age > window // 4:
        _put(s, at, 1, time, value)
        _put(s, at, 2, time, value)
    elif s[at + 5] == s[at + 3] and age > window // 2:
        _put(s, at, 2, time, value)
