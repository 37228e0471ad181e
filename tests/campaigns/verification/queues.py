"""Known results of queueing theory."""

import math


def wait(t: float, service: float, load: float) -> float:
    """The probability to wait for `t` at most in M/D/1 (Erlang 1909; Crommelin 1932); both in one unit."""
    terms = []
    for k in range(int(t / service) + 1):
        x = load * (k - t / service)
        terms.append(math.exp(-x) * x**k / math.factorial(k))
    return (1 - load) * math.fsum(terms)
