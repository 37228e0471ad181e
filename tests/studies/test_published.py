"""Studies as data only, with numbers from public sources: no typing errors, and the stated verdicts."""

import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.numerics.arrays import Floats
from netcarlo.studies import study as studies
from netcarlo.studies.checking import check_study
from netcarlo.studies.study import Study

FOLDER = Path(__file__).parents[2] / "configs" / "examples" / "studies"
STUDIES = sorted(path.parent.name for path in FOLDER.glob("*/study.yaml"))
ANSWER = {1: 1, 2: 2, 5.5: 2, 11: 2, 6: 6, 9: 6, 12: 12, 18: 12, 24: 24, 36: 24, 48: 24, 54: 24}
"""Rate of ACKs by rate of data [Mbit/s]."""


def load(name: str) -> Study:
    """Return a study of the folder."""
    return studies.load(FOLDER / name)


def test_there_are_five() -> None:
    names = "cubic_windows", "sctp_detection", "wifi6_saturation", "wifi_aggregation", "wifi_saturation"
    assert tuple(STUDIES) == names


@pytest.mark.parametrize("name", STUDIES)
def test_the_folder_has_no_faults_and_no_code(name: str) -> None:
    check_study(load(name))
    assert {path.suffix for path in (FOLDER / name).iterdir()} == {".yaml", ".csv"}


def test_the_link_down_study_of_today_quotes_the_one_of_2009() -> None:
    def throughputs(name: str, **where: str | float) -> list[tuple[float | str, float]]:
        return [
            (number.conditions["link_down_s"], number.value)
            for number in studies.load(name).published
            if number.matches({"metric": "throughput", **where})
        ]

    check_study(studies.load("link_down_today"))
    old = throughputs("sctp_linkdown", protocol="sctp_multi", sim_time_s=100.0)
    assert throughputs("link_down_today") == old and len(old) == 3


def at_rates(rates: list[float], folder: Path) -> Path:
    """Write the study of 802.11 with some of its rates only [Mbit/s] to a folder, and return this."""
    source = FOLDER / "wifi_saturation"
    data = yaml.safe_load((source / "study.yaml").read_text())
    data["claims"]["W2"]["each"]["rate_mbps"] = rates
    numbers = pd.read_csv(source / "published.csv")
    folder.mkdir()
    (folder / "study.yaml").write_text(yaml.safe_dump(data))
    numbers[numbers["rate_mbps"].isin(rates)].to_csv(folder / "published.csv", index=False)
    shutil.copy(source / "cell.yaml", folder)
    return folder


@pytest.mark.full
@pytest.mark.parametrize("name", STUDIES)
def test_all_demands_are_met(name: str, tmp_path: Path) -> None:
    """The 802.11 study has two of its twelve rates, because all take two minutes (campaign `seeds`)."""
    study = at_rates([11, 54], tmp_path / name) if name == "wifi_saturation" else FOLDER / name
    found = CliRunner().invoke(app, ["reproduce", str(study), "--check", "--out", str(tmp_path / "out")])
    assert found.exit_code == 0, found.output


def airtime(rate: float, bits: int, *, preamble: float = 20e-6, symbol: float = 4e-6) -> float:
    """Return the duration of an 802.11a frame [s] (IEEE 802.11-2020, clause 17.4.3)."""
    return preamble + symbol * math.ceil((16 + bits + 6) / (rate * 1e6 * symbol))


def bianchi(rate: float, stations: int, *, eifs: bool) -> float:
    """Return the saturation throughput [Mbit/s] by the formulas of `generate_bianchi.m` of ns-3."""
    if rate in (1, 2, 5.5, 11):
        data = {1: 12480e-6, 2: 6336e-6, 5.5: 2427e-6, 11: 1310e-6}[rate]
        ack, sifs, slot, window = 192e-6 + 112e-6 / ANSWER[rate], 10e-6, 20e-6, 32
    else:
        data, ack = airtime(rate, 12000 + 28 * 8 + 48), airtime(ANSWER[rate], 112)
        sifs, slot, window = 16e-6, 9e-6, 16
    difs = sifs + 2 * slot
    # The grid of the MATLAB program.
    some, one = attempts(window, stations, grid=np.linspace(0, 1, 10_000))
    again = 1 / (1 - 1 / window)
    delay = 1e-7 if eifs else 0.0  # propagation; the program has it in the tables with EIFS only
    success = (data + sifs + ack + difs + delay) * again + slot
    collision = data + difs + delay + (sifs + ack if eifs else 0)
    return 12000 * again * one / ((1 - some) * slot + one * success + (some - one) * collision) / 1e6


