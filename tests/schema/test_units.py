import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.schema import units


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("0.5 Mbit/s", units.RATE, 500_000.0),
        ("100 kbit/s", units.RATE, 100_000.0),
        ("2 MB/s", units.RATE, 16_000_000.0),
        ("10 Mbps", units.RATE, 10_000_000.0),
        ("200 ms", units.TIME, 0.2),
        ("1.5 min", units.TIME, 90.0),
        ("20 µs", units.TIME, 2e-5),
        ("1500 B", units.SIZE, 1500.0),
        ("100 m", units.LENGTH, 100.0),
        ("0.4 km", units.LENGTH, 400.0),
        ("36 km/h", units.SPEED, 10.0),
        ("1.5 m/s", units.SPEED, 1.5),
        ("12 kbit", units.SIZE, 1500.0),
        ("1 KiB", units.SIZE, 1024.0),
        ("7 %", units.FRACTION, 0.07),
        ("1e-3", units.FRACTION, 0.001),
        (0.25, units.FRACTION, 0.25),
        ("45 packets", units.PACKETS, 45.0),
        ("1 packet", units.PACKETS, 1.0),
        (45, units.PACKETS, 45.0),
        ("0", units.TIME, 0.0),
        (0, units.RATE, 0.0),
    ],
)
def test_words_become_si_numbers(text, dimension, value):
    assert units.parse(text, dimension) == value


@pytest.mark.parametrize(
    ("text", "dimension", "complaint"),
    [
        ("200 ms", units.RATE, "wrong unit 'ms'"),
        ("10 Mbit", units.RATE, "wrong unit 'Mbit'"),
        ("5 packets", units.SIZE, "wrong unit 'packets'"),
        ("5 m", units.TIME, "wrong unit 'm'"),
        ("5 min", units.LENGTH, "wrong unit 'min'"),
        ("5 m", units.SPEED, "wrong unit 'm'"),
        ("5 B", units.PACKETS, "wrong unit 'B'"),
        ("5 %", units.TIME, "wrong unit '%'"),
        ("10 Mb/s", units.RATE, "unknown unit 'Mb/s'; did you mean 'Mbit/s'"),
        ("10 mbit/s", units.RATE, "has the unit 'mbit/s'; did you mean 'Mbit/s'"),
        ("10 mbps", units.RATE, "has the unit 'mbps'; did you mean 'Mbps'"),
        ("10 KBIT/S", units.RATE, "unknown unit 'KBIT/S'; did you mean 'kbit/s'"),
        ("3 KB", units.SIZE, "unknown unit 'KB'; did you mean 'kB'"),
        ("5 MS", units.TIME, "unknown unit 'MS'; did you mean 'ms'"),
        ("5 Packets", units.PACKETS, "unknown unit 'Packets'; did you mean 'packets'"),
        ("10 parsec", units.TIME, "unknown unit 'parsec'"),
        ("10 s +", units.TIME, "unknown unit"),
        (200, units.TIME, "no unit"),
        ("200", units.TIME, "no unit"),
        ("fast", units.RATE, "is not a rate"),
        ("nan s", units.TIME, "is not a time"),
        ("1e400 s", units.TIME, "too large"),
        ("1e999999 Mbit/s", units.RATE, "too large"),
        ("1e9999999999999999999999 bit/s", units.RATE, "too large"),
        ("1 s²", units.TIME, "unknown unit 's²'"),
        ("1 s*9**9**9", units.TIME, "unknown unit"),
        (True, units.PACKETS, "is not a number of packets"),
        (None, units.TIME, "is not a time"),
        ([1], units.TIME, "is not a time"),
    ],
)
def test_what_is_no_such_quantity_is_refused_with_an_example(text, dimension, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        units.parse(text, dimension)
    assert dimension.example in str(error.value)


def test_long_texts_and_numbers_are_refused_soon():
    started = time.process_time()
    for value, complaint in (
        ("1 " + "a" * 20_000, "has 20002 characters, too many for a time; expected 1 to 200; write"),
        ("1 a" + " " * 40_000 + "b", "has 40004 characters, too many for a time"),
        (10**5000, "is too large; write a time such"),
    ):
        with pytest.raises(InputError, match=complaint):
            units.parse(value, units.TIME)
    assert time.process_time() - started < 1


@given(
    st.floats(0, 1e14),
    st.sampled_from(
        [units.RATE, units.TIME, units.SIZE, units.PACKETS, units.FRACTION, units.LENGTH, units.SPEED]
    ),
)
def test_a_shown_value_reads_back_to_the_same_float(value, dimension):
    assert units.parse(units.show(value, dimension), dimension) == value
