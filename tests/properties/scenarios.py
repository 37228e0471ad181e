"""Random valid scenarios of every kind of network, with each feature represented.

`draw(number)` is the same scenario for the same number. The numbers walk over FAMILIES and, within a family,
over its features: each is forced once in every `len(features)` draws, and others join at random.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario

Data = dict[str, Any]
Feature = Callable[[Random, Data], None]

TCPS = ("tahoe", "reno", "newreno", "sack", "vegas", "bic", "cubic", "westwood")
MOST_TRIES = 60
PACKETS = 4000
"""Approximate maximum of packets on the slowest link of a scenario."""


def log_uniform(rng: Random, low: float, high: float) -> float:
    """Return a number whose logarithm is uniform, to four digits."""
    return float(f"{low * (high / low) ** rng.random():.4g}")


def chance(rng: Random, data: Any, **fields: Any) -> None:
    """Return each of the fields with probability 0.3; a value may be a function of `rng`."""
    for name, value in fields.items():
        if rng.random() < 0.3:
            data[name] = value(rng) if callable(value) else value


def _queue(rng: Random) -> Any:
    return rng.choice((1, 2, 3, 4, 8, 20, 50, 200, "unlimited"))


def _loss(rng: Random) -> float:
    return rng.choice((0.0, 0.0, 0.0, 0.001, 0.01, 0.05, 0.3, 1.0))


def _hop(rng: Random) -> Data:
    return {
        "rate": log_uniform(rng, 2e4, 2e9),
        "delay": rng.choice((0.0, log_uniform(rng, 1e-6, 0.3))),
        "queue": _queue(rng),
        "loss": _loss(rng),
    }


def _tcp(rng: Random, protocol: str | None = None) -> Data:
    found: Data = {
        "protocol": protocol or rng.choice(TCPS),
        "window": rng.choice((1, 2, 4, 10, 20, 64, 256, 1024)),
    }
    chance(
        rng,
        found,
        payload=lambda r: r.choice((1, 100, 536, 1460, 9000)),
        initial_window=lambda r: r.choice((1, 4, 10)),
        ack_every=2,
        min_rto=lambda r: log_uniform(r, 0.01, 2),
        packets=lambda r: r.choice((1, 3, 30, 400)),
        start=lambda r: log_uniform(r, 1e-4, 0.2),
        initial_ssthresh=lambda r: r.choice((2, 8, 64)),
    )
    if found["protocol"] == "vegas":
        found |= rng.choice(({}, {"alpha": 4, "beta": 8, "gamma": 9}))
    return found


def _sctp(rng: Random) -> Data:
    found: Data = {"protocol": "sctp", "receiver_window": rng.choice((4000, 65536, 400_000))}
    chance(
        rng,
        found,
        payload=lambda r: r.choice((100, 1452)),
        packets=lambda r: r.choice((3, 400)),
        path_max_retrans=1,
    )
    return found


def _outages(rng: Random) -> Any:
    if rng.random() < 0.5:
        return {"up": log_uniform(rng, 0.2, 5), "down": log_uniform(rng, 0.01, 1)}
    return [{"start": log_uniform(rng, 0.01, 2), "duration": f"{log_uniform(rng, 0.01, 2)} s"}]


def _last(rng: Random, data: Data) -> Data:
    hops: list[Data] = data.get("hops") or data["paths"][0]["hops"]
    return rng.choice(hops)


def _path(rng: Random) -> Data:
    return {"transport": _tcp(rng), "hops": [_hop(rng) for _ in range(rng.choice((1, 1, 1, 2, 4)))]}


def _in_hop(**fields: Any) -> Feature:
    def give(rng: Random, data: Data) -> None:
        hop = _last(rng, data)
        for name, value in fields.items():
            hop[name] = value(rng) if callable(value) else value
        if "trace" in fields:
            hop.pop("rate"), hop.pop("delay"), hop.pop("loss")

    return give


def _in_transport(**fields: Any) -> Feature:
    def give(rng: Random, data: Data) -> None:
        data["transport"] |= {
            name: value(rng) if callable(value) else value for name, value in fields.items()
        }

    return give


def _linux(rng: Random, data: Data) -> None:
    data["transport"] = {
        "protocol": "linux",
        "congestion_control": rng.choice(("cubic", "reno", "bbr", "bbr3")),
    }


def _linux_with(**fields: Any) -> Feature:
    def give(rng: Random, data: Data) -> None:
        _linux(rng, data)
        _in_transport(**fields)(rng, data)

    return give


def _mobile(rng: Random, data: Data) -> None:
    data["hops"] = [_hop(rng), _hop(rng)]
    data["mobility"] = {
        "protocol": rng.choice(("mipv6", "hmipv6", "fmipv6", "s_binding", "s_mip", "fhmipv6", "himipv6")),
        "every": log_uniform(rng, 0.5, 5),
        "outage": log_uniform(rng, 0.02, 0.4),
        "least_stay": 0.1,
        "preparation": 0.05,
        "anticipation": 0.1,
        "detection": 0.05,
        "home_agent": 0.01,
    }
    chance(
        rng,
        data["mobility"],
        buffer=lambda r: r.choice((0, 5, 100)),
        false_alarm=0.3,
        ping_pong=0.3,
        outage_jitter=0.01,
    )


def _two_paths(rng: Random, data: Data) -> None:
    data["transport"] = _sctp(rng)
    data.pop("hops")
    data["paths"] = [{"hops": [_hop(rng)]}, {"hops": [_hop(rng)]}]


def _two_failing(rng: Random, data: Data) -> None:
    _two_paths(rng, data)
    data["paths"][0]["hops"][0]["outages"] = _outages(rng)


def _mptcp(rng: Random, data: Data) -> None:
    _two_failing(rng, data)
    data["paths"][1]["backup"] = rng.random() < 0.2
    data["transport"] = {"protocol": "mptcp", "congestion_control": rng.choice(("cubic", "reno", "bbr"))}
    chance(rng, data["transport"], packets=lambda r: r.choice((3, 400)), window=lambda r: r.choice((4, 100)))


def _sctp_path(rng: Random, data: Data) -> None:
    data["transport"] = _sctp(rng)


def _udp_path(rng: Random, data: Data) -> None:
    rate = data["hops"][0]["rate"]
    data["transport"] = {"protocol": "udp", "rate": max(100.0, min(rate * rng.choice((0.1, 0.9, 1.5)), 1e10))}


def _sctp_mobile(rng: Random, data: Data) -> None:
    _mobile(rng, data)
    data["transport"] = _sctp(rng)


TRACE = "time,rate,delay,loss\n0 s,1 Mbit/s,5 ms,0\n0.3 s,5 Mbit/s,1 ms,0.01\n0.6 s,200 kbit/s,9 ms,0\n"

PATHS: dict[str, Feature] = {
    "plain": lambda rng, data: None,
    "outages": _in_hop(outages=_outages),
    "mobile": _mobile,
    "cross": _in_hop(cross_traffic=lambda r: {"rate": log_uniform(r, 1e4, 1e6)}),
    "tiny queue": _in_hop(queue=lambda r: r.choice((1, 2, 3)), delay=lambda r: log_uniform(r, 1e-6, 1e-3)),
    "all lost": _in_hop(loss=1),
    "sctp": _sctp_path,
    "two paths": _two_paths,
    "two failing": _two_failing,
    "sctp mobile": _sctp_mobile,
    "udp": _udp_path,
    "linux": _linux,
    "autotuning": _linux_with(autotuning=True, window=4096),
    "messages": _linux_with(
        messages=lambda r: {"size": log_uniform(r, 100, 1e5), "pause": log_uniform(r, 1e-3, 0.3)}
    ),
    "bursts": _in_hop(bursts={"apart": 50, "length": 3}),
    "jitter": _in_hop(jitter={"uniform": [0, 0.01]}),
    "reorder": _in_hop(jitter={"uniform": [0, 0.01], "reorder": True}),
    "policer": _in_hop(policer=lambda r: {"rate": log_uniform(r, 1e5, 1e7), "burst": 20_000}),
    "trace": _in_hop(trace=TRACE, repeat=True),
    "codel": _in_hop(queue="codel"),
    "red": _in_hop(red={}),
    "reverse": _in_hop(
        reverse=lambda r: {"rate": log_uniform(r, 1e4, 1e8)}, ack_loss=lambda r: r.choice((0, 0.1, 1))
    ),
    "receive buffer": _in_transport(receive_buffer={"size": 30_000}),
    "late": _in_transport(late=0.1),
    "send buffer": lambda rng, data: data.update(
        transport=_tcp(rng, "sack") | {"send_buffer": {"size": 30_000}}
    ),
    "finite": _in_transport(packets=lambda r: r.choice((1, 2, 5, 50, 500))),
    "mptcp": _mptcp,
}


def _flow(rng: Random) -> Data:
    found: Data = {}
    chance(
        rng,
        found,
        start=lambda r: log_uniform(r, 1e-3, 0.5),
        packets=lambda r: r.choice((1, 10, 300)),
        window=lambda r: r.choice((2, 20, 200)),
        access=lambda r: {"source_delay": log_uniform(r, 1e-4, 0.1)},
    )
    return found


def _shared(rng: Random) -> Data:
    link = _hop(rng)
    link["rate"] = log_uniform(rng, 1e5, 1e9)
    flows: list[Data] = [{"count": rng.choice((1, 2, 6, 20)), "each": _flow(rng)}]
    return {"transport": _tcp(rng), "shared": {"dumbbell": link, "flows": flows}}


def _udp_flows(rng: Random, data: Data) -> None:
    rate = data["shared"]["dumbbell"]["rate"]
    udp: Data = {"rate": min(rate * rng.choice((0.05, 0.5, 1.5)), 1e9)}
    chance(rng, udp, on=0.2, off=0.1)
    if ("on" in udp) != ("off" in udp):
        udp.pop("on", 0), udp.pop("off", 0)
    data["shared"]["flows"].append({"udp": udp})


def _two_hops(rng: Random, data: Data) -> None:
    ends = [[0, 1], [1, 2], [2, 1], [1, 0]]
    link = data["shared"].pop("dumbbell")
    data["shared"]["links"] = [{"ends": e, **link, "rate": log_uniform(rng, 2e5, 1e8)} for e in ends]
    data["shared"]["flows"] = [{"route": "0 1"}, {"route": "0"}, {"route": "1"}, {"route": "2 3"}][
        : rng.choice((1, 2, 4))
    ]


def _failing(rng: Random, data: Data) -> None:
    _two_hops(rng, data)
    data["shared"]["failures"] = [{"cables": 0, "outages": _outages(rng)}]


def _arrivals(rng: Random, data: Data) -> None:
    data["shared"]["flows"] = [
        {"count": 8, "arrivals": {"poisson": log_uniform(rng, 1, 50)}, "size": log_uniform(rng, 500, 1e5)}
    ]


def _classes(rng: Random, data: Data) -> None:
    data["shared"]["flows"] = [
        {"count": 2, "each": {"class": "web", "late": 0.1}},
        {"udp": {"rate": 1e5}, "class": "video", "late": 0.05},
    ]


def _mixed(rng: Random, data: Data) -> None:
    data["transport"] = _tcp(rng, "newreno")
    data["shared"]["flows"] = [{"protocol": rng.choice(TCPS)} for _ in range(4)]


def _linux_mix(rng: Random, data: Data) -> None:
    data["transport"] = {"protocol": "linux"}
    data["shared"]["flows"] = [{"congestion_control": c} for c in ("cubic", "bbr", "bbr3", "reno")]


def _in_dumbbell(**fields: Any) -> Feature:
    def give(rng: Random, data: Data) -> None:
        data["shared"]["dumbbell"] |= {n: v(rng) if callable(v) else v for n, v in fields.items()}

    return give


def _deep(rng: Random, data: Data) -> None:
    data["shared"]["dumbbell"] |= {"queue": "unlimited", "delay": 0.002, "rate": log_uniform(rng, 1e5, 1e7)}
    data["shared"]["flows"] = [{"count": 6}]


def _warm(rng: Random, data: Data) -> None:
    data["warm_up"] = 0.4


SHARED: dict[str, Feature] = {
    "plain": lambda rng, data: None,
    "udp": _udp_flows,
    "two hops": _two_hops,
    "failing": _failing,
    "arrivals": _arrivals,
    "classes": _classes,
    "mixed": _mixed,
    "linux": _linux_mix,
    "deep": _deep,
    "tiny queue": _in_dumbbell(
        queue=lambda r: r.choice((1, 2, 3)), delay=lambda r: log_uniform(r, 1e-6, 1e-3)
    ),
    "codel": _in_dumbbell(queue="codel"),
    "pie": _in_dumbbell(queue="pie"),
    "fq_codel": _in_dumbbell(queue="fq_codel"),
    "red": _in_dumbbell(red={}),
    "all lost": _in_dumbbell(loss=1),
    "warm": _warm,
    "sctp": lambda rng, data: data.update(transport=_sctp(rng)),
}


def _wireless(rng: Random) -> Data:
    network: Data = {"cell": {"stations": rng.choice((1, 2, 5, 12))}, "rate": rng.choice((6e6, 24e6, 54e6))}
    chance(rng, network, frame_error=lambda r: r.choice((0.01, 0.3)), queue=lambda r: r.choice((1, 5, 50)))
    transport = _tcp(rng)
    transport.pop("receive_buffer", 0)
    return {"transport": transport, "wireless": network}


def _datagrams(rng: Random, data: Data) -> None:
    data["transport"] = {
        "protocol": "udp",
        "rate": log_uniform(rng, 1e5, 4e7),
        "payload": rng.choice((100, 1470)),
    }


def _chain(rng: Random, data: Data) -> None:
    data["wireless"].pop("cell")
    data["wireless"]["chain"] = {"hops": rng.choice((2, 3, 5))}
    data["wireless"]["reach"] = {"sense": rng.choice((1, 2))}
    if rng.random() < 0.5:
        _datagrams(rng, data)


def _in_wireless(**fields: Any) -> Feature:
    def give(rng: Random, data: Data) -> None:
        data["wireless"] |= {n: v(rng) if callable(v) else v for n, v in fields.items()}

    return give


def _area(rng: Random, data: Data) -> None:
    _datagrams(rng, data)
    data["wireless"].pop("cell")
    data["wireless"] |= {"area": {"stations": 5, "side": 80}, "path_loss": {"power_dbm": 20, "exponent": 3}}


WIRELESS: dict[str, Feature] = {
    "plain": lambda rng, data: None,
    "udp": _datagrams,
    "chain": _chain,
    "area": _area,
    "down": _in_wireless(flows="down"),
    "both": _in_wireless(flows="both"),
    "wire": _in_wireless(
        wire=lambda r: {"rate": log_uniform(r, 1e5, 1e9), "delay": log_uniform(r, 1e-5, 0.1)}
    ),
    "arf": lambda rng, data: (
        _datagrams(rng, data),
        data["wireless"].update(rate_control="arf", frame_error=0.2),
    ),
    "lossy": _in_wireless(frame_error=lambda r: r.choice((0.5, 1))),
    "warm": _warm,
    "outages": _in_wireless(outages=_outages),
    "linux": lambda rng, data: data.update(transport={"protocol": "linux"}),
    "sctp": lambda rng, data: data.update(transport=_sctp(rng)),
    "best": _in_wireless(best_interval=0.1),
}


def _adhoc(rng: Random) -> Data:
    network: Data = {
        "nodes": rng.choice((2, 5, 12)),
        "area": {"side": rng.choice((50.0, 300.0, 600.0))},
        "range": 200.0,
        "mobility": {"model": "random_waypoint", "speed": log_uniform(rng, 0.5, 30)},
    }
    chance(rng, network, frame_error=lambda r: r.choice((0.02, 0.3)), residual_error=0.01, routing="ideal")
    return {"transport": _tcp(rng), "adhoc": network}


def _static(rng: Random, data: Data) -> None:
    data["adhoc"]["mobility"] = {"model": "static"}


ADHOC: dict[str, Feature] = {
    "plain": lambda rng, data: None,
    "static": _static,
    "udp": _datagrams,
    "probing": lambda rng, data: data.update(
        transport=_tcp(rng, rng.choice(("probing", "new_probing", "elfn", "eln")))
    ),
    "finite": _in_transport(packets=lambda r: r.choice((1, 20, 200))),
    "energy": lambda rng, data: data["adhoc"].update(energy={"battery": 100.0}),
    "linux": lambda rng, data: data.update(transport={"protocol": "linux"}),
    "sctp": lambda rng, data: data.update(transport=_sctp(rng)),
}

FAMILIES: dict[str, tuple[Callable[[Random], Data], dict[str, Feature]]] = {
    "path": (_path, PATHS),
    "shared": (_shared, SHARED),
    "wireless": (_wireless, WIRELESS),
    "adhoc": (_adhoc, ADHOC),
}
"""Scenario without features of each family, and the fields that each feature adds."""


UNITS = {
    "bit/s": "rate",
    "m": "side range",
    "m/s": "speed",
    "J": "battery",
    "B": "payload size burst receiver_window",
    "/s": "poisson",
    "s": "duration warm_up sample_interval delay min_rto start up down every outage least_stay preparation "
    "anticipation detection home_agent outage_jitter on off late source_delay jitter best_interval pause",
}
"""Units of the numbers in the fields above."""


def _with_units(data: Any, name: str = "") -> Any:
    """Return the data with their units."""
    if isinstance(data, dict):
        return {key: _with_units(value, name if key == "uniform" else key) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_units(item, name) for item in data]
    if isinstance(data, bool) or not isinstance(data, int | float):
        return data
    unit = next((unit for unit, names in UNITS.items() if name in names.split()), "")
    return f"{int(data) if unit == 'B' else data} {unit}" if unit else data


def _bound_work(rng: Random, data: Data, family: str) -> None:
    """Choose a duration in which few packets pass."""
    payload = data["transport"].get("payload", 1000) + 40
    most = {"adhoc": 4.0, "wireless": 1.0}.get(family, 30.0)
    if family in ("path", "shared"):
        hops = (
            data.get("hops")
            or data.get("shared", {}).get("links")
            or [data.get("shared", {}).get("dumbbell")]
        )
        routes = [route["hops"] for route in data["paths"]] if "paths" in data else [hops]
        fastest = max(min(hop.get("rate", 5e6) for hop in route) for route in routes)
        most = min(most, PACKETS * 8 * payload / fastest)
    data["duration"] = max(log_uniform(rng, most / 50, most), 0.002)
    if data.get("warm_up"):
        data["warm_up"] = data["duration"] * 0.4


def draw(
    number: int, *, family: str, fidelity: str = "packet", replications: int = 2
) -> tuple[str, Scenario] | None:
    """Return the scenario of this number and the feature that it has; None if that fidelity refuses all
    tries."""
    plain, features = FAMILIES[family]
    feature = list(features)[number % len(features)]
    for attempt in range(MOST_TRIES):
        rng = Random(f"{family} {number} {attempt}")
        data = plain(rng)
        try:
            features[feature](rng, data)
            if family == "path" and rng.random() < 0.2 and "hops" in data:
                PATHS["outages"](rng, data)
            _bound_work(rng, data, family)
            sample = max(data["duration"] / 50, 1e-6)
            data |= {
                "seed": number,
                "fidelity": fidelity,
                "sample_interval": sample,
                "replications": replications,
            }
            scenario = Scenario.check(_with_units(data))
            if fidelity == "packet" or not scenario.network.unknown(scenario, fidelity):
                return feature, scenario
        except (InputError, KeyError):
            continue
    return None
