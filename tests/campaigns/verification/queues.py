"""Known results of queueing theory."""

import math


def wait(t: float, service: float, load: float) -> float:
    """Return the probability of a wait of at most `t` in M/D/1 (Erlang 1909; Crommelin 1932).

    `t` and `service` have the same unit."""
    terms = []
    for k in range(int(t / service) + 1):
        x = load * (k - t / service)
        terms.append(math.exp(-x) * x**k / math.factorial(k))
    return (1 - load) * math.fsum(terms)
