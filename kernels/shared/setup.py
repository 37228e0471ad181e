"""Initial layout of the shared engine's scratch for a row: fixed words, links, flows."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, NEVER
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared import agenda, arrivals, delays, detours, fifo, outages, packet, varying
from netcarlo.kernels.shared.agenda import NO_EVENT, Event
from netcarlo.kernels.shared.aqm import discipline
from netcarlo.kernels.shared.layout import NO_AQM, Flow, FlowOut, Link, Shared
from netcarlo.kernels.shared.link import prepare_loss
from netcarlo.kernels.shared.sources import prepare_source
from netcarlo.kernels.shared.state import Fifo, FlowWord, LinkWord, Word, place_of_link, words_of_routes

ARRIVALS: Any = slot("arrivals")

DELAYS: Any = slot("delays")

association: Any = slot("association")
ends: Any = slot("ends")

AQM: Any = slot("aqm")

VARYING: Any = slot("varying")


@noinline
def init_layout(p: Any, constants: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any) -> None:
    """Lay out scratch `m`, and memory `f`: floats of each association, then the mean queue of each link."""
    m[Word.STATUS] = 0
    m[Word.HORIZON] = p[Shared.WARM_UP] - 1
    for kind in (Event.DATA, Event.ACK, Event.HOST):
        m[Word.BITS + kind] = packet.bits_of(p[Shared.FLOWS])
    m[Word.LINK_BITS] = packet.bits_of(p[Shared.LINKS])
    packet.divide(m, p[Shared.FLOWS], detours.longest(p, flows))
    m[Word.BLOCKS] = Word.TREE + (np.int64(8) << max(m[Word.FLOW_BITS], m[Word.LINK_BITS]))
    m[Word.ARRIVALS] = m[Word.BLOCKS] + p[Shared.FLOWS]
    m[Word.LINKS] = m[Word.ARRIVALS] + ((np.int64(2) << m[Word.FLOW_BITS]) if ARRIVALS else 0)
    for word in range(Word.TREE, m[Word.LINKS]):
        m[word] = NO_EVENT
    free = m[Word.LINKS] + LinkWord.SIZE * p[Shared.LINKS]
    for i in range(p[Shared.LINKS]):
        free = _init_link(p, links, losses, m, i, free)
        f[flows.shape[0] * association.FLOATS + i] = 0.0
    for i in range(p[Shared.FLOWS]):
        free = _init_flow(p, flows[i], losses, m, f, i, free)
    if DELAYS:
        free = delays.allocate(p, m, free)
    agenda.set_clock(m, p[Shared.WARM_UP])
    if ARRIVALS:
        arrivals.prepare(p, constants, losses, m, free)


@noinline
def _init_link(p: Any, links: Any, losses: Any, m: Any, i: Any, free: Any) -> Any:
    """Initialise the block of a link, with rings from word `free` on, and return the first word behind
    them."""
    b, link = m[Word.LINKS] + LinkWord.SIZE * i, links[i]
    for word in range(Link.COLUMNS):
        m[b + word] = link[word]
    for word in range(Link.COLUMNS, LinkWord.SIZE):
        m[b + word] = 0
    room = link[Link.ROOM] * (p[RowP.RING] >> 6)
    fifo.allocate(m, b + LinkWord.FIFO, free, room)
    free += 2 * room
    fifo.allocate(m, b + LinkWord.HEAD, free, room)
    m[b + LinkWord.NUMBER] = i
    m[b + LinkWord.RED_COUNT] = -1
    m[b + LinkWord.SERVICE] = NO_EVENT
    prepare_loss(p, losses, m, b)
    free += room
    if AQM and link[Link.AQM] != NO_AQM:
        free = discipline.allocate(p, m, b, free, room)
    if VARYING:
        free = varying.allocate(m, b, free)
        outages.start(links, m, b)
    return free


@noinline
def _init_flow(p: Any, flow: Any, losses: Any, m: Any, f: Any, i: Any, free: Any) -> Any:
    """Initialise the routes and the block of a flow from word `free` on, and return the first word behind
    it."""
    b = free + words_of_routes(flow[Flow.HOPS], flow[Flow.BACK_HOPS])
    for hop in range(flow[Flow.HOPS]):
        m[place_of_link(b, hop, False)] = m[Word.LINKS] + LinkWord.SIZE * flow[Flow.ROUTE + hop]
    for hop in range(flow[Flow.BACK_HOPS]):
        link = flow[Flow.ROUTE + flow[Flow.HOPS] + hop]
        m[place_of_link(b, hop, True)] = m[Word.LINKS] + LinkWord.SIZE * link
    m[m[Word.BLOCKS] + i] = b
    for word in range(Flow.COLUMNS):
        m[b + word] = flow[word]
    for word in range(Flow.COLUMNS, FlowWord.ASSOCIATION):
        m[b + word] = 0
    ring = flow[RowP.RING]
    if ring == 0:
        ring = np.int64(64)
        while ring < 2 * flow[RowP.WINDOW] + 64:
            ring <<= 1
    ring *= p[RowP.RING] >> 6
    m[b + RowP.RING] = ring
    for column in range(RowP.SEED, RowP.REPLICATION + 1):
        m[b + column] = p[column]
    m[b + FlowWord.NEXT] = flow[RowP.START]
    if ARRIVALS and flow[Flow.CLASS] > 0:
        m[b + FlowWord.NEXT] = FOREVER
    m[b + FlowWord.SAMPLE] = p[Shared.WARM_UP]
    m[b + FlowWord.COUNTS + FlowOut.COMPLETED] = NEVER
    m[b + FlowWord.COUNTS + FlowOut.FINISHED] = NEVER
    if DELAYS:
        delays.start_flow(m, b)
    free = b + FlowWord.ASSOCIATION
    if flow[Flow.KIND] == UDP:
        prepare_source(p, m, b, losses, i)
    else:
        free += ends.prepare(m, b, f, i)
    for k in range(3):
        fifo.allocate(m, b + FlowWord.TO_LINK + k * Fifo.SIZE, free, ring)
        free += 2 * ring
    agenda.bring_forward(m, Event.HOST, i, m[b + FlowWord.NEXT])
    return free
