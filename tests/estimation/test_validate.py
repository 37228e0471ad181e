import math
import sys

import pandas as pd
import pytest

from netcarlo import InputError, simulate, validate
from netcarlo.estimation.reference import load_mapping, mapping_names, read_rows
from netcarlo.estimation.validate import COLUMNS, error_distribution
from tests.networks.references import KERNEL, LINKDOWN, LINUX, LOSSY, MANET, PAIR, WAYPOINT


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_the_mapping_is_found_by_the_name_of_the_file(tmp_path):
    assert {"ns2_linkdown", "ns2_lossy"} <= set(mapping_names())
    file = write(tmp_path, "ns2_lossy.csv", LOSSY)
    found = validate(file, target="cpu")
    assert list(found.rows.columns) == COLUMNS
    assert len(found.rows) == 2 * 8
    assert found.rows["class"].unique().tolist() == ["Reno, fixed", "Sack1, varies by seed"]
    goodput = found.rows[(found.rows["metric"] == "goodput_Bps") & (found.rows["id"] == "1")].iloc[0]
    # a window of 8 packets exceeds the BDP of 3.4: the link sends a packet every 8 ms
    assert goodput["estimate"] == pytest.approx(960 * 125, rel=0.01)
    assert goodput["rel_error"] == pytest.approx(goodput["estimate"] / 118000 - 1)
    assert math.isnan(goodput["z"])
    varied = found.rows[(found.rows["metric"] == "goodput_Bps") & (found.rows["id"] == "2")].iloc[0]
    scenario = read_rows(file, load_mapping("ns2_lossy"))[1].scenario
    sent = simulate(scenario, target="cpu").frame["acked"] * scenario.transport.payload / scenario.duration
    assert varied["estimate"] == pytest.approx(sent.mean(), rel=1e-12)
    standard_error = math.hypot(5000 / 4, sent.std() / math.sqrt(len(sent)))
    assert varied["z"] == pytest.approx((varied["estimate"] - 110000) / standard_error, rel=1e-9)


def test_linkdown_rows_become_their_scenarios(tmp_path):
    rows = read_rows(write(tmp_path, "x.csv", LINKDOWN), load_mapping("ns2_linkdown"))
    assert [row.scenario.transport.protocol for row in rows] == [
        "reno", "sack", "vegas", "tahoe", "newreno", "sctp", "sctp",
    ]  # fmt: skip
    assert [row.class_[:3] for row in rows] == ["(a)", "(b)", "(b)", "(c)", "(b)", "(b)", "(b)"]
    vegas, multi = rows[2].scenario, rows[6].scenario
    assert (vegas.transport.payload, vegas.transport.header) == (1500.0, 0.0)
    assert rows[0].scenario.transport.clock_phase == pytest.approx(0.0055588072)
    assert (multi.transport.receiver_window, multi.transport.path_max_retrans) == (29420.0, 0.0)
    assert (multi.paths[0].hops[0].rate, multi.paths[1].hops[0].rate) == (1e6, 5e5)
    assert (len(multi.paths[0].hops[0].outages), len(multi.paths[1].hops[0].outages)) == (1, 0)


def test_rows_that_cannot_be_compared_are_left_out(tmp_path):
    rows = read_rows(write(tmp_path, "x.csv", LINUX), load_mapping("ns2_linux"))
    assert [(row.id, row.class_) for row in rows] == [
        ("1", "reno"),
        ("3", "cubic, delayed ACKs"),
    ]
    reno, cubic = (row.scenario.transport for row in rows)
    assert reno.protocol == "linux26"
    assert (reno.congestion_control, reno.ack_every) == (None, 1)
    assert (reno.window, reno.initial_ssthresh) == (32768, 100000)
    assert (cubic.congestion_control, cubic.ack_every) == ("cubic", 2)
    assert (cubic.window, cubic.initial_ssthresh) == (63, 18)


@pytest.mark.full
def test_metrics_of_a_pair_name_each_of_its_flows(tmp_path):
    found = validate(write(tmp_path, "linux_kernel_pair.csv", PAIR), target="cpu")
    estimate = found.rows.set_index("metric").estimate
    assert found.rows["class"].unique().tolist() == ["reno, bbr"]
    both = estimate["goodput_1_Bps"] + estimate["goodput_2_Bps"]
    assert both == pytest.approx(estimate["total_goodput_Bps"], rel=1e-9)
    assert estimate["share_1"] == pytest.approx(estimate["goodput_1_Bps"] / both, abs=0.01)
    assert estimate["total_goodput_Bps"] == pytest.approx(1480000 / 8 * 1448 / 1500, rel=0.01)
    assert estimate["share_1"] < 0.3  # BBR fills a shallow queue
    assert estimate["mean_srtt_2_s"] > estimate["mean_srtt_1_s"] - 0.05
    rules = load_mapping("linux_kernel_pair")
    beyond = rules.model_copy(update={"numbered": 1})
    with pytest.raises(InputError, match="goodput_bps_2"):
        read_rows(write(tmp_path, "x.csv", PAIR), beyond)


