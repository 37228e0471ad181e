"""ARF as a random walk of a link's rate, as plain Python: a slow twin of `kernels.fluid.wireless.rates`."""

from typing import Any


def leaves(radio: Any, fails: float) -> tuple[float, float]:
    """After a first success: how probably the rate is raised next, and the attempts until it changes."""
    up, down, good = radio.ARF_UP, radio.ARF_DOWN, 1.0 - fails
    if up <= 1 or radio.ARF_TIMER <= 1:
        return 1.0, 0.0
    successes = dict.fromkeys(range(up), 0.0) | {1: 1.0}  # so many in a row, with which probability
    failures = dict.fromkeys(range(1, down), 0.0)
    raised = attempts = 0.0
    for _ in range(2, radio.ARF_TIMER + 1):
        failed = recovered = 0.0
        for share in successes.values():
            attempts += share
            failed += share * fails
        for share in failures.values():
            attempts += share
            recovered += share * good
        raised += successes[up - 1] * good
        successes = {0: 0.0, 1: recovered} | {k: successes[k - 1] * good for k in range(2, up)}
        failures = {k: failed if k == 1 else failures[k - 1] * fails for k in failures}
    for k in range(1, up):
        raised += successes[k]
    straight, bends = power(good, up - 1), power(fails, down - 1)
    ends = 1.0 - (1.0 - straight) * (1.0 - bends)
    later = straight / ends
    lasts = ((1.0 - straight) / fails + (1.0 - straight) * (1.0 - bends) / good) / ends
    for k in sorted(failures, reverse=True):
        recovers = 1.0 - power(fails, down - k)
        raised += failures[k] * recovers * later
        attempts += failures[k] * recovers * (1.0 / good + lasts)
    return raised, attempts


def power(base: float, times: int) -> float:
    """By multiplying, as the kernel does."""
    found = 1.0
    for _ in range(times):
        found *= base
    return found


def attempts_at(radio: Any, fails: float) -> list[float]:
    """Attempts at each rate, for one raise from the lowest."""
    up, stays = leaves(radio, fails)
    good, most, again = 1.0 - fails, radio.RATES - 1, power(fails, radio.ARF_DOWN)
    factor = up * good / (1.0 - up * (fails + (1.0 - again) * good))
    found, raises, before = list[float](), 1.0, 0.0
    for rate in range(radio.RATES):
        first = raises / up
        if rate == most:
            found.append(before + before * good * (1.0 - again) / (good * again))
        elif rate == 0:
            found.append(before + raises * (fails / good + (1.0 - again)) + (1.0 - up) * first / good)
            found[0] += first * stays
        else:
            found.append(before + raises * (fails / good + (1.0 - again)) + first * stays)
        before, raises = raises, raises * factor
    return found
