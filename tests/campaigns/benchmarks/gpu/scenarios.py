"""Rows of each model that are compared and timed, and the counter of its packets."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut, ManetRows
from netcarlo.kernels.base.layout import Out, Rows
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.kernels.wireless.layout import WifiOut, WifiRows
from tests.campaigns.benchmarks import lossy_hop

CHECKED = 300
"""Number of random scenarios and of replications of the benchmark that are compared for each model."""

HOP: dict[str, Any] = {"window": 64, "loss": 0.001}
KINDS = {"path": Rows, "wireless": WifiRows, "adhoc": ManetRows, "shared": SharedRows}


class Size(NamedTuple):
    """Replications of a benchmark."""

    text: str
    rows: int
    seconds: float
    """Duration of the lossy hop [s]; random scenarios have their own."""

    @classmethod
    def read(cls, text: str) -> "Size":
        """Return the size written as rows and seconds, such as 1e5x10."""
        rows, seconds = text.split("x")
        return cls(text, int(float(rows)), float(seconds))


def repeats(name: str) -> bool:
    """Return whether the benchmark repeats a random scenario, as for networks, messages and datagrams."""
    address = models.model(name).address
    return address.family != "path" or address.messages or address.sender == "udp"


def kind_of(name: str) -> Any:
    """Return the class of a model's rows."""
    return KINDS[models.model(name).address.family]


def count(name: str, size: Size) -> int:
    """Return the replications of a size: a tenth for a random scenario, whose packets cost more."""
    return size.rows // 10 if repeats(name) else size.rows


def sizes_of(name: str, sizes: list[Size]) -> list[Size]:
    """Return the sizes that differ for a model."""
    if not repeats(name):
        return sizes
    return list({size.rows: size for size in reversed(sizes)}.values())[::-1]


def benchmark(name: str, scenarios: Any, rows: int, seconds: float) -> Any:
    """Return the replications to time: a lossy hop, or the first of some random scenarios."""
    if not repeats(name):
        return lossy_hop.rows(rows, **HOP, duration_s=seconds)
    first = {field: np.repeat(getattr(scenarios, field)[:1], rows, axis=0) for field in scenarios._fields[:4]}
    first["parameters"][:, RowP.REPLICATION] = np.arange(rows)
    return scenarios._replace(**first)


def outcomes_of(name: str, seconds: float) -> str:
    """Return the key of the CPU's outcomes of the benchmark; a name with a space is no field of rows."""
    return "outcomes repeated" if repeats(name) else f"outcomes hop {seconds:g}"


def packets(name: str, out: Any) -> int:
    """Return packets (paths and ad hoc fluids), frames sent (wireless networks) or events (others)."""
    address = models.model(name).address
    of_adhoc = ManetOut.SENT if address.fluid else ManetOut.EXCHANGES
    columns = {"path": Out.SENT, "adhoc": of_adhoc}
    return int(out[:, columns.get(address.family, WifiOut.EVENTS)].sum())
