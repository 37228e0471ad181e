"""Events of a node: start and end of its frames, and timeouts of answers."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless import delivery, medium
from netcarlo.kernels.wireless.edca import block_ack, exchange
from netcarlo.kernels.wireless.edca.state import (
    AGREEMENT_WORDS,
    FRESH,
    FUNCTION_WORDS,
    NONE,
    FunctionState,
    Mpdu,
    Msdu,
    function_at,
)
from netcarlo.kernels.wireless.layout import NOBODY, Flow, Function, Node, NodeOut, Radio, Rate
from netcarlo.kernels.wireless.port import first_node
from netcarlo.kernels.wireless.state import (
    NODE_COUNTS,
    FlowState,
    Mac,
    Phase,
    Word,
    flow_at,
    node_at,
    rate_at,
)

sources: Any = slot("sources")
observer: Any = slot("observer")
ONE_WAY: Any = slot("one_way")

_FUNCTION = len(Function)


def on_event(m: Any, f: Any, constants: Any, losses: Any, trace: Any, node: Any, key: Any) -> None:
    """Process the event of a node that is due."""
    t = key >> 2
    phase = key & 3
    if phase == Phase.START:
        medium.begin(m, node, t)
        observer.on_transmission(m, f, trace, t, node)
    elif phase == Phase.END:
        left, reached = medium.end(m, losses, node, t)
        if reached != NOBODY:
            _pass_up(m, f, constants, trace, t, node, reached)
        if left != NOBODY:
            exchange.conclude(m, left, t)
    else:
        exchange.time_out(m, node, t)
    if not ONE_WAY and m[Radio.BACK_PRESSURE] != 0 and m[Word.SHRUNK] != NOBODY:
        delivery.on_room(m, f, constants, t, m[Word.SHRUNK])
        m[Word.SHRUNK] = NOBODY
    if m[Word.OWED] > 0:
        _refill(m, f, constants, t)


@noinline
def _pass_up(m: Any, f: Any, constants: Any, trace: Any, t: Any, node: Any, reached: Any) -> None:
    """Deliver the MSDUs that node `reached` has in order, of the agreement of the frame of a node."""
    sender = node_at(m, node)
    a = m[sender + Mac.AGREEMENT]
    mpdu = block_ack.pass_up(m, a)
    while mpdu != NONE:
        if m[mpdu + Mpdu.FLAGS] & FRESH:
            m[Word.EARLY] = _time_behind(m, sender, m[mpdu + Mpdu.END])
        entry = m[mpdu + Mpdu.FIRST]
        while entry != NONE:
            frame = m[entry + Msdu.FRAME]
            entry = m[entry + Msdu.NEXT]
            delivery.forward(m, f, constants, t, frame)
            observer.on_received(m, f, trace, t, frame, reached)
        mpdu = block_ack.pass_up(m, a)
    m[Word.EARLY] = 0
    block_ack.reclaim(m, a)


def _time_behind(m: Any, sender: Any, end: Any) -> Any:
    """Return the time from byte `end` of the PPDU of the node at word `sender` to its end [ns].

    A receiver delivers an MPDU when it is complete, or when the MPDU that closes the gap before it is
    complete.
    """
    preamble = m[rate_at(m, m[sender + Mac.RATE]) + Rate.PREAMBLE]
    size = m[sender + Mac.SIZE]
    return (m[sender + Mac.AIR] - preamble) * max(size - end, 0) // size


@noinline
def _refill(m: Any, f: Any, constants: Any, t: Any) -> None:
    """Replace the datagrams of saturated sources that have left their queues."""
    m[Word.OWED] = 0
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        owed = m[at + FlowState.OWED]
        if owed > 0:
            m[at + FlowState.OWED] = 0
            for _ in range(owed):
                sources.refill(m, flow, f, constants, t)


@noinline
def lose_all(m: Any, at: Any, t: Any) -> None:
    """Drop all packets of the node at word `at`, which fails.

    It restarts with new agreements, so packets in its receivers' reorder buffers are also lost. Its own
    reorder buffers remain.
    """
    function = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        a = m[function + FunctionState.FIRST_AGREEMENT]
        for _ in range(m[function + FunctionState.AGREEMENTS]):
            lost = block_ack.reset(m, at, function, a, t)
            m[at + NODE_COUNTS + NodeOut.DROPS] += lost
            a += AGREEMENT_WORDS
        m[function + FunctionState.CW] = m[function + Function.CW_MIN]
        m[function + FunctionState.RETRIES] = 0
        m[function + FunctionState.REQUESTS] = 0
        m[function + FunctionState.SLOTS] = 0
        m[function + FunctionState.SINCE] = 0
        m[function + Function.QUEUE] = 0
        function += FUNCTION_WORDS
    m[at + Mac.REQUESTS] = 0
    m[at + Mac.HOLDER] = NOBODY
    m[Word.SHRUNK] = NOBODY


def accept_again(m: Any, network: Any, at: Any) -> None:
    """Restore the queue limits of the node at word `at`, which is up again."""
    for k in range(m[at + Node.FIRST_FUNCTION], m[at + Node.FIRST_FUNCTION] + m[at + Node.FUNCTIONS]):
        row = m[Radio.FUNCTIONS_AT] + k * _FUNCTION
        m[function_at(m, k) + Function.QUEUE] = network[row + Function.QUEUE]


@noinline
def on_return(m: Any, f: Any, constants: Any, t: Any, gateway: Any) -> None:
    """Fill the queues of the restarted node with the datagrams of saturated sources."""
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        if m[at + Flow.BACKLOG] > 0 and m[at + Flow.START] <= t and first_node(m, at) == gateway:
            for _ in range(m[at + Flow.BACKLOG]):
                sources.refill(m, flow, f, constants, t)
