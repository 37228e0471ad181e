"""Delays of classes of flows, from a scenario to its outcomes: known answers, names, refused scenarios."""

import json

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from netcarlo import InputError, compare, estimate, simulate
from netcarlo.cli.main import app
from netcarlo.kernels.base.delays import SHIFT, DelayOut
from netcarlo.networks import classes
from netcarlo.networks.shared.delays import table
from netcarlo.numerics.histogram import edges
from netcarlo.planning import load_plan, make_plan, plan
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import BY_NAME, OUTCOMES
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space.file import make_sweep
from tests.campaigns.verification.queues import wait

VIDEO = {
    "count": 3,
    "each": {"class": "video", "late": "20 ms", "udp": {"rate": "1 Mbit/s", "jitter": "20 %"}},
}


def data(*flows, **fields):
    return {
        "duration": "5 s", "warm_up": "1 s", "replications": 8, "transport": {"protocol": "newreno"},
        "shared": {"dumbbell": {"rate": "8 Mbit/s", "delay": "5 ms", "queue": 40}, "flows": [*flows]},
    } | fields  # fmt: skip


@pytest.mark.full
def test_datagrams_wait_as_in_the_queue_with_poisson_arrivals_and_one_length():
    """60 sources that send single datagrams approximate a Poisson process, so waits are those of M/D/1."""
    service, load, sources, payload = 10e-3, 0.7, 60, 1000
    each = sources * service / load  # mean gap of a source [s]
    source = {
        "rate": "50 kbit/s",
        "payload": f"{payload} B",
        "header": "0 B",
        "on": "1 ms",
        "off": f"{each - 1e-3} s",
    }
    asked = Scenario.check({
        "duration": "2000 s", "warm_up": "50 s", "replications": 32, "transport": {"protocol": "newreno"},
        "shared": {
            "dumbbell": {"rate": f"{8 * payload / service:.0f} bit/s", "delay": "1 ms", "queue": "unlimited"},
            "access": {"rate": "1 Gbit/s"},
            "flows": [{"count": sources, "each": {"class": "datagrams", "udp": source}}],
        },
    })  # fmt: skip
    found, rows = simulate(asked, target="cpu"), build(asked).rows
    alone = 1e-3 + service + 2 * payload * 8e-9
    counts = table(found.integers, rows).sum(axis=(0, 1))[DelayOut.DELAYS :]
    above = (edges(len(counts) + 1)[1:] << SHIFT) / 1e9  # upper edge of each bin [s]
    shares = counts.cumsum() / counts.sum()
    inside = (above > alone) & (above < alone + 20 * service)
    expected = np.array([wait(t - alone, service, load) for t in above[inside]])
    assert abs(shares[inside] - expected).max() < 0.005
    for name, q in classes.QUANTILES.items():  # within the resolution
        t = np.interp(q, expected, above[inside])
        assert found.frame[f"datagrams_{name}"].mean() == pytest.approx(t, rel=1 / 64 + 0.01)
    assert (found.frame.datagrams_mean_delay_s.mean() - alone) == pytest.approx(
        service * load / (2 * (1 - load)), rel=0.02
    )


@pytest.mark.full
def test_a_lone_stream_has_no_jitter_and_one_delay():
    udp = {"rate": "1 Mbit/s", "payload": "1000 B", "header": "0 B"}
    asked = Scenario.check(data({"class": "call", "late": "5 ms", "udp": udp}))
    frame = simulate(asked, target="cpu").frame
    delay = 5e-3 + 1e-3 + 2 * 8e-6
    assert frame.call_mean_delay_s.to_numpy() == pytest.approx(delay, abs=2e-9)
    for name in classes.QUANTILES:
        assert frame[f"call_{name}"].to_numpy() == pytest.approx(delay, rel=1 / 64)
    assert (frame.call_jitter_s < 2e-9).all() and (frame.call_late == 1).all()
    assert (frame.call_loss_ratio == 0).all() and (
        frame.call_worst_flow_bps == frame.call_mean_flow_bps
    ).all()


def test_flows_that_name_no_class_are_of_their_protocol():
    flows = (
        *(VIDEO, {}, {"protocol": "cubic", "class": "newreno"}, {"protocol": "linux"}),
        *({"udp": {"rate": "1 Mbit/s"}}, {"protocol": "vegas"}),
    )
    have = measurable.outcomes(Scenario.check(data(*flows)))
    found = [name for name in have if name not in {outcome.name for outcome in OUTCOMES}]
    kinds = [kind.name for kind in classes.CLASS_OUTCOMES]
    words = "video", "newreno", "linux_cubic", "udp", "vegas"
    bounded = {"video_late", "video_in_time"}  # classes without a bound have no late packets
    every = [f"{word}_{kind}" for word in words for kind in kinds]
    assert found == [name for name in every if not name.endswith(("_late", "_in_time")) or name in bounded]


