"""Tables that are wider than the terminal."""

import pandas as pd

from netcarlo.cli import wide

FRAME = pd.DataFrame(
    {
        "users": [10, 20],
        **{f"completion_p95_{k}kB_s": [k / 7, k / 9] for k in (1, 10, 100)},
        "last": ["a", "b"],
    }
)


def test_a_table_that_fits_is_one_part() -> None:
    assert wide.text(FRAME[["users", "last"]], 80) == " users last\n    10    a\n    20    b"
    assert wide.text(FRAME[[]][:0], 80).startswith("Empty DataFrame")


def test_a_wide_table_is_split_and_each_part_names_its_rows() -> None:
    shown = wide.text(FRAME, 60)
    assert max(map(len, shown.splitlines())) <= 60
    first, second = shown.split("\n\n")
    assert first.split()[:4] == ["users", "completion_p95_1kB_s", "completion_p95_10kB_s", "10"]
    assert [line.split()[0] for line in second.splitlines()] == ["users", "10", "20"]
    assert second.split()[:3] == ["users", "completion_p95_100kB_s", "last"]


def test_few_rows_with_very_many_columns_have_a_line_for_each_value() -> None:
    many = pd.DataFrame({f"name_of_an_outcome_{k}": [k, k] for k in range(20)})
    records = wide.text(many, 50).split("\n\n")
    assert [len(record.splitlines()) for record in records] == [20, 20]
