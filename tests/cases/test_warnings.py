"""Warnings of libraries do not reach users: cheap models of random scenarios, with warnings as errors."""

import random
import warnings
from pathlib import Path

import pytest

from netcarlo import InputError, simulate
from netcarlo.schema.notes import Note

SCENARIOS = 250


def outages(rng, duration):
    start = rng.uniform(0, 0.9 * duration)
    return [{"start": f"{start} s", "duration": f"{rng.uniform(0, 0.5) * duration} s"}]


def hop(rng, duration):
    rate = 10 ** rng.uniform(3.5, 9.5)
    found = {
        "rate": rng.choice([f"{rate:.0f} bit/s"] * 6 + ["unlimited"]),
        "delay": rng.choice(["0 s", "1 us", f"{10 ** rng.uniform(-5, 0)} s"]),
        "queue": rng.choice([1, 2, 5, 100, 5000, "unlimited"]),
        "loss": rng.choice([0, 0, "0.001 %", "1 %", "50 %", "100 %"]),
    }
    if rng.random() < 0.3:
        found["outages"] = outages(rng, duration)
    if rng.random() < 0.3 and found["rate"] != "unlimited":
        found["cross_traffic"] = {"rate": f"{rate * rng.uniform(0.1, 4):.0f} bit/s", "packet": "1000 B"}
    if rng.random() < 0.2:
        found["reverse"] = {"rate": "9600 bit/s"}
    return found


def transport(rng):
    protocol = rng.choice(["tahoe", "reno", "newreno", "sack", "cubic", "bic", "vegas", "linux", "sctp"])
    found = {"protocol": protocol}
    if rng.random() < 0.5 and protocol != "linux":
        found["window"] = rng.choice([1, 2, 20, 4096])
    if rng.random() < 0.3 and protocol != "sctp":
        found["payload"] = rng.choice(["1 B", "100 B", "1460 B"])
    return found


def scenario(number):
    """Return a random scenario with formulae, which may be refused."""
    rng = random.Random(number)
    duration = 10 ** rng.uniform(-2.5, 3)
    data = {
        "fidelity": "formula", "duration": f"{duration} s", "transport": transport(rng),
        "sample_interval": f"{duration / 200} s",
    }  # fmt: skip
    if rng.random() < 0.6:
        return data | {"hops": [hop(rng, duration) for _ in range(rng.randint(1, 3))]}
    flows = rng.choice([{}, {"transport": {"protocol": "udp", "rate": "1 Mbit/s"}}])
    each = {"rate": "1 Mbit/s", "delay": "1 ms", "queue": 5} | hop(rng, duration)
    each = {key: each[key] for key in ("rate", "delay", "queue", "loss")}
    data["transport"] = {"protocol": rng.choice(["newreno", "sack", "linux", "cubic"])}
    return data | {"shared": {"dumbbell": each, "flows": [{"count": rng.randint(1, 5), "each": flows}, {}]}}


@pytest.mark.full
def test_formulae_of_random_scenarios_warn_of_nothing():
    simulated = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", Note)
        for number in range(SCENARIOS):
            try:
                simulate(scenario(number), replications=2, target="cpu")
            except InputError:
                continue
            except Warning as warning:
                pytest.fail(f"scenario {number}, {scenario(number)}: {warning!r}")
            simulated += 1
    assert simulated > SCENARIOS / 2


def test_a_link_that_cross_traffic_fills_carries_nothing():
    """The sawtooth formula over a capacity of 0 gives no warning, as in the scenario of the report."""
    data = {
        "fidelity": "formula", "duration": "0.00535512127 s", "seed": 4223808121195674834,
        "transport": {"protocol": "cubic", "payload": "1460 B", "initial_window": 10},
        "sample_interval": "2.67756064e-05 s",
        "hops": [
            {
                "rate": "125350924 bit/s", "delay": "0 s", "queue": 5,
                "outages": [{"start": "0.000426770934 s", "duration": "0.00174552488 s"}],
                "cross_traffic": {"rate": "442835320 bit/s", "packet": "1000 B"},
            }
        ],
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (simulate(data, replications=2).frame.goodput_bps == 0).all()


def test_shipped_examples_with_cheap_models_warn_of_nothing():
    configs = Path(__file__).parents[2] / "configs" / "examples"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", Note)
        for path in sorted(configs.glob("*.yaml")):
            from netcarlo import load_scenario

            try:
                simulate(load_scenario(path, values={"fidelity": "formula"}), replications=2)
            except InputError:
                continue
