"""Counting of outcomes after the end of the warm-up.

The counts of a run without warm-up, less those of a run of the same seed that ends with the warm-up, must
equal those of the run with warm-up. Every outcome is declared below; those that are not such a difference say
why.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid.shared import _length_of_step
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared import layout as shared
from netcarlo.kernels.shared.layout import FlowOut as SharedFlow
from netcarlo.kernels.shared.layout import LinkOut as SharedLink
from netcarlo.kernels.wireless import layout as wireless
from netcarlo.kernels.wireless.layout import FlowOut as WifiFlow
from netcarlo.kernels.wireless.layout import NodeOut as WifiNode
from netcarlo.networks.shared.outcomes import tables as shared_tables
from netcarlo.networks.wireless.outcomes import tables as wireless_tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.twins.rows import rows_of

Ints = NDArray[np.int64]
Runs = tuple[Ints, Ints, Ints]
"""Outcomes of three runs: with a warm-up, the whole run, and a run that ends with the warm-up."""
Rule = Callable[[Ints, Ints, Ints], Any]

MS = 10**6


def counts(window: Ints, whole: Ints, before: Ints) -> Any:
    """Check a counter: it counts the events after the warm-up."""
    return window == whole - before


def counts_roughly(window: Ints, whole: Ints, before: Ints, *, error: int) -> Any:
    """Check an amount that may be split at the end of the warm-up."""
    return np.abs(window - (whole - before)) <= error


def is_of_the_end(window: Ints, whole: Ints, before: Ints) -> Any:
    """Check a state or an instant at the end, which is the same with any warm-up."""
    return window == whole


def is_of_the_warm_up(window: Ints, whole: Ints, before: Ints, *, state: Ints) -> Any:
    """Check the state at the end of the warm-up."""
    return (window == state) & (whole == 0)


def is_greatest(window: Ints, whole: Ints, before: Ints) -> Any:
    """Check a maximum over packets, each of which is on one side of the end of the warm-up."""
    return np.maximum(window, before) == whole


def is_longest(window: Ints, whole: Ints, before: Ints) -> Any:
    """Check the longest wait of a packet.

    A packet that waits while the warm-up ends has waited until then in the run that ends there, and does
    not count in the window: the whole run may exceed both, but hardly ever does.
    """
    most = np.maximum(window, before)
    return (most <= whole) & (np.mean(most == whole) > 0.95)


def is_no_more(window: Ints, whole: Ints, before: Ints) -> Any:
    """Check that a quantity does not exceed that of the whole run."""
    return window <= whole


def is_sampled(window: Ints, whole: Ints, before: Ints) -> Any:
    """Accept any value: samples are taken every `SAMPLE` from the end of the warm-up, at other times than
    from 0."""
    return True


def check(rules: dict[Any, Rule], columns: Iterable[Any], runs: Runs) -> None:
    """Check that the columns [..., columns] of tables obey their rules; every column has one."""
    for column in columns:
        if column.name != "COLUMNS":
            kept = rules.get(column, counts)(*(run[..., column] for run in runs))
            assert np.all(kept), column.name


def three(name: str, rows: Any, warm_up: Any, *, last: int = 1) -> Runs:
    """Return the run with a warm-up, the whole run, and one that ends `last` [ns] before the end of the
    warm-up.
    """
    ends, none = (rows._replace(parameters=rows.parameters.copy()) for _ in range(2))
    none.parameters[:, warm_up] = 0
    ends.parameters[:, warm_up] = 0
    ends.parameters[:, RowP.END] = rows.parameters[:, warm_up] - last
    window, whole, before = (launch.run(models.model(name), each) for each in (rows, none, ends))
    return window, whole, before


SHARED = [name for name in models.NAMES if name.startswith("shared_") and "linux" not in name]
SHARED += ["shared_mixed_linux"]  # includes BBR, and other tests compile it


@pytest.mark.full
@pytest.mark.parametrize("name", SHARED)
def test_counters_of_shared_networks(name: str) -> None:
    rows: Any = rows_of(name, 60, seed=41)
    warm = rows.parameters[:, shared.Shared.WARM_UP] > 1
    fields = "parameters", "constants", "flows", "links"
    rows = rows._replace(**{field: getattr(rows, field)[warm] for field in fields})
    runs = three(name, rows, shared.Shared.WARM_UP)
    flows, links = zip(*(shared_tables(run, rows) for run in runs), strict=True)
    sampled = dict.fromkeys(
        (
            SharedFlow.CWND_SUM,
            SharedFlow.RTT_SUM,
            SharedFlow.RTT_SUM_HIGH,
            SharedFlow.SAMPLES,
            SharedFlow.RTT_SAMPLES,
        ),
        is_sampled,
    )
    most = int(rows.flows[:, :, RowP.DATA].max())
    rules: dict[Any, Rule] = sampled | {
        SharedFlow.USEFUL: partial(
            counts_roughly, error=most // 50
        ),  # payload in transmission then, in two parts
        SharedFlow.IN_FLIGHT: is_of_the_end,
        SharedFlow.IN_FLIGHT_BEFORE: partial(is_of_the_warm_up, state=flows[2][..., SharedFlow.IN_FLIGHT]),
        SharedFlow.COMPLETED: is_of_the_end,
        SharedFlow.FINISHED: is_of_the_end,
    }
    check(rules, SharedFlow, flows)
    gone = [SharedFlow.RECEIVED, SharedFlow.DROPS_QUEUE, SharedFlow.DROPS_RANDOM, SharedFlow.IN_FLIGHT]
    sent = flows[0][..., [SharedFlow.SENT, SharedFlow.IN_FLIGHT_BEFORE]].sum(axis=-1)
    np.testing.assert_array_equal(sent, flows[0][..., gone].sum(axis=-1))
    managed = rows.links[:, :, shared.Link.AQM] != shared.NO_AQM
    apart = managed | (
        rows.links[:, :, shared.Link.VARIES] > 0
    )  # a state without end lasts until the end
    rules = {
        SharedLink.ARRIVALS_BEFORE: partial(is_of_the_warm_up, state=links[2][..., SharedLink.ARRIVALS]),
        SharedLink.DROPS_BEFORE: lambda window, whole, _: (whole == 0) & (managed | (window == 0)),
        SharedLink.WAITING: is_of_the_end,
        SharedLink.BUSY: partial(counts_roughly, error=1),  # the last nanosecond of the warm-up
        SharedLink.QUEUE_SUM: partial(counts_roughly, error=1000),  # of all packets that waited in it
        SharedLink.WAIT_MAX: lambda *each: np.where(apart, is_no_more(*each), is_longest(*each)),
    }
    check(rules, SharedLink, links)
    at = shared.SharedOut.COLUMNS + sum(table.shape[1] * table.shape[2] for table in (flows[0], links[0]))
    n, many = len(rows.parameters), shared.classes(rows) * ClassOut.COLUMNS
    classes = [run[:, at : at + many].reshape(n, -1, ClassOut.COLUMNS) for run in runs]
    of_class = [found[..., : ClassOut.SIZE] for found in classes]
    check(
        {
            ClassOut.ACTIVE: is_of_the_end,
            ClassOut.ACTIVE_BEFORE: partial(is_of_the_warm_up, state=of_class[2][..., ClassOut.ACTIVE]),
        },
        [column for column in ClassOut if column < ClassOut.SIZE], of_class,
    )  # fmt: skip
    # By size: of flows that start after the warm-up; a flow is of one side or arrives on the other.
    sizes = [found[..., ClassOut.SIZE :] for found in classes]
    assert np.all(sizes[0] + sizes[2] <= sizes[1])
    gauges = [run[:, at + many :].reshape(n, -1, DelayOut.COLUMNS) for run in runs]
    for k in range(DelayOut.COLUMNS):
        assert np.all(counts(*(run[..., k] for run in gauges)))


def test_counters_of_fluids_of_shared_networks() -> None:
    """The warm-up ends with a step of the integration, because a fluid model counts whole steps."""
    rows: Any = rows_of("fluid", 60, seed=42)
    for p, flows, links in zip(rows.parameters, rows.flows, rows.links, strict=True):
        step = _length_of_step(p, flows, links)
        p[shared.Shared.WARM_UP] = step * max(int(p[shared.Shared.WARM_UP]) // step, 3)
    runs = three("fluid", rows, shared.Shared.WARM_UP, last=0)
    flows, links = zip(*(shared_tables(run, rows) for run in runs), strict=True)
    of_the_end = SharedFlow.COMPLETED, SharedFlow.FINISHED, SharedFlow.IN_FLIGHT
    rules: dict[Any, Rule] = dict.fromkeys(of_the_end, is_of_the_end)
    rules[SharedFlow.IN_FLIGHT_BEFORE] = partial(is_of_the_warm_up, state=flows[2][..., SharedFlow.IN_FLIGHT])
    rules |= dict.fromkeys(range(SharedFlow.CWND_SUM, SharedFlow.COLUMNS), is_sampled)
    check(rules, SharedFlow, flows)
    rules = {
        SharedLink.ARRIVALS_BEFORE: partial(is_of_the_warm_up, state=links[2][..., SharedLink.ARRIVALS]),
        SharedLink.SENT: partial(counts_roughly, error=1),  # the difference of three, each rounded down
        SharedLink.WAITING: is_of_the_end,
        SharedLink.WAIT_MAX: is_longest,
    }
    check(rules, SharedLink, links)


TIMES = WifiFlow.FIRST_RX, WifiFlow.LAST_RX, WifiFlow.COMPLETED, WifiFlow.SOURCE_DONE
WIRELESS = [name for name in models.NAMES if name.startswith("wifi_")]


@pytest.mark.full
@pytest.mark.parametrize("name", WIRELESS)
def test_counters_of_wireless_networks(name: str) -> None:
    rows: Any = rows_of(name, 60, seed=43)
    warm = rows.parameters[:, wireless.Radio.WARM_UP] > 1
    fields = "parameters", "constants", "nodes", "network"
    rows = rows._replace(**{field: getattr(rows, field)[warm] for field in fields})
    runs = three(name, rows, wireless.Radio.WARM_UP)
    many, classes = rows.most_flows, wireless.delay_classes(rows)
    found = [wireless_tables(run, flows=many, classes=classes) for run in runs]
    flows, nodes = zip(*found, strict=True)
    of_the_end = dict.fromkeys((WifiFlow.IN_FLIGHT, *TIMES), is_of_the_end)
    rules: dict[Any, Rule] = of_the_end | {
        WifiFlow.IN_FLIGHT_BEFORE: partial(is_of_the_warm_up, state=flows[2][..., WifiFlow.IN_FLIGHT]),
        WifiFlow.BEST: is_sampled,  # in intervals from the end of the warm-up on
        WifiFlow.DELAY_SUM: partial(counts_roughly, error=1),  # whole microseconds
        WifiFlow.ARRIVED: is_no_more,  # of the packets sent after the warm-up
        WifiFlow.LOST: is_no_more,
    }
    check(rules, WifiFlow, flows)
    for k in range(WifiFlow.DELAYS, WifiFlow.COLUMNS):
        assert np.all(counts(*(run[..., k] for run in flows)))
    gone = [
        WifiFlow.RECEIVED,
        WifiFlow.DROPS_SOURCE,
        WifiFlow.DROPS_RELAY,
        WifiFlow.DROPS_LEG,
        WifiFlow.RETRY_LOST,
        WifiFlow.IN_FLIGHT,
    ]
    sent = flows[0][..., [WifiFlow.SENT, WifiFlow.IN_FLIGHT_BEFORE]].sum(axis=-1)
    np.testing.assert_array_equal(sent, flows[0][..., gone].sum(axis=-1))
    rules = {
        WifiNode.IN_QUEUE: is_of_the_end,
        WifiNode.IN_QUEUE_BEFORE: partial(is_of_the_warm_up, state=nodes[2][..., WifiNode.IN_QUEUE]),
        WifiNode.QUEUE_MOST: is_greatest,
        WifiNode.QUEUE_SUM: partial(counts_roughly, error=2),  # whole microseconds
        WifiNode.BUSY: partial(counts_roughly, error=1),  # the last nanosecond of the warm-up
    }
    check(rules, WifiNode, nodes)
    behind = runs[0].shape[1] - classes * DelayOut.COLUMNS
    gauges = [run[:, behind:].reshape(len(run), -1, DelayOut.COLUMNS) for run in runs]
    for k in range(DelayOut.COLUMNS):
        assert np.all(counts(*(run[..., k] for run in gauges)))


COUNTED = {
    *("delivered", "received", "in_order", "acked", "sent", "retransmitted", "timeouts", "fast_retransmits"),
    *("cwnd_reductions", "drops_queue", "drops_random", "ack_drops", "handshakes", "marked", "transmissions"),
    *("attempts", "attempts_station", "retry_drops", "collisions", "noise_losses", "arrivals"),
}
"""Outcomes that count events."""

AMOUNTS = {
    *("goodput_bps", "tcp_goodput_bps", "acked_bps", "carried_bps", "offered_bps"),
    *("air_data", "air_failed", "air_control"),
}
"""Outcomes that are an amount over the time from the end of the warm-up to the end."""

STATES = {"in_flight"}
"""Outcomes that describe the state at the end."""

WHOLE_RUN = {"completion_s", "completed_share", "source_done_s", "first_delivery_s", "last_delivery_s"}
"""Outcomes of the whole run that are not counts: instants, and finite flows."""

OF_FINITE_FLOWS = {"completion_mean_s", "completion_p95_s"}
"""Outcomes that cover the whole run for listed flows, and for arrivals the flows that start after the
warm-up."""

LONGEST = {"longest_wait_s"}

OTHERS = (
    r"fairness|\w*(worst|best|mean)_flow_bps|worst_\w+load_bps|best_bps|throughput_bps|upload_bps|download_bps",
    r"(newreno|tahoe|reno|sack|vegas|bic|cubic|westwood|udp|linux_\w+)_bps",  # over durations of flows
    r"utilisation|mean_queue|mean_cwnd_packets|mean_rtt_s",  # means over time, or of samples
    r"\w*ratio|\w*loss_\w+|\w+_late|late|\w+_in_time|blocked_share",  # of two counts above
    r"\w*delay\w*_s|\w*jitter_s",  # means and quantiles of packets that arrive after the warm-up
    r"(completion|slowdown)_(mean|p50|p95|p99)\w*",  # of flows that start after the warm-up
)
"""Ratios, means and quantiles of the outcomes above."""

FLOWS = [
    {"count": 3, "each": {"start": {"uniform": ["0 s", "1 s"]}}},
    {"packets": 200, "start": {"uniform": ["0 s", "3 s"]}},
    {"class": "call", "late": "50 ms", "udp": {"rate": "500 kbit/s", "jitter": 0.5}},
]
CABLE = {"rate": "4 Mbit/s", "delay": "10 ms", "queue": 12, "loss": "0.5 %"}
STATIONS = [
    {"source": 0, "sink": "gateway"},
    {"source": 1, "sink": "gateway", "udp": {"rate": "2 Mbit/s"}},
    {"source": "gateway", "sink": 2, "packets": 300},
]
NETWORKS: dict[str, dict[str, Any]] = {
    "shared": {"transport": {"protocol": "newreno"}, "shared": {"dumbbell": CABLE, "flows": FLOWS}},
    "classes": {
        "transport": {"protocol": "sack"},
        "shared": {
            "dumbbell": CABLE,
            "flows": [
                {},
                {"count": 9, "arrivals": {"poisson": "9 /s"}, "size": {"uniform": ["2 kB", "60 kB"]}},
            ],
        },
    },
    "wireless": {
        "transport": {"protocol": "sack", "window": 32},
        "wireless": {"standard": "802.11g", "cell": {"stations": 3}, "rate": "12 Mbit/s", "flows": STATIONS},
    },
}


@pytest.mark.full
@pytest.mark.parametrize("network", NETWORKS)
def test_outcomes_are_of_the_window(network: str) -> None:
    """Each outcome is declared, and counters count from the end of the warm-up."""

    def frame(**fields: str) -> Any:
        scenario = {"seed": 5, "replications": 6, "duration": "6 s", **NETWORKS[network], **fields}
        return simulate(Scenario.check(scenario), target="cpu").frame

    warm_up = "2.0000003 s"  # no event is in its last nanosecond
    window, whole, before = frame(warm_up=warm_up), frame(), frame(duration=warm_up)
    declared = COUNTED | AMOUNTS | STATES | WHOLE_RUN | OF_FINITE_FLOWS | LONGEST
    others = {name for name in window if any(re.fullmatch(kind, name) for kind in (*OTHERS, r".*\..*"))}
    assert not set(window) - declared - others, "declare these"
    for name in set(window) & COUNTED:
        np.testing.assert_array_equal(window[name], whole[name] - before[name], err_msg=name)
    of_flows = {"goodput_bps", "tcp_goodput_bps"} if network == "wireless" else set()  # over durations
    for name in set(window) & AMOUNTS - of_flows:
        amount = 6.0 * whole[name] - 2.0000003 * before[name]
        np.testing.assert_allclose(3.9999997 * window[name], amount, rtol=1e-3, err_msg=name)
    for name in set(window) & (STATES | WHOLE_RUN | (set() if network == "classes" else OF_FINITE_FLOWS)):
        np.testing.assert_array_equal(window[name], whole[name], err_msg=name)
    for name in set(window) & LONGEST:
        assert (np.maximum(window[name], before[name]) == whole[name]).all(), name


def test_a_transfer_that_ends_during_the_warm_up_is_no_flow_of_the_window() -> None:
    short = {"source": 0, "sink": "gateway", "packets": 20}
    found = {}
    for name, flows in {"alone": STATIONS[:2], "beside it": [*STATIONS[:2], short]}.items():
        wireless_network = NETWORKS["wireless"]["wireless"] | {"flows": flows}
        fields = NETWORKS["wireless"] | {"wireless": wireless_network, "duration": "4 s", "warm_up": "2 s"}
        found[name] = simulate(Scenario.check({"replications": 2, **fields}), target="cpu").frame
    window = found["beside it"]
    assert (
        window["completion_s"].isna() | (window["completion_s"] < 2)
    ).all()  # of all three: one is endless
    for name in ("goodput_bps", "tcp_goodput_bps", "worst_flow_bps", "fairness", "upload_bps"):
        np.testing.assert_allclose(window[name], found["alone"][name], rtol=0.05, err_msg=name)
