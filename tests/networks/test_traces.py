"""Traces in common formats."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import Scenario
from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import Hop
from netcarlo.networks.traces import parse, trace
from netcarlo.scenario import load_scenario
from netcarlo.simulation.ensemble import build

HEADERS = {
    "time_s,rate_kbps": 1e3, "time (s),rate (kbit/s)": 1e3, "Time [s];Throughput [kbit/s]": 1e3,
    "timestamp\tdownlink bandwidth mbps": 1e6, "t,throughputMbps": 1e6, "time_s,rate Mb/s": 1e6,
    "time_ms,bw_kBps": 8e3, "time_s rate_bps": 1.0, "# time_s rate_mbps": 1e6,
}  # fmt: skip


@pytest.mark.parametrize(("header", "factor"), HEADERS.items())
def test_units_and_separators_are_those_of_the_header(header: str, factor: float) -> None:
    separator = next((one for one in "\t;," if one in header), " ")
    step = 1000 if "_ms" in header else 1
    rows = [f"{(1_700_000_000 + k) * step}{separator}{5000 + k}" for k in (0, 1, 3)]
    found = parse("\n".join([header, *rows]))
    assert found.times_s == (0, 1, 3) and found.end_s == 5
    assert found.columns["rate"] == pytest.approx([5000 * factor, 5001 * factor, 5003 * factor], rel=1e-12)


TIMES = {
    "dates with points": ["2021.03.01_23.59.58", "2021.03.01_23.59.59", "2021.03.02_00.00.01"],
    "ISO 8601": ["2024-05-01T23:59:58Z", "2024-05-01T23:59:59Z", "2024-05-02T00:00:01Z"],
    "zones": ["2024-05-01 23:59:58+0200", "2024-05-01 22:59:59+01:00", "2024-05-01T22:00:01Z"],
    "time of day": ["23:59:58", "23:59:59", "00:00:01"],
    "fractions": ["2024/5/1 08:00:00.25", "2024/5/1 08:00:01.25", "2024/5/1 08:00:03.25"],
    "since 1970 in ms": ["1700000000000", "1700000001000", "1700000003000"],
    "since 1970 in ns": ["1700000000000000000", "1700000001000000000", "1700000003000000000"],
    "numbers with units": ["5 s", "6000 ms", "8 s"],
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES.keys())
def test_times_are_counted_from_the_first(times: list[str]) -> None:
    found = parse("\n".join(["time,rate_mbps", *(f"{at},{k}" for k, at in enumerate(times, 1))]))
    assert found.times_s == pytest.approx((0, 1, 3), abs=1e-6) and found.end_s == pytest.approx(5)


def test_a_log_with_other_columns_is_read_by_naming_those_to_use() -> None:
    text = """Timestamp,Speed,DL_bitrate,UL_bitrate,PINGAVG
