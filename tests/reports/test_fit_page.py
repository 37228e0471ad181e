"""Page of a fit: measured and fitted curves, and a density for each field."""

from pathlib import Path

import pytest

from netcarlo import fit
from netcarlo.reports.fit import wording
from netcarlo.reports.fit.page import fit_page
from tests.calibration.test_fit import FREE, SCENARIO, TRUTHS, simulated
from tests.reports.browser import Page
from tests.reports.first_look import first_look


@pytest.mark.needs("chromium")
def test_first_look_at_fit(glance: Page, tmp_path: Path) -> None:
    found = fit(SCENARIO, [simulated(TRUTHS[0], 0)], free=FREE[:1], effort=0.1, target="cpu")
    page = fit_page(found, command="netcarlo fit a.yaml b.json")
    assert page.count('id="curve-') == 4  # of goodput and RTT: a figure and its data each
    assert 'id="density-0"' in page
    file = tmp_path / "fit.html"
    file.write_text(page, encoding="utf-8")
    first_look(glance, file, says=wording.answer(found), figure="curve-0")
