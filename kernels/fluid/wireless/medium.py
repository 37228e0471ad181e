"""Channel as each node observes it: mean slot length and collision probability."""

from typing import Any

import numpy as np

from netcarlo.kernels.fluid.wireless import access
from netcarlo.kernels.fluid.wireless.state import (
    LEG,
    ServerFloat,
    VisitFloat,
    VisitWord,
    fed,
    floats_of_visit,
    order,
    radios,
    server,
    words_of_visit,
)
from netcarlo.kernels.wireless.layout import Node, Radio

_MOST = 0.9  # largest probability of an attempt in a slot
_LONGER = 64.0  # largest ratio of the slot lengths of two nodes


def share(p: Any, nodes: Any, m: Any, f: Any, visits: Any) -> None:
    """Update the access time of each backlogged node, given the current attempt probabilities of all
    nodes."""
    sort(p, m, f, visits)
    for visit in range(visits):
        if m[words_of_visit(p, visit) + VisitWord.KIND] != LEG:
            _collide(p, nodes, m, f, visits, visit)
    for j in range(p[Radio.NODES]):
        if f[server(j) + ServerFloat.LOAD] > 0.0:
            _mean(p, m, f, visits, j)
            _slots(p, nodes, m, f, visits, j)


def sort(p: Any, m: Any, f: Any, visits: Any) -> None:
    """Sort the nodes or EDCA functions by the duration of their collisions, longest first."""
    at = order(p, visits)
    for k in range(1, radios(p)):
        j = m[at + k]
        long = f[server(j) + ServerFloat.VAIN]
        place = k
        while place > 0 and f[server(m[at + place - 1]) + ServerFloat.VAIN] < long:
            m[at + place] = m[at + place - 1]
            place -= 1
        m[at + place] = j


def attempts(nodes: Any, f: Any, i: Any, j: Any) -> Any:
    """Return the attempts of node `i` per slot of node `j`, whose slots may differ in length from those of
    `i`."""
    g = f[server(i) :]
    if g[ServerFloat.LOAD] == 0.0:
        return 0.0
    if nodes[i, Node.SENSE] | 1 << i == nodes[j, Node.SENSE] | 1 << j:  # both have the same slots
        return g[ServerFloat.TAU]
    longer = f[server(j) + ServerFloat.SLOT] / g[ServerFloat.SLOT]
    return g[ServerFloat.TAU] * min(max(longer, 1.0 / _LONGER), _LONGER)


def on_air(f: Any, i: Any) -> Any:
    """Return the share of the time in which node `i` transmits."""
    g = f[server(i) :]
    if g[ServerFloat.LOAD] == 0.0:
        return 0.0
    return min(g[ServerFloat.LOAD], 1.0 / g[ServerFloat.SERVICE]) * g[ServerFloat.OCCUPIED]


def _collide(p: Any, nodes: Any, m: Any, f: Any, visits: Any, visit: Any) -> None:
    """Compute the probability that an attempt of a visit collides."""
    w, g = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
    j, to = w[VisitWord.SERVER], w[VisitWord.TO]
    sense, near = nodes[j, Node.SENSE], nodes[to, Node.NEAR]
    fatal = nodes[to, Node.DISTURB_DATA] & nodes[to, Node.SENSE] | 1 << to
    if near >> j & 1:
        fatal |= near
    clear = 1.0
    for i in range(p[Radio.NODES]):
        if i != j and fatal >> i & 1:
            if sense >> i & 1:
                clear *= 1.0 - min(attempts(nodes, f, i, j), _MOST) * _fresh(p, m, f, visits, i, j)
            elif f[server(i) + ServerFloat.LOAD] > 0.0:
                air, o = on_air(f, i), f[server(i) :]
                rate = min(o[ServerFloat.LOAD], 1.0 / o[ServerFloat.SERVICE]) * o[ServerFloat.TRIES]
                clear *= (1.0 - air) / (1.0 + rate * g[VisitFloat.EXPOSED])
    g[VisitFloat.COLLISION] = min(1.0 - clear, 0.999)


def _fresh(p: Any, m: Any, f: Any, visits: Any, i: Any, j: Any) -> Any:
    """Return the factor on the collision probability of two nodes of which one feeds the other, or that a
    third one feeds.

    If a received frame gives a node another one to send, both ends draw a backoff when it ends: their first
    attempts collide with probability 1 / W, instead of 2 / (W + 1) for backoffs that started at different
    times. Nodes that receive frames from the same node receive them one after the other: the earlier ones
    have mostly sent by then.
    """
    own, other = f[server(i) + ServerFloat.OWN], f[server(j) + ServerFloat.OWN]
    mine, yours = m[fed(p, visits, i)], m[fed(p, visits, j)]
    if mine >> j & 1:
        first = float(max(p[Radio.CW_MIN], 1) + 1)
        return 1.0 - (first - 1.0) / (2.0 * first) * (1.0 - min(own, other))
    return (own + other) / 2.0 if mine & yours else 1.0