@pytest.mark.full
def test_rows_of_the_kernel_become_scenarios_of_todays_linux(tmp_path):
    rows = read_rows(write(tmp_path, "x.csv", KERNEL), load_mapping("linux_kernel_bulk"))
    assert [(row.id, row.class_) for row in rows] == [
        ("1", "reno, fixed"), ("2", "bbr, fixed"), ("3", "cubic, varies by seed"),
    ]  # fmt: skip
    reno, bbr, cubic = (row.scenario for row in rows)
    assert (bbr.transport.protocol, bbr.transport.congestion_control) == ("linux", "bbr")
    assert (reno.transport.protocol, reno.transport.congestion_control) == ("linux", "reno")
    assert (cubic.transport.congestion_control, cubic.transport.window) == ("cubic", 24)
    assert reno.paths[0].hops[0].reverse.queue == 4000
    found = validate(write(tmp_path, "linux_kernel_bulk.csv", KERNEL), target="cpu").rows
    assert not found.estimate.isna().any()
    goodput = found[found.metric == "goodput_Bps"].set_index("id")
    assert abs(goodput.rel_error["1"]) < 0.05


def test_users_validate_against_their_own_measurements(tmp_path):
    write(tmp_path, "mine.yaml", """\
id: "{run}"
replications: 4
scenario:
  duration: 5 s
  transport: {protocol: newreno, window: "{win}"}
  hops: [{rate: "{mbps} Mbit/s", delay: 20 ms}]
classes: {"{mbps} Mbit/s": true}
metrics: {goodput: goodput_bps / 1e6}
""")  # fmt: skip
    path = write(tmp_path, "lab.csv", "run,win,mbps,goodput\na,20,2,1.9\nb,20,1,0\nc,20,1,\n")
    found = validate(path, mapping=str(tmp_path / "mine.yaml"), target="cpu")
    assert found.rows["class"].tolist() == ["2 Mbit/s", "1 Mbit/s", "1 Mbit/s"]
    assert found.rows["estimate"].between([1.8, 0.8, 0.8], [2.0, 1.0, 1.0]).all()
    assert found.rows["rel_error"][1] == math.inf
    assert math.isnan(found.rows["rel_error"][2])
    table = found.classes.loc["goodput"]
    assert table.loc["1 Mbit/s", ["rows", "compared"]].tolist() == [2, 1]


def test_mappings_have_defaults_and_tables_any_separator(tmp_path):
    mapping = write(tmp_path, "lab.yaml", """\
scenario:
  duration: 2 s
  transport: {protocol: newreno}
  hops: [{rate: "{mbps} Mbit/s", delay: 10 ms}]
metrics: {goodput: goodput_bps / 1e6}
""")  # fmt: skip
    rules = load_mapping(str(mapping))
    path = write(tmp_path, "lab.csv", "\ufeff# measured\nmbps;goodput\n1;0,9\n2;1,8\n")
    rows = read_rows(path, rules)
    assert [row.id for row in rows] == ["row 1", "row 2"]
    assert [row.columns["goodput"] for row in rows] == [0.9, 1.8]
    assert {row.class_ for row in rows} == {"all"}
    assert {row.scenario.replications for row in rows} == {40}


def test_all_missing_declarations_are_listed_at_once(tmp_path):
    mapping = write(tmp_path, "lab.yaml", """\
scenario: {duration: 2 s, transport: {protocol: newreno}, hops: [{rate: "{mbps} Mbit/s", delay: 10 ms}]}
metrics: {goodput: goodput_bps / speed, rtt: mean_rtt_s}
""")  # fmt: skip
    with pytest.raises(InputError) as error:
        read_rows(write(tmp_path, "lab.csv", "mbps\n1\n"), load_mapping(str(mapping)))
    lines = error.value.lines
    assert len(lines) == 2
    assert "columns 'goodput' and 'rtt' (or with _mean behind) are missing; known: mbps" in lines[0]
    assert "'speed'" in lines[1]
    text = "mbps,goodput,rtt,speed\n-1,1,1,1\n1,fast,1,1\n1,1,1,1\n"
    with pytest.raises(InputError) as error:
        read_rows(write(tmp_path, "lab.csv", text), load_mapping(str(mapping)))
    assert [line.partition(": ")[0].rpartition(":")[2] for line in error.value.lines] == ["2", "3"]
    with pytest.raises(InputError) as error:
        load_mapping(str(write(tmp_path, "empty.yaml", "description: x\nrows: a > 1\nvariants: []\n")))
    assert any("scenario" in line for line in error.value.lines)
    assert any("metrics" in line for line in error.value.lines)


