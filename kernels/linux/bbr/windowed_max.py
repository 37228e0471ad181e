"""Maximum of a quantity in a sliding window, estimated from three values (lib/win_minmax.c in Linux).

Source: K. Nichols' windowed filter, as in draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.1.3:
the best value, and the best ones since a quarter and since half of the window, which replace it when it
expires.
"""

from typing import Any


def reset(s: Any, at: Any, time: Any, value: Any) -> None:
    """Set all three values and their times (`minmax_reset`)."""
    for k in range(3):
        _put(s, at, k, time, value)


def _put(s: Any, at: Any, k: Any, time: Any, value: Any) -> None:
    """Set value k and its time."""
    s[at + 2 * k] = value
    s[at + 2 * k + 1] = time


def _move_up(s: Any, at: Any, time: Any, value: Any) -> None:
    """Remove the best value, and append a new one as the third."""
    for k in range(4):
        s[at + k] = s[at + k + 2]
    _put(s, at, 2, time, value)


def running_max(s: Any, at: Any, window: Any, time: Any, value: Any) -> None:
    """Enter a value at a time (`minmax_running_max`); word `at` holds the maximum, and the next one its
    time."""
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
