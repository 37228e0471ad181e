"""The tables of docs/results/accuracy-*.md, made from the results of `validate`."""

from pathlib import Path

import pytest

from tests.campaigns.verification.references import percent, table
from tests.estimation.test_validate import LINKDOWN


@pytest.mark.full
def test_a_line_per_metric(tmp_path: Path) -> None:
    path = tmp_path / "ns2_linkdown.csv"
    path.write_text(LINKDOWN)
    first, _, *metrics = table(path).splitlines()
    assert first.startswith("| ns-2 2.35, one flow for 100 s over a link with an outage |")
    assert any(line.startswith("| `timeouts` | ") for line in metrics)
    assert all(line.count("|") == first.count("|") for line in metrics)


def test_errors_have_the_digits_that_say_something() -> None:
    assert [percent(part) for part in (0.0, 1e-9, 0.00123, 0.0456, -0.317, float("inf"))] == [
        *("0", "0", "0.12", "4.6", "-32", "–"),
    ]
