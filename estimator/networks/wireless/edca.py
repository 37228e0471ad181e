"""Construction of the EDCA functions and agreements of rows: those that the routes of the flows use.

A function is an access category of a node, an agreement a function and a link. Both are numbered by node,
category and link.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import ReliableP
from netcarlo.kernels.wireless.layout import NOBODY, Agreement, Flow, Function, Link, Node, Radio
from netcarlo.networks.queue_limits import drawn, of_frames
from netcarlo.networks.run import PACKET
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.aggregation import LLC_BYTES, SUBFRAME_BYTES
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.description.edca import SCHEDULERS, Aggregation, Category, Edca
from netcarlo.networks.wireless.phy.ppdu import ANSWER_RATES
from netcarlo.networks.wireless.phy.rates import answer_row
from netcarlo.networks.wireless.phy.tables import CATEGORIES, STANDARDS, edca, tables
from netcarlo.numerics.arrays import Bools, Ints
from netcarlo.schema.draws import Draws

MOST_TIME = 5_484_000
"""Maximum duration of a PPDU [ns] (IEEE 802.11-2020, aPPDUMaxTime)."""

SLOW_THRESHOLD = 6e6
"""Expected throughput for each station below which a receiver is slow [bit/s] (`STA_SLOW_THRESHOLD`)."""

_NOTHING = np.iinfo(np.int64).max


class Access(NamedTuple):
    """EDCA of rows."""

    functions: Ints  # [n, K, len(Function)]
    agreements: Ints  # [n, A, len(Agreement)]
    hops: Ints  # [n, W]: agreement of each hop of the paths
    columns: dict[Radio, Any]
    """Columns of the row."""


def build(wireless: Wireless, draws: Draws, flows: Ints, links: Ints, paths: Ints, p: Ints) -> Access:
    """Return the functions and agreements of the flows [n, F, len(Flow)].

    `links` are [n, L, len(Link)], `paths` links by number [n, ...], `p` the parameters of the rows. Flows
    that are saturated get their backlog.
    """
    paths = paths.reshape(len(flows), -1)
    row, at, flow = _hops(flows)
    link = paths[row, at]
    node, category = links[row, link, Link.FROM], flows[row, flow, Flow.CATEGORY]
    key = (node * len(CATEGORIES) + category) * links.shape[1] + link
    used, number = _numbered(key, row, len(flows))
    hops = np.zeros_like(paths)
    hops[row, at] = number
    there = used < _NOTHING
    owner = np.where(there, used // links.shape[1], _NOTHING)
    of_function, function = _numbered(owner[there], np.nonzero(there)[0], len(flows))
    agreements = np.zeros((*used.shape, len(Agreement)), np.int64)
    agreements[there, Agreement.FUNCTION] = function
    agreements[there, Agreement.LINK] = used[there] % links.shape[1]
    functions = _functions(wireless, draws, of_function, p)
    _agree(wireless, agreements, functions, links, there, p[:, Radio.RTS_THRESHOLD])
    _oppose(agreements, functions, links, there)
    _control_delays(wireless, draws, agreements, links, there, stations=p[:, Radio.NODES] - 1)
    _fill_backlogs(wireless, functions, agreements, flows, hops)
    _make_room(functions, agreements, there, _least_packet(flows, p))
    return Access(
        functions, agreements, hops,
        {
            Radio.FUNCTIONS: (of_function < _NOTHING).sum(axis=1), Radio.AGREEMENTS: there.sum(axis=1),
            Radio.PATH_WORDS: paths.shape[1], **_columns(wireless), **_limits(wireless, draws),
        },
    )  # fmt: skip


def fill_nodes(nodes: Ints, functions: Ints, count: Ints) -> None:
    """Fill in the functions of the nodes [n, N, len(Node)]."""
    there = np.arange(functions.shape[1]) < count[:, None]
    row, function = np.nonzero(there)
    number = np.zeros(nodes.shape[:2], np.int64)
    np.add.at(number, (row, functions[row, function, Function.NODE]), 1)
    nodes[:, :, Node.FUNCTIONS] = number
    nodes[:, :, Node.FIRST_FUNCTION] = np.cumsum(number, axis=1) - number


def eifs_ns(wireless: Wireless, sifs: Ints) -> Ints:
    """Return what is added to AIFS after a frame that was not decoded [n] [ns]: SIFS and an Ack at the lowest
    rate."""
    answer = wireless.rate_table()[answer_row(6)]
    return np.asarray(sifs + dot11.time_on_air(answer, dot11.ACK_BYTES))


def _hops(flows: Ints) -> tuple[Ints, Ints, Ints]:
    """Return row, place in the paths and flow of each hop of data and of acknowledgements."""
    found = []
    for begin, length in ((Flow.FORTH_AT, Flow.FORTH), (Flow.BACK_AT, Flow.BACK)):
        longest = int(flows[:, :, length].max(initial=0))
        hop = np.arange(longest)
        row, flow, k = np.nonzero(hop < flows[:, :, length, None])
        found.append((row, flows[row, flow, begin] + hop[k], flow))
    row, at, flow = (np.concatenate(each) for each in zip(*found, strict=True))
    return row, at, flow


def _numbered(key: Ints, row: Ints, n: int) -> tuple[Ints, Ints]:
    """Return the distinct keys of each row in order [n, K], padded, and the number of each given key."""
    pairs, inverse = np.unique(np.stack([row, key], axis=1), axis=0, return_inverse=True)
    count = np.bincount(pairs[:, 0], minlength=n)
    number = np.arange(len(pairs)) - (np.cumsum(count) - count)[pairs[:, 0]]
    table = np.full((n, int(count.max(initial=0))), _NOTHING)
    table[pairs[:, 0], number] = pairs[:, 1]
    return table, number[inverse.reshape(-1)]


def _functions(wireless: Wireless, draws: Draws, of_function: Ints, p: Ints) -> Ints:
    """Return the functions [n, K, len(Function)] with these keys, node and category."""
    there = of_function < _NOTHING
    found = np.zeros((*of_function.shape, len(Function)), np.int64)
    node, category = np.divmod(np.where(there, of_function, 0), len(CATEGORIES))
    found[:, :, Function.NODE], found[:, :, Function.CATEGORY] = node, category
    gateway = node == p[:, Radio.NODES, None] - 1
    queue = of_frames(drawn(draws, "wireless.queue", wireless.queue), p[:, PACKET].sum(axis=1), draws)
    for number, name in enumerate(CATEGORIES):
        for is_gateway in (False, True):
            columns = _parameters(wireless, draws, name, p, queue, gateway=is_gateway)
            mine = there & (category == number) & (gateway == is_gateway)
            for column, value in columns.items():
                each = np.broadcast_to(value, len(p))[:, None]
                found[:, :, column] = np.where(mine, each, found[:, :, column])
    found[~there] = 0
    return found


def _parameters(
    wireless: Wireless, draws: Draws, name: str, p: Ints, queue: Ints, *, gateway: bool
) -> dict[Function, Ints]:
    """Return the columns [n] of the functions of a category, at the gateway or at stations."""
    behaviour = wireless.behaviour or "standard"
    default = edca(name, behaviour)
    aggregation = wireless.aggregation or Aggregation()
    size = draws.either("wireless.aggregation.ampdu", aggregation.ampdu, np.array(float(wireless.most_ampdu)))
    if behaviour == "ns3" and name == "voice":
        size = size * 0.0
    found: dict[str, Any] = {
        "aifsn": float(default["aifsn"]), "cw_min": float(default["cw_min"]),
        "cw_max": float(default["cw_max"]), "txop": default["txop"] / NS, "ampdu": size,
    }  # fmt: skip
    of_gateway = wireless.gateway_edca if gateway else None
    for field, given in (("edca", wireless.edca), ("gateway_edca", of_gateway)):
        own: Category = getattr(given or Edca(), name)
        at = f"wireless.{field}.{name}"
        found = {key: draws.either(f"{at}.{key}", getattr(own, key), value) for key, value in found.items()}
        if own.queue is not None:
            queue = of_frames(drawn(draws, f"{at}.queue", own.queue), p[:, PACKET].sum(axis=1), draws)
    fair = wireless.fq_codel
    if fair is not None and (gateway or fair.nodes == "all"):
        queue = draws.whole("wireless.fq_codel.limit", fair.limit)
    else:
        fair = None
    whole = {key: np.rint(value).astype(np.int64) for key, value in found.items() if key != "txop"}
    return {
        Function.AIFS: p[:, Radio.SIFS] + whole["aifsn"] * p[:, Radio.SLOT],
        Function.CW_MIN: whole["cw_min"], Function.CW_MAX: whole["cw_max"],
        Function.TXOP: np.rint(found["txop"] * NS).astype(np.int64), Function.QUEUE: queue,
        Function.AMPDU: whole["ampdu"],
        Function.FQ: np.int64(fair is not None),
        Function.SCHEDULER: np.int64(SCHEDULERS[wireless.scheduler or "fifo"]),
        Function.AMSDU: draws.whole("wireless.aggregation.amsdu", aggregation.amsdu),
    }  # fmt: skip


def _agree(
    wireless: Wireless, agreements: Ints, functions: Ints, links: Ints, there: Bools, threshold: Ints
) -> None:
    """Fill in the agreements: windows and sizes of the older standard of both ends, whether the function
    aggregates, and when an RTS comes first: above a `threshold` [n] [byte].

    If there is an 802.11a or g station, RTS and CTS protect all PPDUs in other formats (IEEE 802.11-2020,
    10.27.3).
    """
    ampdu = _of_function(functions, agreements, Function.AMPDU)
    rate = np.take_along_axis(links[:, :, Link.RATE], agreements[:, :, Agreement.LINK], axis=1)
    of_rates = [wireless.standard] * len(ANSWER_RATES) + [mode.standard for mode in wireless.modes]
    limits = [tables()["standards"][standard] for standard in of_rates]
    windows = [min(wireless.block_ack_window, limit["window"]) for limit in limits]
    agreements[:, :, Agreement.WINDOW] = np.array(windows)[rate]
    agreements[:, :, Agreement.BA_BYTES] = np.array([tables()["block_ack"][w] for w in windows])[rate]
    agreements[:, :, Agreement.PSDU] = np.array([limit["psdu"] for limit in limits])[rate]
    agreements[:, :, Agreement.BLOCK_ACK] = (ampdu > 0) & (agreements[:, :, Agreement.PSDU] > 0)
    old = np.array([standard not in STANDARDS for standard in of_rates])
    protected = np.any(old[links[:, :, Link.RATE]], axis=1, keepdims=True) & ~old[rate]
    agreements[:, :, Agreement.RTS_THRESHOLD] = np.where(protected, 0, threshold[:, None])
    agreements[~there] = 0


def _oppose(agreements: Ints, functions: Ints, links: Ints, there: Bools) -> None:
    """Fill in the agreements of the opposite direction: those of the category over the other link of two."""
    category = _of_function(functions, agreements, Function.CATEGORY)
    link = agreements[:, :, Agreement.LINK]
    row, one = np.nonzero(there)
    number = np.full((len(agreements), links.shape[1], len(CATEGORIES)), NOBODY)
    number[row, link[row, one], category[row, one]] = one
    agreements[row, one, Agreement.REVERSE] = number[row, link[row, one] ^ 1, category[row, one]]


def _control_delays(
    wireless: Wireless, draws: Draws, agreements: Ints, links: Ints, there: Bools, *, stations: Ints
) -> None:
    """Fill in the parameters of CoDel (Linux, `sta_update_codel_params`).

    A receiver is slow if 90 % of its PHY rate, the throughput that Minstrel expects, are below
    SLOW_THRESHOLD for each of the `stations` [n].
    """
    fair = wireless.fq_codel
    if fair is None:
        return
    rate = np.take_along_axis(links[:, :, Link.RATE], agreements[:, :, Agreement.LINK], axis=1)
    slow = 0.9 * np.asarray(wireless.known_rates)[rate] < SLOW_THRESHOLD * stations[:, None]
    for column, name in ((Agreement.TARGET, "target"), (Agreement.INTERVAL, "interval")):
        usual, of_slow = (
            draws.whole(f"wireless.fq_codel.{field}", getattr(fair, field), NS)[:, None]
            for field in (name, f"slow_{name}")
        )
        agreements[:, :, column] = np.where(there, np.where(slow, of_slow, usual), 0)


def _limits(wireless: Wireless, draws: Draws) -> dict[Any, Ints]:
    """Return the columns of FQ-CoDel [n] that are equal for all nodes."""
    fair = wireless.fq_codel
    if fair is None:
        return {}
    name = "wireless.fq_codel"
    return draws.columns(fair, name) | draws.columns(fair.airtime, f"{name}.airtime")


def _of_function(functions: Ints, agreements: Ints, column: Function) -> Ints:
    """Return a column of the functions of agreements [n, A]."""
    number = agreements[:, :, Agreement.FUNCTION]
    return np.asarray(np.take_along_axis(functions[:, :, column], number, axis=1))


def _fill_backlogs(wireless: Wireless, functions: Ints, agreements: Ints, flows: Ints, hops: Ints) -> None:
    """Fill in the backlogs of saturated flows, for which queues have room in addition to their limit."""
    saturated = flows[:, :, Flow.BACKLOG] > 0
    amsdu = functions[:, :, Function.AMSDU].max(axis=1, initial=0) > 0
    backlog = 2 * wireless.block_ack_window * np.where(amsdu, 6, 1)
    flows[:, :, Flow.BACKLOG] = np.where(saturated, backlog[:, None], 0)
    row, flow = np.nonzero(saturated)
    agreement = hops[row, flows[row, flow, Flow.FORTH_AT]]
    function = agreements[row, agreement, Agreement.FUNCTION]
    np.add.at(functions[:, :, Function.QUEUE], (row, function), backlog[row])


def _make_room(functions: Ints, agreements: Ints, there: Bools, least: Ints) -> None:
    """Fill in the room of the functions: their queues, and MSDUs that receivers hold back.

    `least` is the size of the smallest packet [n] [byte].
    """
    subframe = SUBFRAME_BYTES + LLC_BYTES + least[:, None]
    msdus = np.maximum(_of_function(functions, agreements, Function.AMSDU) // subframe, 1)
    held = np.where(there, agreements[:, :, Agreement.WINDOW] * msdus, 0)
    functions[:, :, Function.POOL] = functions[:, :, Function.QUEUE] + functions[:, :, Function.FQ]
    row, _ = np.nonzero(there)
    np.add.at(functions[:, :, Function.POOL], (row, agreements[there][:, Agreement.FUNCTION]), held[there])


def _least_packet(flows: Ints, p: Ints) -> Ints:
    """Return the size of the smallest packet of any flow [n] [byte]."""
    size = flows[:, :, Flow.SIZE] + flows[:, :, Flow.HEADER] - flows[:, :, Flow.SHORT]
    least = np.where(flows[:, :, Flow.FORTH] > 0, size, _NOTHING).min(axis=1, initial=_NOTHING)
    acknowledged = (flows[:, :, Flow.TCP] == 1).any(axis=1)
    found = np.where(acknowledged, np.minimum(least, p[:, ReliableP.ACK]), least)
    return np.asarray(np.clip(found, 20, 2304))


def _columns(wireless: Wireless) -> dict[Radio, Any]:
    """Return the columns that are equal in all rows."""
    standard = wireless.behaviour != "ns3"
    return {
        Radio.RTS_RATE: NOBODY if standard else answer_row(tables()["ns3"]["control_rate"]),
        Radio.CF_END_RATE: answer_row(6),
        Radio.MOST_TIME: MOST_TIME,
        Radio.BAR_AFTER_MISSED: int(wireless.block_ack_request is not False),
        Radio.RETRY_PER_MPDU: int(standard),
    }
