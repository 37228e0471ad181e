"""A single short transfer, whose completion time equals that of ns-2 to the last digit."""

from pathlib import Path

import pandas as pd
import pytest

from netcarlo import simulate
from tests.campaigns.verification import arrivals


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.needs("ns")
@pytest.mark.parametrize("tcp", arrivals.AGENTS)
@pytest.mark.parametrize("packets", [1, 3, 1000])
def test_alone_to_the_digit(tcp: str, packets: int, tmp_path: Path) -> None:
    case = arrivals.Case(tcp, 10, 20, 100, 1, 12, 1.6)
    came = pd.DataFrame({"time_s": [1.0], "flow": [0], "bytes": [packets * 1000]})
    _, (theirs,) = arrivals.completions(case, came, tmp_path)
    asked = arrivals.scenario(case, [{"packets": packets}])
    ours = simulate(asked, replications=1, target="cpu").frame.completion_mean_s[0]
    assert theirs == pytest.approx(ours, rel=1e-7)
