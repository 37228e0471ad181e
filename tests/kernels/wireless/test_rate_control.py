"""Rate control of a link: comparison with its twin after each attempt."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.kernels.wireless import rate_control
from netcarlo.kernels.wireless.layout import AARF, ARF, FIXED, Link, Radio
from netcarlo.kernels.wireless.state import LinkState
from tests.twins.wireless.rate_control import RateControl

RADIOS = st.fixed_dictionaries({
    "RATE_CONTROL": st.sampled_from([FIXED, ARF, AARF]), "RATES": st.just(4), "ARF_UP": st.integers(1, 6),
    "ARF_DOWN": st.integers(1, 3), "ARF_TIMER": st.integers(2, 8), "AARF_FACTOR": st.integers(1, 3),
    "AARF_MOST": st.integers(6, 20),
})  # fmt: skip


@given(RADIOS, st.integers(0, 3), st.lists(st.booleans(), min_size=1, max_size=150))
def test_the_rate_of_each_attempt_is_that_of_the_twin(
    radio: dict[str, int], first: int, attempts: list[bool]
) -> None:
    at = 1 + max(Radio)  # the words of the link
    m = np.zeros(at + 1 + max(*Link, *LinkState), np.int64)
    for name, value in radio.items():
        m[Radio[name]] = value
    m[at + Link.RATE] = first
    m[at + Link.HIGHEST] = 3
    m[[at + LinkState.UP, at + LinkState.WAIT]] = radio["ARF_UP"], radio["ARF_TIMER"]
    twin = RateControl(SimpleNamespace(**radio), SimpleNamespace(RATE=first, LOWEST=0, HIGHEST=3))
    rates = []
    for arrives in attempts:
        rates.append((int(m[at + Link.RATE]), twin.rate))
        (rate_control.succeeded if arrives else rate_control.failed)(m, at)
        (twin.ok if arrives else twin.failed)()
    assert [rate for rate, _ in rates] == [rate for _, rate in rates]