def _mean(p: Any, m: Any, f: Any, visits: Any, j: Any) -> None:
    """Compute the mean frame of node `j`: durations and probabilities, weighted by the rates of its
    visits."""
    g = f[server(j) :]
    total, exchange, vain, noise, collision, patience = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for visit in range(visits):
        if m[words_of_visit(p, visit) + VisitWord.SERVER] == j:
            v = f[floats_of_visit(p, visit) :]
            rate = v[VisitFloat.RATE]
            total += rate
            exchange += rate * v[VisitFloat.SERVICE]
            vain += rate * v[VisitFloat.VAIN]
            noise += rate * v[VisitFloat.NOISE]
            collision += rate * v[VisitFloat.COLLISION]
            patience += rate * v[VisitFloat.PATIENCE]
    g[ServerFloat.EXCHANGE] = exchange / total
    g[ServerFloat.VAIN] = vain / total
    g[ServerFloat.NOISE] = min(noise / total, 1.0)
    g[ServerFloat.COLLISION] = min(collision / total, 0.999)
    g[ServerFloat.PATIENCE] = patience / total


def _slots(p: Any, nodes: Any, m: Any, f: Any, visits: Any, j: Any) -> None:
    """Compute the mean slot length and the access time of node `j`."""
    g = f[server(j) :]
    slot, sense = float(p[Radio.SLOT]), nodes[j, Node.SENSE]
    sending = np.int64(0)
    for i in range(p[Radio.NODES]):
        if f[server(i) + ServerFloat.LOAD] > 0.0:
            sending |= 1 << i
    quiet, engaged, idle, total, squares = 1.0, 1.0, 1.0, 0.0, 0.0
    hidden, one_by_one, every, twice = 0.0, 0.0, 0.0, 0.0
    for i in range(p[Radio.NODES]):
        if sense >> i & 1:
            often = attempts(nodes, f, i, j)
            tau = min(often, _MOST)
            every += often
            twice += often * often
            one_by_one += often * (f[server(i) + ServerFloat.TRAIN] + slot)
            unheard = sending & sense & ~nodes[i, Node.SENSE] & ~(1 << i)
            if unheard != 0:
                for k in range(p[Radio.NODES]):
                    if unheard >> k & 1:
                        hidden += often * attempts(nodes, f, k, j)
            busy = f[server(i) + ServerFloat.BUSY]
            quiet *= 1.0 - tau
            engaged *= 1.0 - busy + min(tau, busy)
            idle *= 1.0 - busy
            total += tau
            squares += tau * tau
    taken, longest, longer = 0.0, 0.0, 1.0
    at = order(p, visits)
    for k in range(p[Radio.NODES]):
        i = m[at + k]
        if sense >> i & 1:
            o = f[server(i) :]
            tau = min(attempts(nodes, f, i, j), _MOST)
            single = tau * quiet / (1.0 - tau)
            first = tau * longer
            taken += max(first - single, 0.0) * (o[ServerFloat.VAIN] + slot)
            taken += single * (o[ServerFloat.TRAIN] + slot)
            longest += first * max(o[ServerFloat.VAIN], g[ServerFloat.VAIN])
            longer *= 1.0 - tau
    some = 1.0 - quiet
    others = quiet * slot + taken
    if some > 1e-12:  # attempts that do not collide with its own fall into other slots
        spared = 1.0 - min(g[ServerFloat.COLLISION] / some, 1.0)
        others += (others - slot) * spared * (g[ServerFloat.TAU] / (1.0 - min(g[ServerFloat.TAU], _MOST)))
    if hidden > 0.0:  # hidden nodes may transmit one after the other in a slot
        apart = hidden / (every * every - twice)
        others += apart * (2.0 - apart) * max(slot + one_by_one - others, 0.0)
    everybody, missed = 0.0, 1.0
    if total > 0.0 and some > 1e-12:
        longest = longest / some
        everybody = min((engaged - idle) / some, 1.0)
        away = missed_slots(g[ServerFloat.PATIENCE] / slot, quiet / (1.0 - squares / total))
        missed += (1.0 - everybody) * away
    else:
        longest = g[ServerFloat.VAIN]
    most = p[Radio.GATEWAY_BURST] if j == p[Radio.NODES] - 1 else p[Radio.BURST]
    burst = 1.0 + g[ServerFloat.BUSY] * float(most - 1)
    access.contend(p, g, others, longest, everybody, missed, g[ServerFloat.PATIENCE], burst)
    own = g[ServerFloat.OCCUPIED] * burst / g[ServerFloat.CONTENDED] + slot
    mean = (1.0 - g[ServerFloat.TAU]) * others + g[ServerFloat.TAU] * own
    g[ServerFloat.SLOT] += 0.5 * (mean - g[ServerFloat.SLOT])
    # The node's mean slot length differs while it has a frame.
    active = (1.0 - g[ServerFloat.ATTEMPT]) * others + g[ServerFloat.ATTEMPT] * own
    g[ServerFloat.ATTEMPT] *= mean / active


def missed_slots(ratio: Any, quiet: Any) -> Any:
    """Return the slots that other nodes count down while a node waits `ratio` slots for an answer.

    A slot is idle with probability `quiet`.
    """
    whole = int(ratio)
    missed, power = 0.0, 1.0
    for _ in range(1, whole):
        power *= quiet
        missed += power
    return missed + (ratio - float(whole)) * (power * quiet)
