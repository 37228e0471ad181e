"""Rate control in the fluid of 802.11: the share of its attempts that a link makes at each rate.

ARF raises the rate after `ARF_UP` successes in a row or `ARF_TIMER` attempts. It lowers the rate after
`ARF_DOWN` failures in a row, and after the first failure at a rate that was just raised
(`kernels/wireless/rate_control.py`). Collisions and noise do not depend on the rate, so each attempt fails
with the same probability f, the rate is a random walk, and its balance between neighbouring rates has a
closed form.
"""

from typing import Any

from netcarlo.kernels.fluid.wireless import routes
from netcarlo.kernels.fluid.wireless.state import (
    LEG,
    ServerFloat,
    VisitFloat,
    VisitWord,
    floats_of_visit,
    server,
    words_of_visit,
)
from netcarlo.kernels.wireless.layout import ARF, Radio

_DAMPING = 0.05
_LEAST, _MOST = 1e-4, 0.9  # limits of the failure probability


def adapt(p: Any, network: Any, m: Any, f: Any, visits: Any) -> None:
    """Move the frame durations of each link towards their mean over the rates."""
    if p[Radio.RATE_CONTROL] != ARF or p[Radio.RATES] < 2:
        return
    for visit in range(visits):
        w, g = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        if w[VisitWord.KIND] != LEG and g[VisitFloat.RATE] > 0.0:
            fails = _fails(f[server(w[VisitWord.SERVER]) :], g)
            up, stays = _leaves(p, fails, f[floats_of_visit(p, visits) :])
            _mix(p, network, w, g, fails, up, stays)


def _fails(o: Any, g: Any) -> Any:
    """Return the probability that an attempt of a visit with floats `g` at a node with floats `o` fails."""
    disturbed = o[ServerFloat.CONTENDED] / o[ServerFloat.TRIES] if o[ServerFloat.TRIES] > 0.0 else 1.0
    alive = (1.0 - disturbed * g[VisitFloat.COLLISION]) * (1.0 - g[VisitFloat.NOISE])
    return min(max(1.0 - alive, _LEAST), _MOST)


def _leaves(p: Any, fails: Any, row: Any) -> tuple[Any, Any]:
    """Return the probability that a rate is raised next after a first success at it, and the attempts until
    it changes.

    `row` is room for ARF_UP + ARF_DOWN floats: successes in a row, then failures in a row.
    """
    up, down, timer = p[Radio.ARF_UP], p[Radio.ARF_DOWN], p[Radio.ARF_TIMER]
    if up <= 1 or timer <= 1:
        return 1.0, 0.0
    good = 1.0 - fails
    for k in range(up + down):
        row[k] = 0.0
    row[1] = 1.0
    raised, attempts = 0.0, 0.0
    for attempt in range(2, timer + 1):
        on, failed = 0.0, 0.0  # successes after a failure, first failures
        for k in range(up):
            attempts += row[k]
            failed += row[k] * fails
        for k in range(up + 1, up + down):
            attempts += row[k]
            on += row[k] * good
        raised += row[up - 1] * good
        for k in range(up - 1, 1, -1):
            row[k] = row[k - 1] * good
        row[1] = on
        for k in range(up + down - 1, up + 1, -1):
            row[k] = row[k - 1] * fails
        if down > 1:
            row[up + 1] = failed
        if attempt == timer:
            for k in range(1, up):
                raised += row[k]
    # From a failure at the timer's expiry on, only successes in a row raise the rate.
    straight, bends = 1.0, 1.0  # probability of the successes that raise; of the failures that lower
    for _ in range(1, up):
        straight *= good
    for _ in range(1, down):
        bends *= fails
    ends = 1.0 - (1.0 - straight) * (1.0 - bends)
    later = straight / ends
    lasts = ((1.0 - straight) / fails + (1.0 - straight) * (1.0 - bends) / good) / ends
    power = fails
    for k in range(up + down - 1, up, -1):
        raised += row[k] * (1.0 - power) * later
        attempts += row[k] * (1.0 - power) * (1.0 / good + lasts)
        power *= fails
    return raised, attempts


def _mix(p: Any, network: Any, w: Any, g: Any, fails: Any, up: Any, stays: Any) -> None:
    """Compute the durations of a visit: the mean over the rates, weighted by the attempts at each."""
    good, most = 1.0 - fails, p[Radio.RATES] - 1
    again = 1.0  # probability of the failures in a row that lower the rate
    for _ in range(p[Radio.ARF_DOWN]):
        again *= fails
    factor = up * good / (1.0 - up * (fails + (1.0 - again) * good))
    total, service, vain, air, control, exposed = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    raises, before = 1.0, 0.0  # raises to the next rate, and to this one
    for rate in range(p[Radio.RATES]):
        came = before + raises * (fails / good + (1.0 - again)) if rate < most else before
        first = raises / up  # first successes at this rate
        if rate == 0:
            came += (1.0 - up) * first / good
        count = came + first * stays
        if rate == most:
            count = before + before * good * (1.0 - again) / (good * again)
        cost = routes.cost(p, network, w[VisitWord.FRAME], rate)
        total += count
        service += count * cost.service
        vain += count * cost.vain
        air += count * cost.air
        control += count * cost.control
        exposed += count * cost.exposed
        before = raises
        raises *= factor
    g[VisitFloat.SERVICE] += _DAMPING * (service / total - g[VisitFloat.SERVICE])
    g[VisitFloat.VAIN] += _DAMPING * (vain / total - g[VisitFloat.VAIN])
    g[VisitFloat.AIR] += _DAMPING * (air / total - g[VisitFloat.AIR])
    g[VisitFloat.CONTROL] += _DAMPING * (control / total - g[VisitFloat.CONTROL])
    g[VisitFloat.EXPOSED] += _DAMPING * (exposed / total - g[VisitFloat.EXPOSED])
