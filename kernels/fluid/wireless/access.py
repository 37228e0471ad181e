"""Channel access time of a backlogged node: Bianchi's equations, refined.

Sources: G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function" (IEEE JSAC
18(3), 2000); retry limit: Wu et al. (INFOCOM 2002); backoff that freezes while the channel is busy:
Tinnirello, Bianchi, Xiao (IEEE TVT 59(3), 2010). docs/models/bianchi.md has the equations. Here every node
has its own probabilities, and noise also destroys frames.
"""

from typing import Any

from netcarlo.kernels.fluid.wireless.state import ServerFloat
from netcarlo.kernels.wireless.layout import Radio


def contend(
    p: Any, g: Any, others: Any, longest: Any, everybody: Any, missed: Any, patience: Any, burst: Any
) -> None:
    """Compute the attempts and the service time of the node with the floats `g`.

    A slot in which the node does not send lasts `others` on average, a collision `longest` [ns]. `everybody`
    is the share of its collisions in which no other node counts down its backoff; all nodes then lose
    `patience` [ns]. After a failure `missed` slots pass before the node counts down again. Each access sends
    `burst` frames.
    """
    collision, noise = g[ServerFloat.COLLISION], g[ServerFloat.NOISE]
    slot = float(p[Radio.SLOT])
    first = float(max(p[Radio.CW_MIN], 1) + 1)
    most = max(float(p[Radio.CW_MAX] + 1), first)
    again = g[ServerFloat.BUSY] * g[ServerFloat.OWN]  # probability that another frame waits after a success
    alone = again / first  # it draws backoff 0: that attempt cannot collide
    fails = 1.0 - (1.0 - collision) * (1.0 - noise)
    later = 1.0
    for _ in range(1, p[Radio.SHORT_RETRY]):
        later *= fails
    drop = later * (fails + (noise - fails) * alone) / (1.0 + later * (noise - fails) * alone)
    lone = (1.0 - drop) * alone  # probability that its first attempt is of this kind
    contended, slots, reached, window = 0.0, 0.0, 1.0 - lone, first
    for stage in range(p[Radio.SHORT_RETRY]):
        if stage == 0:
            fresh = again * (1.0 - 1.0 / first) * (window / 2.0) + (1.0 - again) * ((window + 1.0) / 2.0)
            slots += drop * ((window - 1.0) / 2.0 + missed) + (1.0 - drop) * fresh
        else:
            slots += reached * ((window - 1.0) / 2.0 + missed)
        contended += reached
        reached = reached * fails + (lone * noise if stage == 0 else 0.0)
        window = min(2.0 * window, most)
    collided = contended * collision
    noisy = (contended - collided + lone) * noise
    lost = longest + everybody * (patience - slot)
    own = (1.0 - drop + noisy) * g[ServerFloat.EXCHANGE] + collided * lost
    access = max(slots - contended, 0.0) * others + contended * slot
    g[ServerFloat.DROP] = drop
    g[ServerFloat.TRIES] = contended + lone
    g[ServerFloat.CONTENDED] = contended
    g[ServerFloat.FAILED] = collided + noisy
    g[ServerFloat.ATTEMPT] = min(contended / max(slots, contended), 0.95)
    more = (burst - 1.0) * (g[ServerFloat.EXCHANGE] - 2.0 * slot)  # frames of a burst are a SIFS apart
    g[ServerFloat.SERVICE] = (access + own + more) / burst
    g[ServerFloat.OCCUPIED] = (own + more) / burst
    g[ServerFloat.TRAIN] = g[ServerFloat.EXCHANGE] * (1.0 + again / (first - 1.0)) + more
