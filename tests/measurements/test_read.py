"""Readers of measurements: real files of iperf3 (two network namespaces joined at 10 Mbit/s, 20 ms each way,
a queue of 50 packets), files with the structure of flent and FlowMonitor, and tables."""

import gzip
import json
import math
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.measurements import Measurement, read

DATA = Path(__file__).parent / "data"


def one(path: Path) -> Measurement:
    found = read(path)
    assert len(found) == 1
    return found[0]


def data(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


def written(tmp_path: Path, content: Any, name: str = "run.json") -> Path:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def refused(path: Path) -> tuple[str, ...]:
    with pytest.raises(InputError) as error:
        read(path)
    assert all(line.startswith(str(path)) for line in error.value.lines)
    return error.value.lines


# iperf3


def test_omitted_intervals_are_left_out_and_times_count_from_the_start() -> None:
    run, file = one(DATA / "iperf3_tcp.json"), data("iperf3_tcp")
    assert run.program == "iperf3 3.12"
    assert (run.start_s, run.end_s) == pytest.approx((2, 12), abs=0.01)
    assert run.values["goodput_bps"] == file["end"]["sum_received"]["bits_per_second"]
    assert run.values["retransmitted"] == file["end"]["sum_sent"]["retransmits"] == 4
    kept = [row["streams"][0] for row in file["intervals"] if not row["streams"][0]["omitted"]]
    assert len(kept) == 10
    curve = run.curves["goodput_bps"]
    assert curve.values.tolist() == [row["bits_per_second"] for row in kept]
    assert curve.start_s[0] == pytest.approx(2, abs=0.01)
    assert run.curves["retransmitted"].values.sum() == 4
    # mean_rtt of the summary includes the omitted intervals
    mean = sum(row["rtt"] for row in kept) / len(kept) * 1e-6
    assert run.values["mean_rtt_s"] == pytest.approx(mean, rel=1e-3)
    assert run.values["mean_rtt_s"] != pytest.approx(
        file["end"]["streams"][0]["sender"]["mean_rtt"] * 1e-6, rel=1e-3
    )
    assert run.curves["mean_cwnd_packets"].values[0] == kept[0]["snd_cwnd"] / 1448
    assert run.setting["congestion control"] == "cubic"
    assert "loss_ratio" in run.missing


def test_streams_are_added_and_their_rtt_averaged() -> None:
    run, file = one(DATA / "iperf3_two_streams.json"), data("iperf3_two_streams")
    assert [flow.name for flow in run.flows] == ["stream 1", "stream 2"]
    each = [stream["receiver"]["bits_per_second"] for stream in file["end"]["streams"]]
    assert [flow.values["goodput_bps"] for flow in run.flows] == each
    assert run.values["goodput_bps"] == file["end"]["sum_received"]["bits_per_second"]
    assert run.values["retransmitted"] == 254 == run.curves["retransmitted"].values.sum()
    first = [row["bits_per_second"] for row in file["intervals"][0]["streams"]]
    assert run.curves["goodput_bps"].values[0] == pytest.approx(sum(first))
    rtts = [row["rtt"] * 1e-6 for row in file["intervals"][0]["streams"]]
    assert run.curves["mean_rtt_s"].values[0] == pytest.approx(sum(rtts) / 2)


def test_udp_has_losses_and_no_rtt() -> None:
    run, file = one(DATA / "iperf3_udp.json"), data("iperf3_udp")
    assert run.values["loss_ratio"] == pytest.approx(1085 / 6215)
    assert run.values["goodput_bps"] == file["end"]["sum_received"]["bits_per_second"]
    assert "RFC 3550" in run.missing["jitter_s"]
    assert "UDP has no acknowledgements" in run.missing["mean_rtt_s"]
    assert set(run.curves) == {"goodput_bps"}
    back = one(DATA / "iperf3_udp_reverse.json")
    assert back.setting["direction"].startswith("server to client")
    assert set(back.curves) == {"goodput_bps", "loss_ratio"}


def test_before_iperf_3_11_the_goodput_of_udp_is_the_sent_rate_less_losses(tmp_path: Path) -> None:
    file = data("iperf3_udp")
    for name in ("sum_sent", "sum_received"):
        del file["end"][name]
    run = one(written(tmp_path, file))
    total = file["end"]["sum"]
    assert run.values["goodput_bps"] == pytest.approx(total["bits_per_second"] * (1 - 1085 / 6215))


def test_bidirectional_runs_count_the_streams_of_the_client() -> None:
    run, file = one(DATA / "iperf3_bidir.json"), data("iperf3_bidir")
    assert run.values["goodput_bps"] == file["end"]["sum_received"]["bits_per_second"]
    assert len(run.flows) == 1
    assert any("--bidir" in note for note in run.notes)


def test_reverse_says_why_there_is_no_rtt(tmp_path: Path) -> None:
    file = data("iperf3_tcp")
    file["start"]["test_start"]["reverse"] = 1
    for row in file["intervals"]:
        for stream in row["streams"]:
            for name in ("rtt", "rttvar", "retransmits", "snd_cwnd"):
                stream.pop(name)
    file["end"]["streams"][0]["sender"] = {
        "socket": 5,
        "seconds": 10,
        "bits_per_second": 9e6,
        "sender": False,
    }
    del file["end"]["sum_sent"]["retransmits"]
    run = one(written(tmp_path, file))
    assert set(run.values) == {"goodput_bps"}
    assert "--reverse" in run.missing["mean_rtt_s"]


def test_a_short_last_interval_is_left_out(tmp_path: Path) -> None:
    file = data("iperf3_tcp")
    tail = json.loads(json.dumps(file["intervals"][-1]))
    for row in (*tail["streams"], tail["sum"]):
        row.update(start=row["end"], end=row["end"] + 0.04, bits_per_second=0)
    file["intervals"].append(tail)
    assert len(one(written(tmp_path, file)).curves["goodput_bps"].values) == 10


def test_lines_of_json_stream_are_the_same_run(tmp_path: Path) -> None:
    file = data("iperf3_tcp")
    events = [{"event": "start", "data": file["start"]}]
    events += [{"event": "interval", "data": row} for row in file["intervals"]]
    events += [{"event": "end", "data": file["end"]}]
    run = one(written(tmp_path, "\n".join(map(json.dumps, events)) + "\n"))
    assert run.values == one(DATA / "iperf3_tcp.json").values


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    text = (DATA / "iperf3_tcp.json").read_text() + (DATA / "iperf3_tcp_again.json").read_text()
    found = read(written(tmp_path, text))
    assert [run.source.rpartition(", ")[2] for run in found] == ["run 1", "run 2"]
    assert found[1].values == one(DATA / "iperf3_tcp_again.json").values


def test_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    packed = tmp_path / "run.json.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + (DATA / "iperf3_tcp.json").read_bytes()))
    assert one(packed).values == one(DATA / "iperf3_tcp.json").values


def test_all_wrong_fields_are_named_at_once(tmp_path: Path) -> None:
    file = data("iperf3_tcp")
    file["end"]["sum_received"]["bits_per_second"] = "fast"
    file["intervals"][3]["streams"][0]["rtt"] = [1]
    del file["intervals"][4]["streams"][0]["end"]
    lines = refused(written(tmp_path, file))
    assert len(lines) == 3
    for part in (
        'end.sum_received.bits_per_second = "fast" is not a number',
        "intervals.3.streams.0.rtt = [1] is not a number",
        "has no number intervals.4.streams.0.end",
    ):
        assert any(part in line for line in lines)


def test_runs_without_a_result(tmp_path: Path) -> None:
    assert "interrupt" in refused(DATA / "iperf3_failed.json")[0]
    error = {"start": {"connected": []}, "intervals": [], "end": {}, "error": "unable to connect to server"}
    assert "unable to connect to server" in refused(written(tmp_path, error))[0]
    text = (DATA / "iperf3_tcp.json").read_text()
    (line,) = refused(written(tmp_path, text[: len(text) // 2]))
    assert re.search(r"line \d+: is not complete JSON", line)


# flent


def flent(**more: list[float | None]) -> dict[str, Any]:
    """Return a flent file of a test of 4 s with 1 s of pings before and after it, in steps of 0.5 s."""
    x = [0.5 * k for k in range(12)]
    upload = [None] * 2 + [8.0, 10.0] * 4 + [None] * 2
    series = {
        "TCP upload": upload,
        "Ping (ms) ICMP": [20.0] * 2 + [40.0] * 8 + [20.0] * 2,
        "TCP totals": upload,
        "TCP upload avg": upload,
        "cpu_stats_host::load": [None] * 12,
    }
    metadata = {
        "NAME": "tcp_1up", "TITLE": "lab", "LENGTH": 4, "TOTAL_LENGTH": 6, "STEP_SIZE": 0.5,
        "FLENT_VERSION": "2.1.1", "SERIES_META": {"TCP upload": {"UNITS": "Mbits/s", "MEAN_VALUE": 8.9}},
    }  # fmt: skip
    return {"version": 4, "x_values": x, "results": series | more, "metadata": metadata, "raw_values": {}}


def test_flent_counts_pings_while_flows_send(tmp_path: Path) -> None:
    run = one(written(tmp_path, flent(), "run.flent"))
    assert run.program == "flent 2.1.1"
    assert run.values == pytest.approx({"goodput_bps": 8.9e6, "mean_rtt_s": 0.04})
    assert run.end_s == pytest.approx(4)
    assert run.curves["goodput_bps"].mean() == pytest.approx(9e6)
    assert any("pings" in note for note in run.notes)
    assert "retransmissions" in run.missing["retransmitted"]
    packed = tmp_path / "run.flent.gz"
    packed.write_bytes(gzip.compress(json.dumps(flent()).encode()))
    assert one(packed).values == run.values


def test_flent_prefers_the_rtt_of_the_flow_and_adds_flows(tmp_path: Path) -> None:
    gaps = [None] * 2 + [2.0, None, None, 2.0, None, 2.0, None, 2.0] + [None] * 2
    more = {"TCP upload::2": gaps, "TCP upload::tcp_rtt": [None] * 2 + [60.0] * 8 + [None] * 2}
    more["TCP download BE"] = [None] * 2 + [50.0] * 8 + [None] * 2
    run = one(written(tmp_path, flent(**more), "run.flent"))
    assert run.values["mean_rtt_s"] == pytest.approx(0.06)
    assert run.values["goodput_bps"] == pytest.approx(10.9e6)
    assert run.curves["goodput_bps"].values.tolist() == pytest.approx([10e6, 12e6] * 4)
    assert any("1 download" in note for note in run.notes)
    assert any("1 of 2 flows" in note for note in run.notes)


def test_flent_errors_name_series(tmp_path: Path) -> None:
    lines = refused(
        written(tmp_path, flent(**{"TCP upload": [1.0, "x"], "Ping (ms) ICMP": [1.0]}), "a.flent")
    )
    assert len(lines) == 2
    assert "results.Ping (ms) ICMP has 1 values; expected 12, as x_values" in lines[0]
    assert 'results.TCP upload.1 = "x" is not a number or null' in lines[1]
    file = flent()
    file["results"] = {"HTTP latency": [1.0] * 12}
    assert "no series of TCP uploads" in refused(written(tmp_path, file, "b.flent"))[0]


# FlowMonitor


def test_flow_monitor() -> None:
    run = one(DATA / "flows.xml")
    assert run.values == pytest.approx(
        {
            "goodput_bps": 8 * (1_500_000 - 52 * 1000) / 10, "throughput_bps": 1.2e6, "loss_ratio": 10 / 1010,
            "mean_delay_s": 0.02, "jitter_s": 0.001,
        }
    )  # fmt: skip
    assert run.setting == {"protocol": "TCP", "flows": "1"}
    assert any("1 flow of ACKs" in note for note in run.notes)
    assert run.end_s == pytest.approx(10)


def test_flow_monitor_faults_have_lines(tmp_path: Path) -> None:
    text = (DATA / "flows.xml").read_text()
    bad = text.replace('delaySum="+2.0e+10ns"', 'delaySum="long"').replace(
        'rxPackets="500"', 'rxPackets="-1"'
    )
    lines = refused(written(tmp_path, bad, "flows.xml"))
    assert len(lines) == 2
    assert "line 4: flow 1 has delaySum = 'long'; expected a time such as" in lines[0]
    assert "line 10: flow 2 has rxPackets = '-1'; expected a number" in lines[1]
    assert (
        "line 12: is not XML" in refused(written(tmp_path, "\n".join(text.splitlines()[:12]), "cut.xml"))[0]
    )
    entity = text.replace("<FlowMonitor>", '<!DOCTYPE a [<!ENTITY b "c">]>\n<FlowMonitor>', 1)
    assert "declares an entity" in refused(written(tmp_path, entity, "entity.xml"))[0]


@given(st.floats(1, 1e6), st.sampled_from(["ns", "us", "ms", "s"]))
def test_times_of_flow_monitor_have_units(length: float, unit: str) -> None:
    from netcarlo.measurements.flowmon import parse

    factor = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]
    text = (DATA / "flows.xml").read_text()
    text = text.replace('timeLastRxPacket="+1.1e+10ns"', f'timeLastRxPacket="{length + 1 / factor!r}{unit}"')
    assert math.isclose(parse(text, "x").end_s, length * factor, rel_tol=1e-6)


# Tables


def test_a_table_has_a_run_in_each_row(tmp_path: Path) -> None:
    text = "run;goodput_mbps;rtt (ms);Retr;loss %;comment\n1;9,4;44;3;0,5;ok\n2;9,2;45;;0;ok\n"
    first, second = read(written(tmp_path, text, "runs.csv"))
    assert first.values == pytest.approx(
        {"goodput_bps": 9.4e6, "mean_rtt_s": 0.044, "retransmitted": 3, "loss_ratio": 0.005}
    )
    assert "retransmitted" not in second.values
    assert second.source.endswith("line 3")
    assert "comment" in first.notes[0]
    assert math.isnan(first.start_s)


def test_a_table_over_time(tmp_path: Path) -> None:
    text = "# drive\ntime_s,goodput_bps,rtt_ms,retransmits\n100,1e6,40,1\n101,3e6,-,2\n103,5e6,60,0\n"
    run = one(written(tmp_path, text, "run.csv"))
    assert (run.start_s, run.end_s) == (0, 5)
    assert run.values == pytest.approx(
        {
            "goodput_bps": (1 + 2 * 3 + 2 * 5) * 1e6 / 5,
            "mean_rtt_s": (0.04 + 2 * 0.06) / 3,
            "retransmitted": 3,
        }
    )
    assert run.curves["goodput_bps"].end_s.tolist() == [1, 3, 5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time_s,rssi\n0,1\n1,2\n", "no column with a quantity"),
        ("rtt,goodput_mbps\n44,1\n", "column 'rtt' has numbers without a unit"),
        ("rtt_ms,rtt_s\n44,1\n", "two columns for mean_rtt_s"),
        ("time_s,rtt_ms\n0,1\n0,2\n", "line 3: the time is missing or does not increase"),
        ("rtt_ms\n", "no rows"),
        ("1,2\n3,4\n", "no line of column names"),
        ("rtt_ms\nslow\n", "line 2"),
    ],
)
def test_tables_are_refused_with_a_remedy(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(written(tmp_path, text, "run.csv"))[0]


# Damaged files

_ANY = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=3), st.just([]), st.just({})
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["iperf3_tcp", "iperf3_udp", "iperf3_bidir", "flent"]), st.data())
def test_a_changed_value_is_read_or_refused(name: str, drawn: st.DataObject) -> None:
    """Replace or remove one value of a file at random: there is a run, or an error with its reason."""
    file = flent() if name == "flent" else data(name)
    at: Any = file
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = drawn.draw(st.sampled_from(keys))
        deeper = isinstance(at[key], dict | list) and len(at[key]) > 0
        if not deeper or drawn.draw(st.integers(0, 4)) == 0:
            break
        at = at[key]
    if drawn.draw(st.booleans()):
        at[key] = drawn.draw(_ANY)
    else:
        del at[key]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_text(json.dumps(file))
        with suppress(InputError):
            found = read(path)
            assert all(math.isfinite(value) for run in found for value in run.values.values())