BAD = [
    ("x.csv", LOSSY, "mapping 'x' is unknown"),
    ("ns2_lossy.csv", LOSSY.replace("rate_bps", "rate"), r"'rate_bps' is not a column"),
    ("ns2_lossy.csv", LOSSY.replace("timeouts_mean", "rto_mean"), "column 'timeouts' .* is missing"),
    (
        "ns2_lossy.csv",
        LOSSY.replace("2,Sack1,1000000,10", "2,Sack1,1000000,-10"),
        "ns2_lossy.csv:4: .*delay.* below",
    ),
    (
        "ns2_lossy.csv",
        LOSSY.replace("2,Sack1", "2,Cubik"),
        "ns2_lossy.csv:4: .*'cubik' is an unknown protocol",
    ),
    ("ns2_lossy.csv", LOSSY.replace("110000,", "fast,"), "goodput_Bps_mean = 'fast' is not a number"),
    ("ns2_lossy.csv", LOSSY + "3,Reno\n", "ns2_lossy.csv:5: has 2 values, but there are 26 column names"),
    ("ns2_lossy.csv", "# only\n", "has no rows"),
    ("ns2_lossy.csv", LOSSY.replace("n_seeds", "id"), "column 'id' is given twice"),
]


def test_a_mapping_that_refers_to_nothing_is_refused(tmp_path):
    mapping = load_mapping("ns2_lossy")
    path = write(tmp_path, "x.csv", LOSSY)
    for metrics, complaint in (
        ({"timeouts": "timeout"}, "'timeout' is neither an outcome nor a column; did you mean 'timeouts'"),
        ({"timeouts": "timeouts +"}, "not an expression"),
    ):
        with pytest.raises(InputError, match=complaint):
            read_rows(path, mapping.model_copy(update={"metrics": metrics}))


@pytest.mark.parametrize(("name", "text", "complaint"), BAD, ids=[complaint for *_, complaint in BAD])
def test_bad_references_are_refused_before_any_work(tmp_path, monkeypatch, name, text, complaint):
    monkeypatch.setattr(sys.modules["netcarlo.estimation.validate"], "simulate_all", None)
    with pytest.raises(InputError, match=complaint) as error:
        validate(write(tmp_path, name, text), target="cpu")
    assert "\n" not in str(error.value)


def test_the_error_distribution_is_what_its_names_say():
    rows = pd.DataFrame(
        {
            "reference": [100.0] * 10 + [math.nan],
            "estimate": [100.0 + k for k in range(10)] + [5.0],
            "rel_error": [k / 100 for k in range(10)] + [math.nan],
            "z": [3.0, -4.0] + [math.nan] * 9,
        }
    )
    found = error_distribution(rows)
    assert (found["rows"], found["compared"]) == (11, 10)
    assert (found["median"], found["p90"], found["worst"]) == (0.05, 0.09, 0.09)
    assert found["bias"] == pytest.approx(0.045)
    assert found["absolute_p90"] == 9.0
    assert found["z_rms"] == pytest.approx(math.sqrt(12.5))


def test_a_ratio_is_that_of_the_sums(tmp_path):
    """A ratio is computed as if all runs were one, so runs are weighted by their denominators."""
    mapping = write(
        tmp_path, "own.yaml",
        """
        replications: 40
        scenario:
          duration: 1 s
          transport: {protocol: newreno, packets: 20}
          hops: [{rate: 1 Mbit/s, delay: {uniform: [1 ms, 60 ms]}, loss: 10 %}]
        classes: {all: true}
        metrics:
          per_run: completion_s
          pooled: {sum: completion_s, over: retransmitted}
        """,
    )  # fmt: skip
    file = write(tmp_path, "x.csv", "id,per_run,pooled\n1,1,1\n")
    rows = validate(file, mapping=str(mapping), target="cpu").rows.set_index("metric")
    frame = simulate(read_rows(file, load_mapping(str(mapping)))[0].scenario, target="cpu").frame
    done = frame[frame["completion_s"].notna()]
    assert 0 < len(done) < 40
    pooled = rows.loc["pooled"]
    assert pooled["estimate"] == pytest.approx(done["completion_s"].sum() / done["retransmitted"].sum())
    assert pooled["ci_low"] < pooled["estimate"] < pooled["ci_high"]
    # The jackknife over runs gives the same spread.
    parts = [done.drop(k) for k in done.index]
    each = pd.Series([part["completion_s"].sum() / part["retransmitted"].sum() for part in parts])
    spread = math.sqrt(len(done) - 1) * each.std(ddof=0)
    assert (pooled["ci_high"] - pooled["ci_low"]) / 4.1 == pytest.approx(spread, rel=0.2)
    file = write(tmp_path, "y.csv", "id,rare\n1,1\n")
    text = (
        mapping.read_text()[: mapping.read_text().index("per_run")] + "rare: {sum: timeouts, over: handover}"
    )
    with pytest.raises(InputError, match="'handover' is neither an outcome nor a column; did you mean"):
        validate(file, mapping=str(write(tmp_path, "rare.yaml", text)), target="cpu")