@pytest.mark.full
def test_nothing_is_measured_unless_it_is_asked_for():
    plain = {**VIDEO, "each": {"udp": VIDEO["each"]["udp"]}}
    without, asked = (Scenario.check(data(flow, {})) for flow in (plain, VIDEO))
    assert without.network.address(without, fluid=False).name == "shared_newreno"
    assert asked.network.address(asked, fluid=False).name == "shared_newreno_delays"
    a, b = (simulate(each, target="cpu") for each in (without, asked))
    assert not [name for name in a.frame if "video" in name]
    common = [name for name in a.frame if not a.frame[name].isna().all()]
    assert (a.frame[common] == b.frame[common]).all().all()
    assert (b.integers[:, : a.integers.shape[1]] == a.integers).all()


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_networks_with_other_classes_are_compared_in_one_launch():
    web = {"count": 8, "arrivals": {"poisson": "5 /s"}, "size": "20 kB"}
    short = {"duration": "2 s", "replications": 3}
    others = Scenario.check(data({**web, "each": {"class": "web"}}, VIDEO, {"class": "bulk"}, **short))
    mixed = Scenario.check(data(web, VIDEO, {}, **short))
    found = compare(others, mixed, target="cpu")
    for asked, part in ((others, found.baseline), (mixed, found.other)):
        alone = simulate(asked, target="cpu")
        assert (alone.integers == part.integers).all() and alone.frame.equals(part.frame)
    assert found.table.loc["video_delay_p95_s", "n"] == 3
    assert "web_delay_p95_s" not in found.table.index  # only one of the networks has this outcome
    frame = found.baseline.frame
    assert frame.web_mean_delay_s.notna().all()
    assert frame.web_mean_flow_bps.isna().all()  # only sums are defined for flows that arrive and depart


@pytest.mark.full
def test_goals_and_sweeps_know_classes():
    asked = Scenario.check(data(VIDEO, {}))
    found = estimate(asked, goals=["video_delay_p95_s <= 50 ms", "video_late <= 5 %"], target="cpu")
    assert found.goals.probability.tolist()[0] == (found.outcomes.frame.video_delay_p95_s <= 0.05).mean()
    assert "video_worst_flow_bps" in found.table.index and "video_late" in measurable.outcomes(asked)
    sweep = make_sweep({
        "scenario": data(VIDEO, {}), "axes": {"users": {"field": "shared.flows.0.count", "values": [1, 2]}},
        "outcomes": ["video_delay_p95_s"], "goals": {"late": "video_late <= 5 %"}, "keep": "replications",
    })  # fmt: skip
    chunk = run_chunk(json.dumps(sweep.definition), np.arange(2), version=model_version())
    assert chunk.cells["video_delay_p95_s"].to_numpy()[0] < chunk.cells["video_delay_p95_s"].to_numpy()[1]
    assert len(chunk.replications["video_late"].to_numpy()) == 16


PLAN = """\
name: videos
scenario: {scenario}
quantity: {{name: streams, field: shared.flows.0.count, linear: [1, 9]}}
requirements:
  wait: {{goal: video_delay_p95_s <= 30 ms, probability: 80 %}}
  lost: {{goal: video_loss_ratio + video_late <= 20 %, probability: 80 %}}
  each: {{goal: newreno_worst_flow_bps >= 300 kbit/s, probability: 80 %}}
replications: 400
"""


@pytest.mark.full
def test_a_plan_of_classes(tmp_path):
    file, out = tmp_path / "plan.yaml", tmp_path / "out"
    described = data(
        {**VIDEO, "each": {**VIDEO["each"], "late": "100 ms"}},
        {},
        transport={"protocol": "newreno", "window": 8},
    )
    described.pop("replications")
    file.write_text(PLAN.format(scenario=json.dumps(described)))
    answer = plan(load_plan(file), target="cpu")
    assert answer.holds is not None and answer.fails is not None and 1 <= answer.holds < answer.fails <= 9
    run = CliRunner()
    done = run.invoke(app, ["plan", str(file), "--out", str(out), "--target", "cpu"])
    assert done.exit_code == 0 and "95 % quantile" in done.output and "≤ 30 ms" in done.output
    again = run.invoke(app, ["plan", str(file), "--out", str(out), "--target", "cpu", "--json"])
    assert json.loads(again.output)["holds"] == answer.holds
    assert any("video delay" in page.read_text() for page in out.glob("*.html"))
    spec = yaml.safe_load(file.read_text())
    for goal, said in (
        ("vidoe_late <= 5 %", "did you mean 'video_late'?"),
        ("cheese_jitter_s <= 1 ms", "give flows a class to measure its delays"),
        ("video_late_s <= 1 s", "'video_late_s' is not an outcome"),
    ):  # fmt: skip
        with pytest.raises(InputError, match="requirements") as error:
            make_plan({**spec, "requirements": {"a": goal}})
        assert said in str(error.value)


