"""Distributions of sizes in the formats in which they are published."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.schema import cumulative, empirical, units
from netcarlo.schema.quantity import FileSize, Quantity

SIZE: Quantity = FileSize.__metadata__[0]
VALUES, BELOW = (1.0, 4000.0, 20000.0, 200000.0), (0.0, 0.2, 0.7, 1.0)
FORMATS = {
    "percent": "0 0\n4000 20\n20000 70\n200000 100\n",
    "tabs": "0\t0\n4000\t0.2\n20000\t0.7\n200000\t1\n",
    "commas": "0,0\n4000,0.2\n20000,0.7\n200000,1\n",
    "aligned": "     0    0.0\n  4000    0.2\n 20000    0.7\n200000    1.0\n",
    "header": "value,cumulative\n0 B,0\n4000 B,0.2\n20000 B,0.7\n200000 B,1\n",
    "header of other words": "Flow size [kB];CDF\n0;0\n4;0,2\n20;0,7\n200;1\n",
    "shares first": "cdf,size_kB\n0,0\n0.2,4\n0.7,20\n1,200\n",
    "comments": "# sizes\n\n0 0 \n4000 0.2\n# tail\n20000 0.7\n200000 1\n",
    "comment above": "# bytes cdf\n0 0\n4000 0.2\n20000 0.7\n200000 1\n",
    "byte order mark": "\ufeff0 0\r\n4000 20\r\n20000 70\r\n200000 100\r\n",
    "signs of percent": "0 0 %\n4000 20 %\n20000 70 %\n200000 100 %\n",
    "units": "0 B 0\n4 kB 0.2\n20 kB 0.7\n0.2 MB 1\n",
    "rounded": "0 0\n4000 0.2\n20000 0.7\n200000 0.9999\n",
    "rounded up": "0 0\n4000 0.2\n20000 0.7\n200000 1.0000001\n",
    "percent, rounded": "0 0\n4000 20\n20000 70\n200000 99.95\n",
    "mean first": "39400.5\n0 0\n4000 0.2\n20000 0.7\n200000 1\n",
    "number of lines first": "4\n0,0\n4000,0.2\n20000,0.7\n200000,1\n",
    "ns-2": "0 1 0\n4000 1 0.2\n20000 1 0.7\n200000 1 1\n",
    "other columns": "id,size,count,cdf\n1,0,3,0\n2,4000,5,0.2\n3,20000,5,0.7\n4,200000,1,1\n",
    "exponents": "0 0\n4e3 2e1\n2e4 7e1\n2e5 1e2\n",
}


@pytest.mark.parametrize("text", FORMATS.values(), ids=FORMATS.keys())
def test_formats_of_a_distribution_function(text: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = SIZE.validate({"empirical": text})
    assert found.kind == "empirical" and found.points == (VALUES, pytest.approx(BELOW, abs=1e-3))
    assert found.points[1][0] == 0 and found.points[1][-1] == 1
    assert found.mean() == pytest.approx(39400, rel=2e-3)
    (tmp_path / "sizes.txt").write_text(text)
    (tmp_path / "sizes.txt.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("sizes.txt", "sizes.txt.gz", {"file": "sizes.txt"}):
        assert SIZE.validate({"empirical": name}) == found
    assert SIZE.validate(SIZE.show(found)) == found  # without the file


def test_what_was_read_is_said() -> None:
    def notes(text: str, **more: str) -> tuple[str, ...]:
        return SIZE.validate({"empirical": text, **more}).notes

    assert notes(FORMATS["percent"]) == ("", "sizes in bytes", "shares in percent")
    assert "a mean of 39400.5 in the first line, in the file's unit" in notes(FORMATS["mean first"])
    assert not any("mean" in note for note in notes(FORMATS["number of lines first"]))
    assert "the last share, 0.9999, taken for 1" in notes(FORMATS["rounded"])
    assert "the second of three columns left out" in notes(FORMATS["ns-2"])
    assert notes(FORMATS["header"]) == ("",)
    assert SIZE.validate({"choice": ["1 B", "2 B"]}).notes == ()


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        ({"empirical": "1 0.5\n3 1\n", "unit": "packets"}, 1460),
        ({"empirical": {"file": "1 0.5\n3 1\n", "unit": "pkts"}}, 1460),
        ({"empirical": "packets cdf\n1 0.5\n3 1\n"}, 1460),
        ({"empirical": "1 0.5\n3 1\n", "unit": "1442 B"}, 1442),
        ({"empirical": "1 0.5\n3 1\n", "unit": "kB"}, 1000),
        ({"empirical": "1 0.5\n3 1\n", "unit": "B"}, 1),
        ({"empirical": "1\n3\n", "unit": "packets"}, 1460),
    ],
)
def test_units_of_sizes(written: dict, unit: float) -> None:
    found = SIZE.validate(written)
    assert found.bounds() == (unit, 3 * unit)
    if unit == 1460:
        assert "sizes in packets of 1460 B" in found.notes


def test_published_misprints_are_named() -> None:
    text = "5 0.1\n7 0.175\n8 0.164286\n9 0.171429\n10 0.5\n20 1\n"
    found = SIZE.validate({"empirical": text})
    assert found.points[1] == (0.1, 0.175, 0.175, 0.175, 0.5, 1)
    assert "2 shares below the one before, by up to 0.0107, raised to it" in found.notes


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("100 0.1\n200 0.47\n", "do not end at 1, but at 0.47; end them with 1 or 100 %"),
        ("100 0.3\n200 0.5\n300 0.2\n", "at 0.2; they add up to 1: write running sums"),
        ("200 0.1\n100 1\n", "points that decrease"),
        ("100 0.5\n200 0.3\n300 1\n", "points that decrease in line 2"),
        ("0 0.1\n200 1\n", "is below the limit; expected 1 B"),
        ("100 0.1\n200\n300 1\n", "has 1 value in line 2; expected 2"),
        ("# x\n100 0.1\n200 half\n300 1\n", "in line 3 the cumulative probability 'half', which is no"),
        ("100 0.1\n200 -\n300 1\n", "no cumulative probability in line 2"),
        ("100 0.1\n- 0.2\n300 1\n", "no value in line 2"),
        ("size,cdf\n100 ms,0.1\n300,1\n", "in line 2 the value '100 ms', which has the wrong unit 'ms'"),
        ("a,b,c\n1,2,3\n", "has the columns 'a,b,c'"),
        ("# nothing\n", "has no rows"),
    ],
)
def test_files_that_are_no_distribution_function(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        SIZE.validate({"empirical": text})


def test_only_sizes_have_a_default_unit() -> None:
    delay = Quantity(units.TIME, 0.0, 3600.0)
    with pytest.raises(InputError, match="has in line 1 the value '10', which has no unit"):
        delay.validate({"empirical": "10 0.5\n20 1\n"})
    assert delay.validate({"empirical": "10 0.5\n20 1\n", "unit": "ms"}).bounds() == (0.01, 0.02)
    with pytest.raises(InputError, match="unknown unit 'packets'"):
        delay.validate({"empirical": "10 0.5\n20 1\n", "unit": "packets"})
    with pytest.raises(InputError, match="write the unit in each value"):
        SIZE.validate({"empirical": [["10 B", 1]], "unit": "packets"})
    with pytest.raises(InputError, match="is not a distribution"):
        SIZE.validate({"choice": ["10 B"], "unit": "packets"})


STEPS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 50)), min_size=1, max_size=40)


@settings(max_examples=80, deadline=None)
@given(STEPS, st.sampled_from(["\t", ",", " ", ";"]), st.booleans(), st.booleans(), st.booleans())
def test_rows_are_read_as_they_are_written(
    steps: list, separator: str, percent: bool, header: bool, gap: bool
) -> None:
    sizes = np.cumsum([1 + size for size, _ in steps])
    counts = np.cumsum([count for _, count in steps]) + 1.0
    below = counts / counts[-1]
    pairs = zip(sizes, below.tolist(), strict=True)
    lines = [f"{size}{separator}{100 * p if percent else p!r}" for size, p in pairs]
    if header:
        lines.insert(0, f"bytes{separator}cdf")
    found = SIZE.validate({"empirical": ("\n\n" if gap else "\n").join(lines) + "\n"})
    assert found.points[0] == tuple(sizes) and found.points[1] == pytest.approx(below)
    mean = sum((q - p) * (a + b) / 2 for p, q, a, b in zip(below, below[1:], sizes, sizes[1:], strict=False))
    assert found.mean() == pytest.approx(below[0] * sizes[0] + mean)


@pytest.mark.parametrize("shape", ["pareto", "steps", "uniform"])
def test_long_files_are_reduced_with_the_error_stated(shape: str) -> None:
    rng = np.random.default_rng(5)
    n = 100_000
    values = {
        "pareto": 1000 * (1 + rng.pareto(1.1, n)), "uniform": rng.uniform(1, 1e6, n),
        "steps": rng.choice([256, 1000, 1e6], n) + (rng.random(n) < 0.1) * np.rint(rng.exponential(1e5, n)),
    }[shape].round()  # fmt: skip
    found = SIZE.validate({"empirical": "\n".join(f"{value:.0f}" for value in values) + "\n"})
    assert len(found.points[0]) <= empirical.MAX_POINTS
    assert any(note.startswith("reduced to ") for note in found.notes)
    assert found.mean() == pytest.approx(values.mean(), rel=2e-3)
    assert found.bounds() == (values.min(), values.max())
    u = np.array([0.01, 0.1, 0.5, 0.9, 0.99, 0.999]) - 3e-6  # not at a step
    assert found.quantile(u) == pytest.approx(np.quantile(values, u, method="inverted_cdf"), rel=0.02)


def test_few_different_values_are_kept_exactly() -> None:
    values = np.repeat([256.0, 1e6], [30_000, 10_000])
    points, below, note = cumulative.reduced(values, np.empty(0), 4096)
    assert not note and points.tolist() == [256, 256, 1e6, 1e6] and below.tolist() == [0, 0.75, 0.75, 1]
    with pytest.raises(InputError, match="expected at most 100000"):
        cumulative.read("1\n" * 100_001, units.SIZE)