def test_ad_hoc_rows_become_their_scenarios(tmp_path):
    rows = read_rows(write(tmp_path, "x.csv", MANET), load_mapping("ns_manet"))
    assert [row.class_ for row in rows] == ["150.0 m, none", "150.0 m, phy", "250.0 m, residual"]
    networks = [row.scenario.adhoc for row in rows]
    errors = [(network.frame_error, network.residual_error) for network in networks]
    assert errors == [(0, 0), (0.05, 0), (0, 0.05)]
    assert [network.mobility.speed for network in networks] == [14, 6, 8]
    assert [network.mobility.warm_up for network in networks] == [0, 0, 0]


@pytest.mark.full
def test_random_waypoint_is_that_of_another_program(tmp_path):
    """Shares agree within 1 % or 2 %, rates and lifetimes within 5 %, although that program samples links
    every 0.1 s."""
    rows = validate(write(tmp_path, "x.csv", WAYPOINT), mapping="ns_manet_rwp", target="cpu").rows
    wrong = (rows["estimate"] - rows["reference"]).abs()
    share = rows["metric"].str.contains("fraction|p_hops|hops")
    allowed = (rows["reference"] * 0.02).clip(lower=0.01).where(share, rows["reference"] * 0.05)
    assert len(rows) == 15
    assert rows["metric"][wrong > allowed].tolist() == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (",16,118000", ",0,118000", "x.csv:3: n_seeds = 0 is out of range; expected 1 or more"),
        (",16,118000", ",,118000", "x.csv:3: n_seeds = nan is out of range"),
        (",16,118000", ",1e400,118000", "x.csv:3: n_seeds = inf is out of range"),
        ("118000", "9" * 500, r"x.csv:3: goodput_Bps_mean = .* is not a number"),
        (",960,", ",some,", "x.csv:3: metrics.goodput_Bps: 'acked .* packet_bytes .* has no value"),
    ],
)
def test_a_reference_with_what_is_no_number_is_refused_before_any_work(tmp_path, old, new, complaint):
    assert old in LOSSY
    file = write(tmp_path, "x.csv", LOSSY.replace(old, new, 1))
    with pytest.raises(InputError, match=complaint) as caught:
        read_rows(file, load_mapping("ns2_lossy"))
    assert "\n" not in str(caught.value)


def test_a_mapping_whose_replications_are_no_number_is_refused(tmp_path):
    mapping = load_mapping("ns2_lossy").model_copy(update={"replications": "{tcp}"})
    with pytest.raises(InputError, match=r"x.csv:3: replications = 'Reno' is not a whole number"):
        read_rows(write(tmp_path, "x.csv", LOSSY), mapping)


COUNTERS = """\
scenario:
  duration: 6 s
  warm_up: 3 s
  transport: {protocol: newreno}
  shared:
    dumbbell: {rate: 2 Mbit/s, delay: 10 ms, queue: 10}
    flows: [{start: {uniform: [0 s, 1 s]}}, {start: {uniform: [0 s, 1 s]}}]
id: "{id}"
replications: 3
numbered: 2
classes: {"all": true}
metrics: {sent: sent_whole_run, window: sent, first: sent_1_whole_run}
"""


def test_metrics_may_count_whole_runs(tmp_path):
    """Packets sent during the warm-up count in metrics of the whole run, and not in others."""
    mapping = write(tmp_path, "counters.yaml", COUNTERS)
    file = write(tmp_path, "x.csv", "id,sent_mean,window_mean,first_mean,n_seeds\n1,100,100,100,3\n")
    found = validate(file, mapping=str(mapping), target="cpu").rows.set_index("metric")["estimate"]
    scenario = read_rows(file, load_mapping(str(mapping)))[0].scenario
    window, whole = (
        simulate(scenario.model_copy(update={"warm_up": start}), target="cpu").frame["sent"].mean()
        for start in (3.0, None)
    )
    assert (found["sent"], found["window"]) == (whole, window) and window < 0.7 * whole
    assert 0.2 * whole < found["first"] < 0.8 * whole
    write(tmp_path, "counters.yaml", COUNTERS.replace("sent_whole_run", "sent_of_the_whole_run"))
    with pytest.raises(InputError, match=r"metrics\.sent: .*sent_of_the_whole_run"):
        validate(file, mapping=str(mapping), target="cpu")