def test_no_other_outcome_has_the_name_of_one_of_a_class():
    for outcome in OUTCOMES:
        assert BY_NAME[outcome.name] == outcome
        assert classes.outcome(outcome.name) is None, outcome.name
    late = BY_NAME["linux_cubic_late"]
    assert (
        late.name == "linux_cubic_late"
        and late.words == "late linux_cubic packets"
        and late.better == "less"
    )
    assert "video_late" in BY_NAME and "video" not in BY_NAME and "_late" not in BY_NAME


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flows": [{"class": "Video"}]}, "shared.flows.0.class = 'Video' is not a word"),
        ({"flows": [{"class": "a" * 25}]}, "is not a word of up to 24"),
        ({"flows": [{"late": "0 s"}]}, "expected 1 us to 3600 s"),
        ({"flows": [{"class": f"c{k}"} for k in range(8)] + [{}]}, "shared.flows have 9 classes"),
        ({"count": 2, "class": "video"}, "class belongs to each flow; write each: {class: video}"),
    ],
)
def test_what_cannot_be_measured_is_refused(change, said):
    flows = change.get("flows", [change])
    with pytest.raises(InputError) as error:
        estimate(Scenario.check(data(*flows)), target="cpu")
    assert said in str(error.value) and "\n" not in str(error.value)


def test_formulae_know_no_delays():
    says = r"does not support delays of classes \(shared.flows.0.each.class\); write fluid or packet"
    with pytest.raises(InputError, match=says):
        simulate(Scenario.check(data(VIDEO, fidelity="formula")), target="cpu")


@pytest.mark.full
def test_the_fluid_knows_its_queue_and_no_jitter():
    """A window that fills a buffer: the fluid has the delay of packets, but no jitter, so plans refuse
    it."""
    bulk = data({"class": "bulk", "window": 30}, transport={"protocol": "newreno", "window": 30})
    packets, asked = (Scenario.check(bulk | {"fidelity": each}) for each in ("packet", "fluid"))
    found, exact = (simulate(each, target="cpu").frame.mean() for each in (asked, packets))
    for name in ("mean_delay_s", *classes.QUANTILES):
        assert found[f"bulk_{name}"] == pytest.approx(exact[f"bulk_{name}"], rel=0.05), name
    have = set(measurable.outcomes(asked))
    assert "bulk_delay_p95_s" in have and "bulk_jitter_s" not in have and np.isnan(found.bulk_jitter_s)
    quantity = {"name": "window", "field": "shared.flows.0.window", "linear": [5, 30]}
    bulk.pop("replications")
    with pytest.raises(InputError, match="fluid"):
        make_plan({
            "name": "w", "scenario": bulk | {"fidelity": "fluid"}, "quantity": quantity,
            "requirements": {"wait": {"goal": "bulk_delay_p95_s <= 20 ms", "probability": "90 %"}},
        })  # fmt: skip


def test_each_quantile_of_a_class_is_that_of_its_level():
    """Quantiles equal a naive twin: the packets in order, each in the middle of its bin."""
    rng = np.random.default_rng(3)
    counted = np.zeros((1, 1, DelayOut.COLUMNS), np.int64)
    counts = counted[0, 0, DelayOut.DELAYS :]
    counts += rng.integers(1, 50, len(counts))
    counted[0, 0, DelayOut.PACKETS] = counts.sum()
    flow = classes.Counted(number=np.ones((1, 1), np.int64), **dict.fromkeys(
        ("bounded", "lost", "settled", "never", "goodput"), np.zeros((1, 1), np.int64)
    ))  # fmt: skip
    found = classes.named({0: "video"}, counted, flow)
    ends = edges(len(counts) + 1)
    packets = np.repeat((ends[:-1] + ends[1:]) / 2, counts) * 2.0**SHIFT / 1e9
    for name, share in (("delay_p50_s", 0.50), ("delay_p95_s", 0.95), ("delay_p99_s", 0.99)):
        expected = packets[int(share * len(packets))]
        assert found[f"video_{name}"][0] == pytest.approx(expected), name