def attempts(window: int, stations: int, *, grid: Floats) -> tuple[float, float]:
    """Return the probabilities that some stations and that one station attempts, windows up to 1024.

    The attempt probability is the one of `grid` at which the two equations of the model meet.
    """
    p = 1 - (1 - grid) ** (stations - 1)
    other = 2 / (1 + window + p * window * sum((2 * p) ** k for k in range(round(math.log2(1024 / window)))))
    tau = float(other[np.argmin(np.abs(grid - other))])
    return 1 - (1 - tau) ** stations, stations * tau * (1 - tau) ** (stations - 1)


def bianchi_ax(rate: float, answer: float, stations: int) -> float:
    """Return the saturation throughput [Mbit/s] by the formulas of `bianchi11ax.py` of ns-3."""
    data = airtime(rate, 8 * 1538, preamble=44e-6, symbol=13.6e-6)
    success, collision = data + 16e-6 + airtime(answer, 112) + 34e-6 + 9e-6, data + 34e-6
    some, one = attempts(16, stations, grid=np.linspace(0, 0.1, 100_000))
    return 12000 * one / ((1 - some) * 9e-6 + one * success + (some - one) * collision) / 1e6


def test_the_numbers_of_802_11ax_are_typed_correctly() -> None:
    rates = {(20, 0): 8.603, (20, 7): 86, (20, 11): 143.4, (80, 0): 36, (80, 7): 360.3, (80, 11): 600.5}
    numbers = load("wifi6_saturation").published
    assert len(numbers) == 24
    for number in numbers:
        width, mcs, stations = (
            round(float(number.conditions[key])) for key in ("channel_mhz", "mcs", "stations")
        )
        expected = bianchi_ax(rates[width, mcs], 24 if mcs else 6, stations)
        assert number.value == pytest.approx(expected, abs=1e-3), number


def test_the_numbers_of_ns3_are_typed_correctly() -> None:
    numbers = load("wifi_saturation").published
    assert len(numbers) == 2 * 12 * 10
    for number in numbers:
        rate, stations = (float(number.conditions[key]) for key in ("rate_mbps", "stations"))
        expected = bianchi(rate, round(stations), eifs=number.place["table"] == "EIFS")
        assert number.value == pytest.approx(expected, abs=6e-5), number


def test_the_numbers_of_rfc_9438_are_typed_correctly() -> None:
    numbers = load("cubic_windows").published
    assert len(numbers) == 16
    for number in numbers:
        p, rtt = float(number.conditions["loss_percent"]) / 100, float(number.conditions["rtt_ms"]) / 1000
        reno = 1.2 / math.sqrt(p)  # RFC 3649, section 3
        cubic = (0.4 * 3.7 / (4 * 0.3)) ** 0.25 * (rtt / p) ** 0.75  # RFC 9438, section 5.1
        expected = reno if number.conditions["control"] == "reno" else max(reno, cubic)
        assert number.value == pytest.approx(expected, abs=1.0), number


def test_the_sums_of_timeouts_are_typed_correctly() -> None:
    for number in load("sctp_detection").published:
        if number.metric == "detection":
            start, most, retries = (
                float(number.conditions[key]) for key in ("rto_start_ms", "rto_max_ms", "path_max_retrans")
            )
            timeouts = [min(start * 2**k, most) for k in range(round(retries) + 1)]
            assert number.value == pytest.approx(sum(timeouts) / 1000), number