2021.03.01_08.00.00,0,0,0,-
2021.03.01_08.00.00,0,0,0,40
2021.03.01_08.00.03,12,8000,300,-
2021.03.01_08.00.04,14,8000,200,60
2021.03.01_08.00.04,14,4000,250,20
2021.03.01_08.00.05,15,12000,400,-
"""
    with pytest.raises(InputError, match=r"several columns for the rate \(DL_bitrate, UL_bitrate\)") as error:
        parse(text)
    assert "trace: {file: FILE, time: Timestamp, rate: DL_bitrate kbit/s}" in str(error.value)
    asked = {"time": "Timestamp", "rate": "DL_bitrate kbit/s", "delay": "PINGAVG ms / 2"}
    found = trace({"file": text, **asked})
    assert found.times_s == (0, 3, 4, 5) and found.end_s == 6
    assert found.columns == {"rate": (0, 8e6, 6e6, 12e6), "delay": (0.02, 0.02, 0.02, 0.02)}
    assert found.mean("rate") == pytest.approx(26e6 / 6)
    assert "2 rows with the time of the row before averaged" in found.notes
    assert "4 steps over 6 s; rate 4.333 Mbit/s on average, 12 Mbit/s at most, 0 in 50 %" in found.summary()


def test_rules_for_gaps_missing_values_and_the_last_row() -> None:
    found = parse("time_s,rate_mbps\n0,-\n1,4\n2,\n3,NaN\n10,6\n11,2e-5\n")
    assert found.times_s == (0, 1, 2, 9, 10) and found.end_s == 11
    assert found.columns["rate"] == (4e6, 4e6, 4e6, 6e6, 0)
    bounded = trace({"file": "time_s,rate_mbps\n0,4\n1,4\n10,6\n11,5\n", "gap": "2 s"})
    assert bounded.times_s == (0, 1, 3, 10, 11) and bounded.columns["rate"] == (4e6, 4e6, 0, 6e6, 5e6)
    with pytest.raises(InputError, match="sort the rows by time"):
        parse("time_s,rate_mbps\n0,4\n5,4\n4,6\n")


def test_byte_order_marks_comments_line_ends_compression_and_decimal_commas(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\ufeff# exported\r\ntime_s;rate_mbps\r\n0;5,5\r\n1;6\r\n2;\r\n"
    (tmp_path / "log.csv").write_bytes(text.encode())
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("log.csv", "log.csv.gz"):
        found = trace(name)
        assert found.columns["rate"] == (5.5e6, 6e6) and found.end_s == 2
    assert parse("# opportunities\n1\n\n1\n3\n").packets.tolist() == [2, 1]


def test_the_history_of_a_dish_is_a_ring() -> None:
    history = {"current": "6", "popPingLatencyMs": [40, 0, 20, 30], "popPingDropRate": [0.1, 1, 0, 0.5]}
    found = parse(json.dumps({"dishGetHistory": history}))  # written last: 40, 0; first: 20, 30
    assert found.columns == {"delay": (0.01, 0.015, 0.02, 0.02), "loss": (0, 0.5, 0.1, 1)}
    assert found.end_s == 4
    with pytest.raises(InputError, match="is JSON without popPingLatencyMs"):
        parse('{"outcomes": {}}')


def test_units_that_may_be_bits_or_bytes_are_refused() -> None:
    with pytest.raises(InputError, match="which may be bits or bytes; name the unit"):
        parse("time_s,rate_Bps\n0,4\n5,4\n")
    assert trace({"file": "time_s,rate_Bps\n0,400\n5,400\n", "rate": "rate_Bps B/s"}).mean("rate") == 3200


ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.floats(0, 1e9) | st.none(), st.floats(0, 10) | st.none()),
    min_size=2, max_size=20,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(ROWS, st.booleans())
def test_an_import_carries_what_the_rows_carry(rows: list, ends: bool) -> None:
    """The twin walks row by row; the text of an import is read back to the same trace."""
    at, lines, steps, rate, delay = 0, ["time_s,rate_bps,delay_s"], [], None, None
    for gap, one, other in rows:
        at += gap
        lines.append(f"{at},{'' if one is None else repr(one)},{'-' if other is None else repr(other)}")
        steps.append((at, one, other))
    if ends:
        lines.append(f"{at + 3},,")
    try:
        found = parse("\n".join(lines))
    except InputError:
        return
    body = steps if ends or not (steps[-1][1] is None and steps[-1][2] is None) else steps[:-1]
    end = at + 3 if ends else (at if len(body) < len(steps) else None)
    while body and body[0][1] is None and body[0][2] is None:
        body = body[1:]
    times = sorted({time for time, _, _ in body})
    expected = []
    for time in times:
        rates = [one for t, one, _ in body if t == time and one is not None]
        delays = [other for t, _, other in body if t == time and other is not None]
        rate = sum(rates) / len(rates) if rates else rate
        delay = sum(delays) / len(delays) if delays else delay
        expected.append((rate, delay))
    first = [next((x[k] for x in expected if x[k] is not None), 0.0) for k in (0, 1)]
    wanted = [(first[0] if r is None else r, first[1] if d is None else d) for r, d in expected]
    wanted = [(0.0 if r < 100 else r, d) for r, d in wanted]
    assert found.times_s == pytest.approx([time - times[0] for time in times])
    assert pytest.approx(np.array(wanted)) == np.array([found.columns["rate"], found.columns["delay"]]).T
    assert found.end_s == pytest.approx((2 * times[-1] - times[-2] if end is None else end) - times[0])
    again = parse(found.text)
    assert (again.times_s, again.columns, again.end_s) == (found.times_s, found.columns, found.end_s)
    assert again.text == found.text


def test_each_replication_draws_one_of_several_traces(tmp_path) -> None:
    """A folder is a choice of its files; each row has the pairs and means of the trace that it draws."""
    steps = "time,rate,delay\n0 s,5 Mbit/s,10 ms\n1 s,7 Mbit/s,20 ms\n2 s\n"
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "a.csv").write_text(steps)
    (tmp_path / "traces" / "b.csv").write_text("time_s,rate_mbps,delay_ms\n0,3,4\n1,1,4\n3,9,4\n4,,\n")
    file = tmp_path / "scenario.yaml"
    file.write_text("""duration: 1 s
replications: 40
transport: {protocol: udp, rate: 1 Mbit/s}
hops: [{trace: traces, repeat: true, jitter: {uniform: [0 s, 1 ms]}}, {rate: 10 Mbit/s, delay: 1 ms}]
""")
    loaded = load_scenario(file)
    again = Scenario.check(loaded.model_dump(mode="json", exclude_none=True))
    made, same = (build(one, replications=40) for one in (loaded, again))
    assert (made.rows.outages == same.rows.outages).all()
    which = made.drawn["paths.0.hops.0.trace"].astype(int)
    assert {*which} == {0, 1} and 10 < which.sum() < 30
    for number, name in enumerate(("a.csv", "b.csv")):
        of = loaded.with_values({"hops.0.trace": (tmp_path / "traces" / name).read_text()})
        alone, rows = build(of, replications=40).rows, np.flatnonzero(which == number)
        begin, end = alone.hops[0, 0, 0, [Hop.VARIES, Hop.R_VARIES]]
        for column, length in ((Hop.VARIES, end - begin), (Hop.R_VARIES, alone.outages.shape[3] - end)):
            found, wanted = (
                of.outages[rows, 0, 0, of.hops[0, 0, 0, column] :][:, :length] for of in (made.rows, alone)
            )
            assert found.shape == wanted.shape and (found == wanted).all()
        assert (made.rows.hops[rows][..., Hop.BYTE_TIME] == alone.hops[rows][..., Hop.BYTE_TIME]).all()
        assert (made.rows.hops[rows][..., Hop.DELAY] == alone.hops[rows][..., Hop.DELAY]).all()


def test_traces_to_choose_from_have_the_same_columns() -> None:
    rate, delay = "time_s,rate_mbps\n0,4\n5,4\n", "time_s,rate_mbps,delay_ms\n0,4,1\n5,4,1\n"
    with pytest.raises(InputError, match="has rate in trace 1 and rate, delay in trace 2; give all the same"):
        trace({"choice": [rate, delay]})
    with pytest.raises(InputError, match="needs a list of traces"):
        trace({"choice": []})
