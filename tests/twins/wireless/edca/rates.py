"""Rate control, losses by rate, short A-MPDUs and protected frames for random networks with EDCA."""

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import AARF, ARF, MINSTREL, Agreement, Link, Radio, Rate, WifiRows
from tests.twins.path.scenarios import pick

LEGACY = 3  # rates of responses
CHANCES = 0, 1 << 28, 1 << 30, 1 << 31, 3 << 30, 1 << 32


def with_rate_control(rows: WifiRows, *, seed: int, longer: int = 1) -> WifiRows:
    """Return rows that are `longer` times as long, with a rate control of each kind in turn."""
    parameters = rows.parameters.copy()
    parts = []
    for k, (p, network) in enumerate(zip(parameters, rows.network.copy(), strict=True)):
        rng = np.random.default_rng([seed, k, 50])
        p[RowP.END] *= longer
        p[Radio.RATE_CONTROL] = (MINSTREL, ARF, AARF)[k % 3]
        p[[Radio.ARF_UP, Radio.ARF_DOWN, Radio.ARF_TIMER]] = pick(rng, 1, 3, 10), pick(rng, 1, 2), 15
        p[Radio.AARF_FACTOR], p[Radio.AARF_MOST] = 2, 60
        rates = _table(network, p, Rate, Radio.RATES_AT, Radio.RATES)
        rates[:, Rate.STREAMS] = 1 + (np.arange(len(rates)) - LEGACY) // pick(rng, 2, 4, 8)
        links = _table(network, p, Link, Radio.LINKS_AT, Radio.LINKS)
        links[:, Link.LOWEST] = rng.integers(LEGACY, len(rates), len(links))
        links[:, Link.HIGHEST] = len(rates) - 1
        links[:, Link.RATE] = rng.integers(links[:, Link.LOWEST], len(rates))
        agreements = _table(network, p, Agreement, Radio.AGREEMENTS_AT, Radio.AGREEMENTS)
        agreements[:, Agreement.PSDU] = rng.choice([500, 5000, 65535, 1 << 20], len(agreements))
        errors = np.sort(rng.choice(CHANCES, (len(links), len(rates))), axis=1)
        agreements[:, Agreement.RTS_THRESHOLD] = rng.choice([0, 1000, ENDLESS], len(agreements))
        p[Radio.ERRORS_AT] = len(network)
        parts.append(np.concatenate([network, errors.reshape(-1)]))
    network = np.zeros((len(parts), max(map(len, parts))), np.int64)
    for line, part in zip(network, parts, strict=True):
        line[: len(part)] = part
    return rows._replace(parameters=parameters, network=network)


def _table(network: np.ndarray, p: np.ndarray, columns: type, at: Radio, count: Radio) -> np.ndarray:
    """Return a writable view of a table of a row."""
    width = len(columns)  # type: ignore[arg-type]
    return network[p[at] : p[at] + p[count] * width].reshape(-1, width)