# Files of other kinds


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"\xd4\xc3\xb2\xa1\x02\x00",
            "this is a packet capture (pcap), not a measurement; write its rates as CSV",
        ),
        (b"\x0a\x0d\x0d\x0a\x1c\x00", "this is a packet capture (pcapng)"),
        (b"Connecting to host 10.0.0.1, port 5201\n", "run iperf3 with --json"),
        (b"PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n", "the output of ping"),
        (b"<graphml><graph/></graphml>", "a topology"),
        (b'{"nodes": [], "links": []}', "is JSON of another program (its keys are links, nodes)"),
    ],
)
def test_other_files_are_identified(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert said in refused(path)[0]
    path.write_bytes(gzip.compress(content))
    assert said in refused(path)[0]


def test_estimate_points_measurements_to_compare() -> None:
    from netcarlo.scenario import scenario_of

    for name in ("iperf3_tcp.json", "flows.xml"):
        with pytest.raises(
            InputError, match=r"this is a measurement \(.*\), not a scenario; run netcarlo compare"
        ):
            scenario_of(DATA / name)


def test_curve_mean_weighs_by_length() -> None:
    from netcarlo.measurements.record import Curve, averaged

    curve = Curve(np.array([0.0, 1, 4]), np.array([1.0, 4, 5]), np.array([1.0, 2, np.nan]))
    assert curve.mean() == pytest.approx(7 / 4)
    other = curve._replace(values=np.array([3.0, np.nan, np.nan]))
    np.testing.assert_equal(averaged([curve, other]).values, [2, 2, np.nan])


def test_the_output_of_the_server_is_the_curve_of_what_arrived(tmp_path: Path) -> None:
    """With `--get-server-output` the curve is the receiver's; without, it is what the sender wrote."""
    data = json.loads((Path(__file__).parent / "data" / "iperf3_tcp.json").read_text())
    assert read(_written(tmp_path / "sender.json", data))[0].written
    rows = [
        {"sum": {"start": t, "end": t + 1, "bits_per_second": 1e6 * (t + 1), "omitted": False}}
        for t in range(3)
    ]
    data["server_output_json"] = {"start": {}, "intervals": rows, "end": {}}
    found = read(_written(tmp_path / "both.json", data))[0]
    assert not found.written
    assert found.curves["goodput_bps"].values.tolist() == [1e6, 2e6, 3e6]


def _written(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data))
    return path
