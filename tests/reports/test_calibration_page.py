"""Page of a calibration: without errors in a browser, and with the numbers of the result."""

from pathlib import Path

import pytest

from netcarlo.calibration.calibrate import calibrate
from netcarlo.calibration.result import Calibrated, Step
from netcarlo.reports.study import calibration
from netcarlo.studies.study import Study
from tests.reports import exported
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE, first_look
from tests.studies.known_study import brief, own_module, write

Found = tuple[Study, Calibrated]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    study = brief(write(tmp_path_factory.mktemp("studies") / "known", seed=99))
    with pytest.MonkeyPatch.context() as patch:
        own_module(patch, study.name)
        return study, calibrate(study, target="cpu")


@pytest.mark.needs("chromium")
def test_first_look_at_calibration(found: Found, glance: Page, tmp_path: Path) -> None:
    study, result = found
    file = tmp_path / "calibration.html"
    file.write_text(calibration.calibration_page(result, study), encoding="utf-8")
    says = f"is {100 * result.in_sample[0].mean:.2f} % with random numbers that the search has not seen"
    first_look(glance, file, says=says, figure="calibration-errors")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize(("width", "height", "mobile"), [(1400, 900, False), (390, 844, True)])
def test_page_is_quiet(
    found: Found, page: Page, tmp_path: Path, width: int, height: int, mobile: bool
) -> None:
    study, result = found
    path = tmp_path / "calibration.html"
    path.write_text(calibration.calibration_page(result, study), encoding="utf-8")
    page.open(path, width=width, height=height, mobile=mobile)
    assert page.complaints() == []
    assert page.barriers() == []
    assert page.evaluate(TOO_WIDE) <= 0
    drawn = [one for one in result.parameters if one.profile]
    assert page.evaluate("document.querySelectorAll('.plot').length") == len(drawn) + 1
    text = page.evaluate("document.body.textContent")
    for one in result.parameters:
        assert f"{one.value:g} {result.declared.parameters[one.name].unit}" in text
        assert calibration.allowed(result, one) in text
    rows = page.evaluate("document.querySelectorAll('details table tbody tr').length")
    assert rows == len(result.numbers)
    assert exported.faults(page) == []


@pytest.mark.full
def test_verdict_states_the_error_left_out(found: Found) -> None:
    study, result = found
    text = calibration.verdict(result, study)
    assert f"{100 * result.in_sample[0].mean:.2f} %" in text
    assert f"{100 * result.left_out[0].mean:.2f} %" in text


@pytest.mark.full
def test_ranges_in_words(found: Found) -> None:
    _, result = found
    capacity = result.parameters[0]
    said = {
        (940.0, 960.0): "between 940 and 960 kbit/s", (940.0, None): "above 940 kbit/s",
        (None, 960.0): "below 960 kbit/s", (None, None): "any value searched",
    }  # fmt: skip
    for (low, high), text in said.items():
        assert calibration.allowed(result, capacity.model_copy(update={"low": low, "high": high})) == text


@pytest.mark.full
def test_numbers_that_resist_are_listed(found: Found) -> None:
    study, result = found
    rows = [row.model_copy(update={"z": 0.5}) for row in result.numbers]
    rows[3] = rows[3].model_copy(update={"z": -2.5})
    shown = calibration.section(result.model_copy(update={"numbers": rows}), study)
    assert [row["z"] for row in shown["resisting"]] == ["−2.5"]
    assert "None is more than" not in calibration.calibration_page(
        result.model_copy(update={"numbers": rows}), study
    )


def test_wall_of_a_profile_does_not_hide_its_floor(found: Found) -> None:
    study, result = found
    steps = [
        Step(value=v, rise=r, doubt=0.1, kept=r < 4) for v, r in ((900, 5000.0), (950, 0.0), (1000, 3.0))
    ]
    one = result.parameters[0].model_copy(update={"profile": steps})
    [drawn] = [
        figure["plot"]
        for figure in calibration.section(result.model_copy(update={"parameters": [one]}), study)["profiles"]
    ]
    assert drawn["layout"]["yaxis"]["range"][1] < 20


def test_shipped_result(found: Found, tmp_path: Path) -> None:
    study, result = found
    assert calibration.shipped_section(study) is None
    (study.folder / calibration.SHIPPED).write_text(result.model_dump_json())
    try:
        assert calibration.shipped_section(study) == calibration.section(result, study)
    finally:
        (study.folder / calibration.SHIPPED).unlink()
