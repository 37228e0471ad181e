"""Pages of comparisons with measurements: a scenario beside measured runs, and a validation."""

from pathlib import Path

import pytest

from netcarlo import compare_measured, validate
from netcarlo.reports.comparison import measured_wording as wording
from netcarlo.reports.comparison.measured import measured_page
from netcarlo.reports.validation.page import rows, validation_page
from tests.reports.browser import Page
from tests.reports.first_look import first_look

DATA = Path(__file__).parent.parent / "measurements" / "data"
PATH = {
    "name": "lab", "duration": "12 s", "replications": 2,
    "transport": {"protocol": "newreno", "start": {"uniform": ["0 s", "0.3 s"]}},
    "hops": [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": 50}],
}  # fmt: skip
TABLE = "rate,goodput\n1,0.9\n2,1.8\n3,\n"
MAPPING = """\
scenario:
  duration: 3 s
  transport: {protocol: newreno}
  hops: [{rate: "{rate} Mbit/s", delay: 10 ms}]
metrics: {goodput: goodput_bps / 1e6}
replications: 2
"""


@pytest.mark.needs("chromium")
def test_first_look_at_measured(uncompiled: None, glance: Page, tmp_path: Path) -> None:
    files = [DATA / "iperf3_tcp.json", DATA / "iperf3_tcp_again.json"]
    found = compare_measured(PATH, *files, over_time=True)
    page = measured_page(found)
    assert set(found.bands) == {"goodput_bps", "mean_rtt_s", "retransmitted"}
    band = found.bands["goodput_bps"]
    assert (band.low <= band.median).all()
    assert (band.median <= band.high).all()
    assert [len(values) for values in band.measured] == [10, 10]
    file = tmp_path / "measured.html"
    file.write_text(page)
    first_look(glance, file, says=wording.headline(found), figure="curves")


@pytest.mark.needs("chromium")
def test_first_look_at_validation(uncompiled: None, glance: Page, tmp_path: Path) -> None:
    (tmp_path / "lab.csv").write_text(TABLE)
    (tmp_path / "lab.yaml").write_text(MAPPING)
    found = validate(tmp_path / "lab.csv", target="cpu")
    assert found.rows["id"].tolist() == ["row 1", "row 2", "row 3"]
    assert found.rows["class"].unique().tolist() == ["all"]
    table = rows(found)
    assert table["measured"].tolist() == ["0.9", "1.8", ""]
    assert table["error"].tolist()[2] == ""
    assert float(table["simulated"].iloc[0]) == pytest.approx(0.95, abs=0.05)
    file = tmp_path / "validation.html"
    file.write_text(validation_page(found))
    first_look(glance, file, says="3 scenarios of lab.csv", figure="values")
